#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/passes/cast_params.h"
#include "core/passes/conversion.h"
#include "core/passes/infer_shapes.h"
#include "core/passes/quantize.h"
#include "core/policy/assignment.h"
#include "core/policy/policy.h"

#include <string>
#include <vector>

namespace halftone::passes {

/// What stands for the file in an error about the policy, which may come from a file or from options.
inline constexpr const char *kPolicyName = "policy";

/// A converted model and everything that explains it.
struct ConvertedModel
{
    policy::Policy policy; ///< as asked
    policy::Assignment assignment; ///< of the source graph
    Conversion conversion;
    graph::Model model; ///< the converted graph with its parameters, ready to be written
    std::vector<ParameterChange> parameters;
    std::vector<policy::Warning> warnings;
    double seconds = 0; ///< graph and parameters in memory to the same, reading and writing left out
};

/// The whole way from a model and a policy to a converted model: policy checked, variables told apart, a decision for
/// every node, what is asked for in int8 quantized, casts inserted, parameters cast.
///
/// strict  a warning is an error
/// shapes  of the source graph, so that casts can move to where fewer bytes are; null: unknown
/// ranges  of tensors that become codes, by name (mxnet::entryName); those that are missing are found at run time, with a
///         warning; null: all
/// fails   BadInput for what is wrong with the policy or the model; Cancelled
Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress = {}, const ShapeMap *shapes = nullptr,
                                    const QuantizedRanges *ranges = nullptr);

/// The tensors whose ranges the conversion will ask for: in the order of the graph, parameters left out.
/// fails: as convertModel()
Result<std::vector<std::string>> rangesToFind(const graph::Model &source, const policy::Policy &policy);

} // namespace halftone::passes

#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/hardware/description.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/variables.h"
#include "core/mixed/cast_params.h"
#include "core/mixed/hold/position_paths.h"
#include "core/policy/assignment.h"
#include "core/policy/policy.h"
#include "core/quantize/quantize_asked.h"
#include "core/rewrite/conversion.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::mixed {

struct CastProblem;

/// A converted model with everything that explains it.
struct ConvertedModel
{
    policy::Policy policy; ///< as requested
    policy::Assignment assignment; ///< of the source graph
    rewrite::Conversion conversion;
    graph::Model model; ///< the converted graph with its parameters, ready to write
    std::vector<ParameterChange> parameters;
    std::vector<policy::Warning> warnings;
    std::shared_ptr<const hardware::Description> chip; ///< the chip converted for; null: none
    std::string whyRaised; ///< ConvertSettings::whyRaised
    std::shared_ptr<const tensor::FormCache> forms; ///< for the next conversion of the same source
    double seconds = 0; ///< conversion in memory, without reading and writing
};

/// The decisions of a policy for a model, before the conversion.
struct Decided
{
    std::shared_ptr<const policy::Rules> rules;
    policy::Assignment assignment;
    std::vector<infer::Variable> variables; ///< by NodeId
    std::optional<quantize::AskedPlan> int8; ///< absent: no node is requested in int8
    std::vector<policy::Warning> warnings;
    std::shared_ptr<const hardware::Description> chip; ///< Policy::hardware; null: none
    PositionMap positions; ///< operators that must not round positions, in the graph and its bodies
    PositionMap scales; ///< mode all: likewise for the scales of Resize
    double seconds = 0;
};

/// Checks the policy, classifies variables, and decides for every node.
/// fails: BadInput for an invalid policy (Field::Policy unless a more specific field applies) or model
Result<Decided> decide(const graph::Model &source, const policy::Policy &policy);

/// The choices of mode typed in a model without int8, and their costs, for analysis.
/// fails: as decide() and convertModel()
Result<CastProblem> castChoices(const graph::Model &source, const policy::Policy &policy,
                                const infer::ShapeMap *shapes = nullptr);

/// The tensors whose ranges the conversion needs, in the order of the graph, without parameters. The plan made for this is kept in
/// `decided`. fails: as convertModel()
Result<std::vector<std::string>> rangesToFind(const graph::Model &source, Decided &decided);

struct ConvertSettings
{
    bool strict = false; ///< treat warnings as errors
    const infer::ShapeMap *shapes
        = nullptr; ///< of the source graph, so that casts can move to smaller tensors; null: unknown
    /// Ranges of quantized tensors, by name (Dialect::entryName). Missing ones are determined at run time, with a warning;
    /// null: all are missing.
    const quantize::QuantizedRanges *ranges = nullptr;
    std::shared_ptr<const tensor::FormCache> before
        = nullptr; ///< from another conversion of the source; null: none
    /// Why the source was raised to a newer version of its format; empty: it was not, or on request.
    std::string whyRaised{};
};

/// Quantizes what is requested in int8, inserts casts, and casts parameters.
/// decided  from decide() for the same source and policy
/// fails    BadInput for an invalid model, and for warnings if they are errors; Cancelled
Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, Decided decided,
                                    const ConvertSettings &settings, const Progress &progress = {});

/// Converts a model by a policy: decide() and the overload above. fails: as these
Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress = {}, const infer::ShapeMap *shapes = nullptr,
                                    const quantize::QuantizedRanges *ranges = nullptr);

} // namespace halftone::mixed

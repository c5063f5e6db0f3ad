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

/// A converted model and everything that explains it.
struct ConvertedModel
{
    policy::Policy policy; ///< as asked
    policy::Assignment assignment; ///< of the source graph
    rewrite::Conversion conversion;
    graph::Model model; ///< the converted graph with its parameters, ready to be written
    std::vector<ParameterChange> parameters;
    std::vector<policy::Warning> warnings;
    std::shared_ptr<const hardware::Description> chip; ///< that decided what is lowered; null: none
    std::string whyRaised; ///< ConvertSettings::whyRaised
    std::shared_ptr<const tensor::FormCache> forms; ///< for the next conversion of the same source
    double seconds = 0; ///< graph and parameters in memory to the same, reading and writing left out
};

/// What a policy says of a model, before anything is made of it.
struct Decided
{
    std::shared_ptr<const policy::Rules> rules;
    policy::Assignment assignment;
    std::vector<infer::Variable> variables; ///< by NodeId
    std::optional<quantize::AskedPlan> int8; ///< nothing: no node is asked for in int8
    std::vector<policy::Warning> warnings;
    std::shared_ptr<const hardware::Description> chip; ///< Policy::hardware; null: none
    PositionMap positions; ///< what must not round them, in the graph and its bodies
    PositionMap scales; ///< mode all: what must not round those of Resize, likewise
    double seconds = 0;
};

/// Policy checked, variables told apart, a decision for every node.
/// fails: BadInput for what is wrong with the policy (with a field: Field::Policy, where no other one tells more) or the model
Result<Decided> decide(const graph::Model &source, const policy::Policy &policy);

/// The choices that mode typed has in a model of which nothing is asked for in int8, and what they cost: for those who look over its shoulder.
/// fails: as decide() and convertModel()
Result<CastProblem> castChoices(const graph::Model &source, const policy::Policy &policy,
                                const infer::ShapeMap *shapes = nullptr);

/// The tensors whose ranges the conversion will ask for: in the order of the graph, parameters left out. What is planned for
/// that is kept in `decided`. fails: as convertModel()
Result<std::vector<std::string>> rangesToFind(const graph::Model &source, Decided &decided);

struct ConvertSettings
{
    bool strict = false; ///< a warning is an error
    const infer::ShapeMap *shapes
        = nullptr; ///< of the source graph, so that casts can move to where fewer bytes are; null: unknown
    /// Of tensors that become codes, by name (Dialect::entryName); those that are missing are found at run time, with a
    /// warning; null: all.
    const quantize::QuantizedRanges *ranges = nullptr;
    std::shared_ptr<const tensor::FormCache> before
        = nullptr; ///< of another conversion of the source; null: none
    /// Why the source was taken over into a newer version of its format than its file has; empty: it was not, or was asked to be.
    std::string whyRaised{};
};

/// What is asked for in int8 quantized, casts inserted, parameters cast.
/// decided  by decide() from the same source and policy
/// fails    BadInput for what is wrong with the model, and for a warning where they are errors; Cancelled
Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, Decided decided,
                                    const ConvertSettings &settings, const Progress &progress = {});

/// The whole way from a model and a policy to a converted model. fails: as decide() and the one above
Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress = {}, const infer::ShapeMap *shapes = nullptr,
                                    const quantize::QuantizedRanges *ranges = nullptr);

} // namespace halftone::mixed

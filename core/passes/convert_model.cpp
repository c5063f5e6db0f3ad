#include "core/passes/convert_model.h"

#include "core/passes/convert_mxnet.h"
#include "core/passes/convert_typed.h"
#include "core/passes/quantize_asked.h"
#include "core/passes/share_nodes.h"
#include "core/passes/variables.h"

#include <algorithm>
#include <chrono>

namespace halftone::passes {
namespace {

/// What the values lost on the way into a narrower type, for those arrays where it matters.
void warnOfLosses(const std::vector<ParameterChange> &changes, std::vector<policy::Warning> &warnings)
{
    for (const ParameterChange &change : changes) {
        const auto &losses = change.losses;
        if (losses.overflowed == 0)
            continue;
        warnings.push_back({"parameter \"" + change.name + '"',
                            std::to_string(losses.overflowed) + " values overflow "
                                + std::string(tensor::nameOf(change.to))
                                + " and become infinite; exclude the operator that reads it"});
    }
}

void warnOfBodies(const graph::Graph &graph, std::vector<policy::Warning> &warnings)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.node(id).subgraphs.empty())
            warnings.push_back({"node \"" + graph.node(id).name + '"',
                                "its body (" + graph.node(id).op + ") is not analysed and stays as it is"});
    }
}

/// MXNet 1.9.1 lists the fused operators of its own backend as neutral or float32 whatever they hold. Where only that list
/// speaks, what is fused decides.
void judgeFusedByTheirBodies(policy::Rules &rules)
{
    std::erase_if(rules.places, [](const auto &place) {
        return place.first.starts_with("_sg_") && place.second.source.starts_with("built-in");
    });
}

/// A policy looked at: what it says of a model.
struct Decided
{
    policy::Rules rules;
    policy::Assignment assignment;
};

Result<Decided> decide(const graph::Model &source, const policy::Policy &policy,
                       std::vector<policy::Warning> &warnings)
{
    auto resolved = policy::resolve(policy, warnings);
    if (!resolved.ok())
        return inFile(std::move(resolved).error(), kPolicyName);
    Decided decided{std::move(resolved).value(), {}};
    if (policy.mode != policy::Mode::Mxnet)
        judgeFusedByTheirBodies(decided.rules);
    const auto named = policy::matchNames(policy, source.graph, warnings);
    if (!named.ok())
        return inFile(named.error(), kPolicyName);
    decided.assignment = policy::assign(source.graph, decided.rules, named.value());
    return decided;
}

/// What is left in floating point.
Result<Conversion> convertFloats(const graph::Graph &graph, const Decided &decided,
                                 std::span<const Variable> variables, const policy::Policy &policy,
                                 const ShapeMap *shapes, const Progress &progress)
{
    const bool castsParameters = policy.castParams.value_or(false);
    if (policy.mode == policy::Mode::Mxnet) {
        HALFTONE_TRY(Conversion conversion,
                     convertMxnet(graph, decided.assignment, variables,
                                  {decided.rules.target, castsParameters}, progress));
        if (policy.share.value_or(false))
            shareConverted(graph, conversion);
        return conversion;
    }
    const auto assignBody = [&](const graph::Graph &body) {
        std::vector<policy::Warning> told; // of the names that are not in this body
        const auto inBody = policy::matchNames(policy, body, told);
        return withoutInt8(policy::assign(body, decided.rules, inBody.value()));
    };
    return convertTyped(graph, decided.assignment, variables,
                        {decided.rules.target, castsParameters, policy.keepIoTypes.value_or(true),
                         policy.share.value_or(true), shapes, assignBody},
                        progress);
}

bool asksForInt8(const policy::Assignment &assignment)
{
    return !assignment.otherwise.empty();
}

/// "asked for int8, stays bfloat16: its parameter w is float16"
void noteRefused(const std::vector<NodeNote> &refused, Conversion &conversion)
{
    for (const NodeNote &note : refused)
        conversion.notes.push_back({note.node,
                                    "asked for int8, stays "
                                        + std::string(tensor::nameOf(conversion.precisionOf(note.node)))
                                        + ": " + note.text});
}

/// The part in int8 becomes a model of its own, of which the floating part is then converted like any other.
Result<void> convertWithInt8(const graph::Model &source, const Decided &decided, const policy::Policy &policy,
                             const ShapeMap *shapes, const QuantizedRanges *ranges, const Progress &progress,
                             ConvertedModel &result)
{
    HALFTONE_TRY(const AskedQuantization asked, quantizeAsked(source, decided.assignment, ranges));
    std::vector<policy::Warning> told; // of the source's variables already
    const graph::Model &model = asked.part ? asked.part->model : source;
    HALFTONE_TRY(const std::vector<Variable> variables, classifyVariables(model, policy, told));
    const Decided here{decided.rules, asked.part ? asked.part->assignment : withoutInt8(decided.assignment)};
    const ShapeMap shapesHere = asked.part && shapes ? shapesOfPart(*asked.part, *shapes) : ShapeMap();
    HALFTONE_TRY(result.conversion,
                 convertFloats(model.graph, here, variables, policy,
                               asked.part && shapes ? &shapesHere : shapes, progress));
    HALFTONE_TRY(CastParameters cast, castParams(model.parameters, model.graph, result.conversion, progress));
    result.parameters = std::move(cast.changes);
    result.model = {result.conversion.graph, std::move(cast.arrays), source.hasParameters};
    if (asked.part) {
        tellOfSource(source.graph, *asked.part, result.conversion);
        for (const std::string &note : asked.part->notes)
            result.warnings.push_back({"int8_ops", note});
    }
    noteRefused(asked.refused, result.conversion);
    return {};
}

} // namespace

Result<std::vector<std::string>> rangesToFind(const graph::Model &source, const policy::Policy &policy)
{
    std::vector<policy::Warning> told;
    HALFTONE_TRY(const Decided decided, decide(source, policy, told));
    std::vector<std::string> names;
    if (!asksForInt8(decided.assignment))
        return names;
    std::vector<NodeNote> refused;
    const QuantizeOptions options = optionsForAsked(source, decided.assignment, refused);
    if (std::ranges::find(options.asked, true) == options.asked.end())
        return names;
    HALFTONE_TRY(const std::vector<ObservedTensor> observed, tensorsToObserve(source, options));
    for (const ObservedTensor &tensor : observed)
        names.push_back(tensor.source);
    return names;
}

Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress, const ShapeMap *shapes,
                                    const QuantizedRanges *ranges)
{
    const auto start = std::chrono::steady_clock::now();
    ConvertedModel result;
    result.policy = policy;
    HALFTONE_TRY(Decided decided, decide(source, policy, result.warnings));
    HALFTONE_TRY(const std::vector<Variable> variables, classifyVariables(source, policy, result.warnings));
    if (strict && !result.warnings.empty())
        return badInput(result.warnings.front().entry, result.warnings.front().text);
    if (asksForInt8(decided.assignment)) {
        HALFTONE_CHECK(convertWithInt8(source, decided, policy, shapes, ranges, progress, result));
    } else {
        HALFTONE_TRY(result.conversion,
                     convertFloats(source.graph, decided, variables, policy, shapes, progress));
        HALFTONE_TRY(CastParameters cast,
                     castParams(source.parameters, source.graph, result.conversion, progress));
        result.parameters = std::move(cast.changes);
        result.model = {result.conversion.graph, std::move(cast.arrays), source.hasParameters};
    }
    result.assignment = std::move(decided.assignment);
    if (policy.mode == policy::Mode::Mxnet) {
        warnOfBodies(source.graph, result.warnings);
        if (policy.keepIoTypes == false)
            result.warnings.push_back({"keep_io_types", "false has no effect in mode \"mxnet\""});
    }
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    warnOfLosses(result.parameters, result.warnings);
    for (const NodeNote &note : result.conversion.notes)
        result.warnings.push_back({"node \"" + source.graph.node(note.node).name + '"', note.text});
    if (strict && !result.warnings.empty())
        return badInput(result.warnings.front().entry, result.warnings.front().text);
    return result;
}

} // namespace halftone::passes

#include "core/passes/convert_model.h"

#include "core/passes/convert_mxnet.h"
#include "core/passes/convert_typed.h"
#include "core/passes/share_nodes.h"
#include "core/passes/variables.h"

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

} // namespace

Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress, const ShapeMap *shapes)
{
    const auto start = std::chrono::steady_clock::now();
    ConvertedModel result;
    result.policy = policy;
    auto resolved = policy::resolve(policy, result.warnings);
    if (!resolved.ok())
        return inFile(std::move(resolved).error(), kPolicyName);
    policy::Rules rules = std::move(resolved).value();
    if (policy.mode != policy::Mode::Mxnet)
        judgeFusedByTheirBodies(rules);
    const auto named = policy::matchNames(policy, source.graph, result.warnings);
    if (!named.ok())
        return inFile(named.error(), kPolicyName);
    HALFTONE_TRY(const std::vector<Variable> variables, classifyVariables(source, policy, result.warnings));
    if (strict && !result.warnings.empty())
        return badInput(result.warnings.front().entry, result.warnings.front().text);
    result.assignment = policy::assign(source.graph, rules, named.value());
    const bool castsParameters = policy.castParams.value_or(false);
    if (policy.mode == policy::Mode::Mxnet) {
        HALFTONE_TRY(result.conversion,
                     convertMxnet(source.graph, result.assignment, variables, {rules.target, castsParameters},
                                  progress));
        if (policy.share.value_or(false))
            shareConverted(source.graph, result.conversion);
        warnOfBodies(source.graph, result.warnings);
        if (policy.keepIoTypes == false)
            result.warnings.push_back({"keep_io_types", "false has no effect in mode \"mxnet\""});
    } else {
        const auto assignBody = [&](const graph::Graph &body) {
            std::vector<policy::Warning> told; // of the names that are not in this body
            const auto inBody = policy::matchNames(policy, body, told);
            return policy::assign(body, rules, inBody.value());
        };
        HALFTONE_TRY(result.conversion,
                     convertTyped(source.graph, result.assignment, variables,
                                  {rules.target, castsParameters, policy.keepIoTypes.value_or(true),
                                   policy.share.value_or(true), shapes, assignBody},
                                  progress));
    }
    HALFTONE_TRY(CastParameters cast,
                 castParams(source.parameters, source.graph, result.conversion, progress));
    result.parameters = std::move(cast.changes);
    result.model = {result.conversion.graph, std::move(cast.arrays), source.hasParameters};
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    warnOfLosses(result.parameters, result.warnings);
    for (const NodeNote &note : result.conversion.notes)
        result.warnings.push_back({"node \"" + source.graph.node(note.node).name + '"', note.text});
    if (strict && !result.warnings.empty())
        return badInput(result.warnings.front().entry, result.warnings.front().text);
    return result;
}

} // namespace halftone::passes

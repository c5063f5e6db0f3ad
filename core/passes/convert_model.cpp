#include "core/passes/convert_model.h"

#include "core/passes/convert_mxnet.h"
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

} // namespace

Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress)
{
    if (policy.mode == policy::Mode::Typed)
        return unsupported("mode", "mode \"typed\" is not part of this build", "mode \"mxnet\"");
    const auto start = std::chrono::steady_clock::now();
    ConvertedModel result;
    result.policy = policy;
    auto resolved = policy::resolve(policy, result.warnings);
    if (!resolved.ok())
        return inFile(std::move(resolved).error(), kPolicyName);
    const policy::Rules rules = std::move(resolved).value();
    const auto named = policy::matchNames(policy, source.graph, result.warnings);
    if (!named.ok())
        return inFile(named.error(), kPolicyName);
    HALFTONE_TRY(const std::vector<Variable> variables, classifyVariables(source, policy, result.warnings));
    if (strict && !result.warnings.empty())
        return badInput(result.warnings.front().entry, result.warnings.front().text);
    result.assignment = policy::assign(source.graph, rules, named.value());
    const MxnetSettings settings{rules.target, policy.castParams};
    HALFTONE_TRY(result.conversion,
                 convertMxnet(source.graph, result.assignment, variables, settings, progress));
    HALFTONE_TRY(CastParameters cast,
                 castParams(source.parameters, source.graph, result.conversion, progress));
    result.parameters = std::move(cast.changes);
    result.model = {result.conversion.graph, std::move(cast.arrays), source.hasParameters};
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    warnOfLosses(result.parameters, result.warnings);
    warnOfBodies(source.graph, result.warnings);
    for (const NodeNote &note : result.conversion.notes)
        result.warnings.push_back({"node \"" + source.graph.node(note.node).name + '"', note.text});
    if (strict && !result.warnings.empty())
        return badInput(result.warnings.front().entry, result.warnings.front().text);
    return result;
}

} // namespace halftone::passes

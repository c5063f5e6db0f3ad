#include "core/mixed/hold/hold_positions.h"

#include "core/base/text.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>
#include <set>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using policy::Rule;

std::string quoted(const PositionPaths::End &end)
{
    return end.op + " \"" + end.name + '"';
}

std::string reasonOf(std::string_view what, const PositionPaths::End &end)
{
    return std::string(what) + ": exact for " + quoted(end);
}

/// Operators that were to stay exact and are not.
struct Lowered
{
    std::vector<std::string> nodes;
    std::vector<std::string> ends; ///< each once
};

void addLowered(const graph::Graph &source, const PositionMap &map, const rewrite::Conversion &conversion,
                Lowered &lowered)
{
    const auto paths = map.find(&source);
    if (paths == map.end())
        return;
    std::set<std::uint32_t> ends;
    for (const PositionPaths::Held &held : paths->second.held) {
        const tensor::DType type = conversion.precisionOf(held.node);
        if (!tensor::isHalf(type) && type != tensor::DType::I8)
            continue;
        lowered.nodes.push_back(source.node(held.node).name);
        if (ends.insert(held.end).second)
            lowered.ends.push_back(quoted(paths->second.ends[held.end]));
    }
}

} // namespace

void holdPaths(const graph::Graph &graph, const PositionMap &map, std::string_view what,
               policy::Assignment &assignment)
{
    const auto paths = map.find(&graph);
    if (paths == map.end())
        return;
    std::vector<std::uint32_t> entries;
    for (const PositionPaths::End &end : paths->second.ends) {
        entries.push_back(static_cast<std::uint32_t>(assignment.entries.size()));
        assignment.entries.push_back(reasonOf(what, end));
    }
    for (const auto &[node, end] : paths->second.held) {
        const Rule rule = assignment.rule(node);
        if (rule == Rule::Coded || rule == Rule::OverrideInt8 || policy::isChosen(assignment.inFloat(node)))
            continue;
        assignment.otherwise.erase(node);
        assignment.nodes[node] = {Rule::PositionPath, entries[end]};
    }
}

std::vector<std::string> refusalsOfPositions(const graph::Graph &graph, const PositionMap &map)
{
    std::vector<std::string> refusals(graph.nodeCount());
    const auto paths = map.find(&graph);
    if (paths == map.end())
        return refusals;
    // What moves codes has those of what it reads: features beside ids would have the range of these.
    for (const auto *nodes : {&paths->second.held, &paths->second.beside})
        for (const auto &[node, end] : *nodes)
            refusals[node] = reasonOf("positions", paths->second.ends[end]);
    return refusals;
}

std::optional<policy::Warning> loweredPositions(const graph::Graph &source, const PositionMap &map,
                                                const rewrite::Conversion &conversion)
{
    Lowered lowered;
    rewrite::forConversions(source, conversion, [&](const graph::Graph &of, const auto &made) {
        addLowered(of, map, made, lowered);
    });
    if (lowered.nodes.empty())
        return std::nullopt;
    const std::string count
        = std::to_string(lowered.nodes.size()) + (lowered.nodes.size() == 1 ? " operator" : " operators");
    return policy::Warning{"positions",
                           count + " round positions before they reach " + joined(lowered.ends, 3)
                               + "; results will be wrong for large positions. Mode typed "
                                 "keeps these operators in float32",
                           "positions_lowered", std::move(lowered.nodes)};
}

} // namespace halftone::mixed

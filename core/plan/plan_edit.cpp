#include "core/plan/plan_edit.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>

namespace halftone::plan {

PlanUses::PlanUses(const PlanGraph &graph)
    : producer(graph.values.size(), kNoPlanNode)
    , readers(graph.values.size())
    , isOutput(graph.values.size())
{
    for (std::uint32_t k = 0; k < graph.nodes.size(); ++k) {
        const PlanNode &node = graph.nodes[k];
        for (const ValueId value : node.outputs)
            producer[value] = k;
        for (const ValueId value : node.inputs)
            readers[value].push_back(k);
        for (const PostOp &post : node.post)
            if (post.operand != kNoValue)
                readers[post.operand].push_back(k);
    }
    for (const ValueId value : graph.outputs)
        isOutput[value] = true;
}

std::uint32_t PlanUses::hostOf(const PlanGraph &graph, ValueId value) const
{
    const std::uint32_t host = hasOneReader(value) ? producer[value] : kNoPlanNode;
    return host == kNoPlanNode || graph.nodes[host].outputs[0] != value ? kNoPlanNode : host;
}

void PlanUses::follow(const PlanNode &node, std::uint32_t from, std::uint32_t to)
{
    for (const ValueId value : node.inputs)
        std::ranges::replace(readers[value], from, to);
    for (const PostOp &post : node.post)
        if (post.operand != kNoValue)
            std::ranges::replace(readers[post.operand], from, to);
    for (const ValueId value : node.outputs)
        producer[value] = to;
}

std::vector<ValueId> keepValues(const PlanGraph &graph)
{
    std::vector<ValueId> same(graph.values.size());
    std::iota(same.begin(), same.end(), ValueId{0});
    return same;
}

void replaceValues(PlanGraph &graph, std::span<const ValueId> replacement)
{
    const auto resolve = [replacement](ValueId &value) {
        while (value != kNoValue && value < replacement.size() && replacement[value] != value)
            value = replacement[value];
    };
    const auto resolveNode = [&](PlanNode &node) {
        for (ValueId &value : node.inputs)
            resolve(value);
        for (PostOp &post : node.post)
            resolve(post.operand);
    };
    for (PlanNode &node : graph.nodes) {
        resolveNode(node);
        std::ranges::for_each(node.parts, resolveNode);
    }
    for (ValueId &value : graph.outputs)
        resolve(value);
}

void unfold(PlanGraph &graph, std::size_t k)
{
    const PlanNode whole = std::move(graph.nodes[k]);
    std::vector<PlanNode> parts = whole.parts;
    std::unordered_map<ValueId, ValueId> own;
    for (PlanNode &part : parts) {
        for (ValueId &value : part.inputs)
            if (const auto found = own.find(value); found != own.end())
                value = found->second;
        for (ValueId &value : part.outputs) {
            if (std::ranges::find(whole.outputs, value) != whole.outputs.end())
                continue;
            const ValueId inner = graph.addValue(graph.desc(value), std::string(graph.values[value].name));
            own[value] = inner;
            value = inner;
        }
    }
    const auto at = graph.nodes.begin() + static_cast<std::ptrdiff_t>(k);
    const auto behind = graph.nodes.erase(at);
    graph.nodes.insert(behind, std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
}

void eraseNodes(PlanGraph &graph, const std::vector<bool> &marked)
{
    std::size_t kept = 0;
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        if (marked[k])
            continue;
        if (kept != k)
            graph.nodes[kept] = std::move(graph.nodes[k]);
        ++kept;
    }
    graph.nodes.resize(kept);
}

void adoptMembers(PlanNode &into, const PlanNode &from)
{
    into.members.insert(into.members.begin(), from.members.begin(), from.members.end());
}

} // namespace halftone::plan

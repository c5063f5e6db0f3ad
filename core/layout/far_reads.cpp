#include "core/layout/far_reads.h"

#include <algorithm>
#include <cstdint>

namespace halftone::layout {

using graph::NodeId;

namespace {

constexpr std::size_t kManyReaders = 6;
constexpr std::uint32_t kFarApart = 24;

} // namespace

std::vector<NodeId> farReads(const graph::Graph &graph, const std::vector<char> &drawn)
{
    std::vector<std::uint32_t> depth(graph.nodeCount(), 0);
    std::vector<std::uint32_t> reads(graph.nodeCount(), 0);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (drawn[id] == 0)
            continue;
        for (const graph::Entry &input : graph.inputs(id))
            if (drawn[input.node] != 0) {
                depth[id] = std::max(depth[id], depth[input.node] + 1);
                ++reads[input.node];
            }
    }
    std::vector<std::vector<std::uint32_t>> depths(graph.nodeCount());
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (drawn[id] != 0)
            for (const graph::Entry &input : graph.inputs(id))
                if (reads[input.node] >= kManyReaders)
                    depths[input.node].push_back(depth[id]);
    std::vector<NodeId> found;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        std::vector<std::uint32_t> &at = depths[id];
        std::ranges::sort(at);
        at.erase(std::unique(at.begin(), at.end()), at.end());
        if (at.size() >= kManyReaders && at.back() - at.front() >= kFarApart && drawn[id] != 0)
            found.push_back(id);
    }
    return found;
}

} // namespace halftone::layout

#include "core/interpret/run_memory.h"

#include <algorithm>

namespace halftone::interpret {

using graph::Entry;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;

std::size_t peakBytes(const graph::Graph &graph, std::span<const NodeId> order,
                      std::span<const std::uint32_t> readers, const Setting &setting)
{
    std::vector<std::size_t> bytes(graph.nodeCount());
    std::vector<std::uint32_t> left(readers.begin(), readers.end());
    std::size_t held = 0;
    std::size_t peak = 0;
    for (const NodeId id : order) {
        if (graph.isVariable(id))
            continue;
        bytes[id] = setting.outputBytes(id);
        held += bytes[id];
        peak = std::max(peak, held);
        for (const Entry &entry : graph.inputs(id))
            held -= --left[entry.node] == 0 ? bytes[entry.node] : 0;
    }
    return peak;
}

std::size_t scratchBytes(const graph::Graph &graph, std::span<const NodeId> order,
                         std::span<const Tensor> constants, const Setting &setting)
{
    std::size_t most = 0;
    for (const NodeId id : order) {
        if (graph.isVariable(id) || constants.empty())
            continue;
        bool readsWeights = false;
        std::size_t elements = 0;
        const auto count = [&](const Entry &entry) {
            const Shape &shape = setting.shapes.of(entry);
            if (!shape.isComplete())
                return;
            elements += static_cast<std::size_t>(shape.elementCount().value_or(0));
            readsWeights = readsWeights || (shape.rank() >= 2 && isSet(constants[entry.node]));
        };
        std::ranges::for_each(graph.inputs(id), count);
        count({id, 0, 0});
        most = std::max(most, readsWeights ? elements : 0);
    }
    return most * sizeof(float);
}

} // namespace halftone::interpret

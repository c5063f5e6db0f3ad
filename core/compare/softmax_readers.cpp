#include "core/compare/softmax_readers.h"

#include "core/dialect/dialect.h"

#include <algorithm>
#include <optional>

namespace halftone::compare {
namespace {

using graph::NodeId;

constexpr double kUnderflow = 104; ///< exp(-104) is less than half of float32's smallest number, 2^-149

/// How a node weighs its first input.
/// own  how its own first output is weighed
Weighed weighingOf(const graph::Graph &graph, NodeId id, const std::optional<Weighed> &own)
{
    const auto op = dialect::of(graph).read(graph.node(id));
    if (op.ok() && op.value().is<ops::Cast>())
        return own.value_or(Weighed{});
    const auto *const softmax = op.ok() ? op.value().getIf<ops::Softmax>() : nullptr;
    if (!softmax || softmax->kind != ops::Softmax::Kind::Softmax || softmax->useLength)
        return {};
    const double temperature = softmax->temperature.value_or(1);
    return temperature > 0 ? Weighed{kUnderflow * temperature, softmax->axis} : Weighed{};
}

} // namespace

std::vector<Weighed> weighedValues(const graph::Graph &graph)
{
    std::vector<std::optional<Weighed>> found(graph.nodeCount()); // nothing: nobody reads it
    for (const graph::Entry &head : graph.heads())
        found[head.node] = Weighed{};
    for (NodeId id = static_cast<NodeId>(graph.nodeCount());
         id-- > 0;) { // readers come behind what they read
        const auto inputs = graph.inputs(id);
        if (inputs.empty())
            continue;
        const Weighed own = weighingOf(graph, id, found[id]);
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            std::optional<Weighed> &value = found[inputs[slot].node];
            const Weighed here = slot == 0 && inputs[slot].output == 0 ? own : Weighed{};
            const bool agrees = !value || (value->axis == here.axis && value->below > 0 && here.below > 0);
            value = agrees ? Weighed{std::max(here.below, value ? value->below : 0), here.axis} : Weighed{};
        }
    }
    std::vector<Weighed> all;
    all.reserve(found.size());
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        all.push_back(found[id] && !graph.isVariable(id) ? *found[id] : Weighed{});
    return all;
}

} // namespace halftone::compare

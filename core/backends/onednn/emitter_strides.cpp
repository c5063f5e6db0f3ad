#include "core/backends/onednn/lower.h"

#include <algorithm>

namespace halftone::backends::onednn {
namespace {

constexpr int kMostViews = 4; ///< between a value and the product that reads it

bool feedsProducts(const plan::PlanGraph &graph, const plan::PlanUses &uses, plan::ValueId value, int depth)
{
    if (depth == 0 || uses.isOutput[value] || uses.readers[value].empty())
        return false;
    return std::ranges::all_of(uses.readers[value], [&](std::uint32_t reader) {
        const plan::PlanNode &node = graph.nodes[reader];
        if (node.op.is<ops::MatMul>())
            return std::ranges::none_of(node.post,
                                        [value](const plan::PostOp &post) { return post.operand == value; });
        const bool isTransposition = node.op.is<ops::Transpose>() || node.op.is<ops::SwapAxes>();
        return isTransposition && feedsProducts(graph, uses, node.outputs[0], depth - 1);
    });
}

} // namespace

bool Emitter::feedsProductsOnly(plan::ValueId value) const
{
    return feedsProducts(m_graph, m_uses, value, kMostViews);
}

std::optional<Desc> Emitter::descBeforeTranspose(plan::ValueId value, Type type) const
{
    if (!m_uses.hasOneReader(value) || isPartOfConcat(value))
        return std::nullopt;
    const plan::PlanNode &reader = m_graph.nodes[m_uses.readers[value].front()];
    const tensor::Shape &shape = m_graph.desc(value).shape;
    const auto axes = transposedAxes(reader.op, shape.rank());
    if (!axes || axes->back() + 1 != static_cast<dnnl::memory::dim>(shape.rank()))
        return std::nullopt;
    const Desc after = plainDesc(dimsOf(m_graph.desc(reader.outputs[0]).shape), type);
    std::vector<int> back(axes->begin(), axes->end()); // permute_axes wants for each axis where it goes
    return after.permute_axes(back);
}

} // namespace halftone::backends::onednn

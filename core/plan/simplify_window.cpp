#include "core/ops/element_function.h"
#include "core/ops/window.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>

namespace halftone::plan {
namespace {

using ops::Dims;

bool isAll(const Dims &dims, std::int64_t value)
{
    return std::ranges::all_of(dims, [value](std::int64_t dim) { return dim == value; });
}

bool hasNoPadding(const ops::Padding &pad)
{
    return isAll(pad.begin, 0) && isAll(pad.end, 0);
}

Dims strideOf(const ops::Conv &conv)
{
    return conv.stride.empty() ? Dims(conv.kernel.size(), 1) : conv.stride;
}

bool isPointwise(const ops::Conv &conv)
{
    return isAll(conv.kernel, 1) && hasNoPadding(conv.pad);
}

/// The spatial extents of `shape` when only every stride-th row is kept.
tensor::Shape strided(tensor::Shape shape, ops::Layout layout, const Dims &stride)
{
    for (std::size_t k = 0; k < stride.size(); ++k) {
        std::int64_t &extent = shape[ops::firstSpatialAxis(layout) + k];
        extent = (extent - 1) / stride[k] + 1;
    }
    return shape;
}

class StrideSinking
{
public:
    explicit StrideSinking(PlanGraph &graph)
        : m_graph(graph)
        , m_uses(graph)
    {
    }

    void run()
    {
        for (std::size_t k = m_graph.nodes.size(); k-- > 0;)
            sinkInto(k);
        insertSubsamplings();
    }

private:
    /// The stride with which all readers of `value` skip over it, empty when they don't agree on one.
    Dims commonStride(ValueId value, ops::Layout layout) const
    {
        Dims common;
        for (const std::uint32_t reader : m_uses.readers[value]) {
            const PlanNode &node = m_graph.nodes[reader];
            const auto *conv = node.op.getIf<ops::Conv>();
            if (conv == nullptr || node.inputs[0] != value || !isPointwise(*conv) || conv->layout != layout
                || readsInPost(node, value))
                return {};
            const Dims stride = strideOf(*conv);
            if (isAll(stride, 1) || (!common.empty() && common != stride))
                return {};
            common = stride;
        }
        return common;
    }

    static bool readsInPost(const PlanNode &node, ValueId value)
    {
        return std::ranges::any_of(node.post, [value](const PostOp &post) { return post.operand == value; });
    }

    void sinkInto(std::size_t k)
    {
        const auto *conv = m_graph.nodes[k].op.getIf<ops::Conv>();
        if (conv == nullptr)
            return;
        const ValueId result = m_graph.nodes[k].outputs[0];
        if (m_uses.isOutput[result] || m_uses.readers[result].empty())
            return;
        const Dims stride = commonStride(result, conv->layout);
        if (stride.empty())
            return;
        for (const PostOp &post : m_graph.nodes[k].post) // an operand that stretches would need another rule
            if (post.operand != kNoValue && m_graph.desc(post.operand).shape != m_graph.desc(result).shape)
                return;
        ops::Conv sparser = *conv;
        sparser.stride = strideOf(*conv);
        for (std::size_t axis = 0; axis < stride.size(); ++axis)
            sparser.stride[axis] *= stride[axis];
        const ops::Layout layout = conv->layout;
        m_graph.nodes[k].op = std::move(sparser);
        m_graph.values[result].desc.shape = strided(m_graph.desc(result).shape, layout, stride);
        for (const std::uint32_t reader : m_uses.readers[result]) {
            ops::Conv denser = m_graph.nodes[reader].op.as<ops::Conv>();
            denser.stride.clear();
            m_graph.nodes[reader].op = std::move(denser);
        }
        for (std::size_t post = 0; post < m_graph.nodes[k].post.size(); ++post)
            if (m_graph.nodes[k].post[post].operand != kNoValue)
                subsample(k, post, layout, stride);
    }

    /// Averages over one element keep every value, NaN included.
    void subsample(std::size_t k, std::size_t post, ops::Layout layout, const Dims &stride)
    {
        const ValueId operand = m_graph.nodes[k].post[post].operand;
        kernels::TensorDesc desc = m_graph.desc(operand);
        desc.shape = strided(desc.shape, layout, stride);
        const ValueId kept = m_graph.addValue(std::move(desc), m_graph.values[operand].name);
        ops::Pool pool{.kind = ops::Pool::Kind::Average, .kernel = Dims(stride.size(), 1), .stride = stride};
        pool.layout = layout;
        m_subsamplings.emplace_back(
            k, PlanNode{std::move(pool), "Subsampling", m_graph.nodes[k].members, {operand}, {kept}, {}});
        m_graph.nodes[k].post[post].operand = kept;
    }

    void insertSubsamplings()
    {
        std::vector<PlanNode> nodes;
        for (std::size_t k = 0; k < m_graph.nodes.size(); ++k) {
            for (auto &[before, pool] : m_subsamplings)
                if (before == k)
                    nodes.push_back(std::move(pool));
            nodes.push_back(std::move(m_graph.nodes[k]));
        }
        m_graph.nodes = std::move(nodes);
    }

    PlanGraph &m_graph;
    PlanUses m_uses;
    std::vector<std::pair<std::size_t, PlanNode>> m_subsamplings; ///< before which node
};

/// Does every window of an average lie in the picture, so that all averages count the same?
bool averagesWholeWindows(const ops::Pool &pool)
{
    return pool.kind == ops::Pool::Kind::Average
        && (pool.global || (hasNoPadding(pool.pad) && pool.rounding == ops::Pool::Rounding::Valid));
}

} // namespace

void sinkStrides(PlanGraph &graph)
{
    StrideSinking(graph).run();
}

void poolBeforeConvolution(PlanGraph &graph)
{
    const PlanUses uses(graph);
    for (PlanNode &node : graph.nodes) {
        const auto *pool = node.op.getIf<ops::Pool>();
        if (pool == nullptr || !averagesWholeWindows(*pool) || !uses.hasOneReader(node.inputs[0]))
            continue;
        const std::uint32_t before = uses.producer[node.inputs[0]];
        if (before == kNoPlanNode || !graph.nodes[before].post.empty())
            continue;
        PlanNode &layer = graph.nodes[before];
        const auto *conv = layer.op.getIf<ops::Conv>();
        if (conv == nullptr || !isPointwise(*conv) || !isAll(conv->stride, 1) || conv->layout != pool->layout
            || graph.desc(layer.outputs[0]).dtype != graph.desc(layer.inputs[0]).dtype)
            continue;
        // The two nodes trade places; the value between them gets the pooled extents and the layer's input channels.
        const ValueId between = layer.outputs[0];
        tensor::Shape shape = graph.desc(node.outputs[0]).shape;
        const std::size_t channels = ops::channelAxis(conv->layout, conv->kernel.size());
        shape[channels] = graph.desc(layer.inputs[0]).shape[channels];
        graph.values[between].desc.shape = std::move(shape);
        std::swap(layer.op, node.op);
        std::swap(layer.opName, node.opName);
        std::swap(layer.members, node.members);
        node.inputs.insert(node.inputs.end(), layer.inputs.begin() + 1, layer.inputs.end());
        layer.inputs.resize(1);
    }
}

void foldPads(PlanGraph &graph)
{
    const PlanUses uses(graph);
    for (PlanNode &node : graph.nodes) {
        const auto *conv = node.op.getIf<ops::Conv>();
        const std::uint32_t before = conv == nullptr ? kNoPlanNode : uses.producer[node.inputs[0]];
        if (before == kNoPlanNode)
            continue;
        const auto *pad = graph.nodes[before].op.getIf<ops::Pad>();
        const std::size_t rank = conv->kernel.size() + 2;
        if (pad == nullptr || pad->mode != ops::Pad::Mode::Constant || pad->value != 0
            || pad->widths.size() != 2 * rank
            || std::ranges::any_of(pad->widths, [](auto w) { return w < 0; }))
            continue;
        const std::size_t spatial = ops::firstSpatialAxis(conv->layout);
        bool onlySpatial = true;
        for (std::size_t axis = 0; axis < rank; ++axis)
            if (axis < spatial || axis >= spatial + conv->kernel.size())
                onlySpatial = onlySpatial && pad->widths[2 * axis] == 0 && pad->widths[2 * axis + 1] == 0;
        if (!onlySpatial)
            continue;
        ops::Conv padded = *conv;
        padded.pad.begin.resize(conv->kernel.size());
        padded.pad.end.resize(conv->kernel.size());
        for (std::size_t k = 0; k < conv->kernel.size(); ++k) {
            padded.pad.begin[k] += pad->widths[2 * (spatial + k)];
            padded.pad.end[k] += pad->widths[2 * (spatial + k) + 1];
        }
        node.op = std::move(padded);
        node.inputs[0] = graph.nodes[before].inputs[0];
        node.members.insert(node.members.begin(), graph.nodes[before].members.begin(),
                            graph.nodes[before].members.end());
    }
}

} // namespace halftone::plan

#include "core/patterns/walk.h"

#include <algorithm>

namespace halftone::patterns {
namespace {

using ops::BinaryKind;

constexpr int kMostSteps = 8;

/// Puts elements elsewhere, or looks at them in another shape.
bool isMovement(const ops::Operator &op)
{
    return op.is<ops::Reshape>() || op.is<ops::Transpose>() || op.is<ops::SwapAxes>() || op.is<ops::Flatten>()
        || op.is<ops::Unsqueeze>() || op.is<ops::Squeeze>() || op.is<ops::Expand>() || op.is<ops::Split>()
        || op.is<ops::Slice>();
}

class AttentionSearch
{
public:
    AttentionSearch(const Walk &walk, const UnitIndex &inner, NodeIndex anchor)
        : m_walk(walk)
        , m_inner(inner)
        , m_anchor(anchor)
    {
    }

    std::optional<Unit> run()
    {
        if (m_walk.isAttention(m_anchor))
            return aroundOperator();
        const ValueIndex scores = takeSoftmax();
        if (scores == kNone)
            return std::nullopt;
        const NodeIndex products = backToProducts(scores);
        const NodeIndex values = products == kNone ? kNone : forwardToProducts();
        if (values == kNone)
            return std::nullopt;
        m_unit.nodes.insert(m_unit.nodes.end(), {products, values});
        takeSide(m_walk.inputs(products)[0]);
        takeSide(m_walk.inputs(products)[1]);
        takeSide(m_walk.inputs(values)[1]);
        return endingWith(values);
    }

private:
    /// One operator with what makes its queries, keys and values.
    std::optional<Unit> aroundOperator()
    {
        constexpr std::size_t kSides = 3;
        m_unit.nodes.push_back(m_anchor);
        const auto inputs = m_walk.inputs(m_anchor);
        for (const ValueIndex side : inputs.first(std::min(inputs.size(), kSides)))
            takeSide(side);
        return endingWith(m_anchor);
    }

    Unit endingWith(NodeIndex last)
    {
        m_unit.output = m_walk.result(last);
        takeMovements();
        m_unit.kind = UnitKind::Attention;
        complete(m_unit, m_walk);
        return std::move(m_unit);
    }

    /// What the softmax reads, it being one operator or a unit that ends here; kNone where there is none.
    ValueIndex takeSoftmax()
    {
        m_probabilities = m_walk.result(m_anchor);
        if (const auto *softmax = m_walk.op(m_anchor).getIf<ops::Softmax>()) {
            m_unit.nodes.push_back(m_anchor);
            return softmax->kind == ops::Softmax::Kind::Softmax ? m_walk.inputs(m_anchor)[0] : kNone;
        }
        const Unit *unit = m_inner.endingAt(m_anchor);
        if (unit == nullptr || unit->kind != UnitKind::Softmax || unit->inputs.empty())
            return kNone;
        m_unit.nodes = unit->nodes;
        return unit->inputs[0];
    }

    /// Through scales and masks to q · kᵀ.
    NodeIndex backToProducts(ValueIndex scores)
    {
        for (int steps = 0; steps < kMostSteps; ++steps) {
            const NodeIndex node = m_walk.producer(m_walk.root(scores));
            if (node == kNone)
                return kNone;
            if (const auto *product = m_walk.op(node).getIf<ops::MatMul>())
                return product->form == ops::MatMul::Form::Dot || m_walk.isFixed(m_walk.inputs(node)[1])
                    ? kNone
                    : node;
            scores = beforeScale(node);
            if (scores == kNone)
                return kNone;
            m_unit.nodes.push_back(node);
        }
        return kNone;
    }

    ValueIndex beforeScale(NodeIndex node) const
    {
        if (const auto step = m_walk.affine(node))
            return step->x;
        if (m_walk.op(node).is<ops::Where>())
            return leadsToProduct(m_walk.inputs(node)[1]) ? m_walk.inputs(node)[1] : m_walk.inputs(node)[2];
        const bool isMask = m_walk.isBinary(node, BinaryKind::Add) || m_walk.isBinary(node, BinaryKind::Sub)
            || m_walk.isBinary(node, BinaryKind::Mul) || m_walk.isBinary(node, BinaryKind::Div);
        if (isMask)
            return leadsToProduct(m_walk.inputs(node)[0]) ? m_walk.inputs(node)[0] : m_walk.inputs(node)[1];
        // Scores are looked at with heads and batch as one axis while the mask is added.
        return m_walk.op(node).is<ops::Reshape>() || m_walk.isUnary(node, ops::UnaryKind::DivideBySqrtDim)
            ? m_walk.inputs(node)[0]
            : kNone;
    }

    /// Of two sides the one that comes of a product within a few steps.
    bool leadsToProduct(ValueIndex value) const
    {
        for (int steps = 0; steps < kMostSteps; ++steps) {
            const NodeIndex node = m_walk.producer(m_walk.root(value));
            if (node == kNone)
                return false;
            if (m_walk.op(node).is<ops::MatMul>())
                return true;
            if (m_walk.inputs(node).empty() || (!m_walk.affine(node) && !m_walk.op(node).is<ops::Reshape>()))
                return isMaskedProduct(node);
            value = m_walk.affine(node) ? m_walk.affine(node)->x : m_walk.inputs(node)[0];
        }
        return false;
    }

    bool isMaskedProduct(NodeIndex node) const
    {
        const auto isProductAt = [&](std::size_t side) {
            const NodeIndex before = m_walk.producer(m_walk.root(m_walk.inputs(node)[side]));
            return before != kNone && (m_walk.op(before).is<ops::MatMul>() || m_walk.affine(before));
        };
        return (m_walk.isBinary(node, BinaryKind::Add) && (isProductAt(0) || isProductAt(1)))
            || (m_walk.op(node).is<ops::Where>() && (isProductAt(1) || isProductAt(2)));
    }

    /// To the product with v; between there may be what mends rows without any key.
    NodeIndex forwardToProducts()
    {
        ValueIndex at = m_probabilities;
        for (int steps = 0; steps < kMostSteps; ++steps) {
            NodeIndex next = kNone;
            for (const NodeIndex reader : m_walk.readers(at)) {
                const ops::Operator &op = m_walk.op(reader);
                if (op.is<ops::MatMul>() && m_walk.isSame(m_walk.inputs(reader)[0], at))
                    return reader;
                const bool goesOn = op.is<ops::Where>() || op.is<ops::Reshape>()
                    || m_walk.isBinary(reader, BinaryKind::Mul);
                if (goesOn && next == kNone)
                    next = reader;
            }
            if (next == kNone)
                return kNone;
            m_unit.nodes.push_back(next);
            at = m_walk.result(next);
        }
        return kNone;
    }

    /// Back from a product: scales, movements, a rotary embedding, then a bias and the product that made it.
    void takeSide(ValueIndex value)
    {
        for (int steps = 0; steps < kMostSteps; ++steps) {
            const NodeIndex node = m_walk.producer(m_walk.root(value));
            if (node == kNone)
                return;
            if (const Unit *unit = m_inner.endingAt(node);
                unit != nullptr && unit->kind == UnitKind::RotaryEmbedding) {
                m_unit.nodes.insert(m_unit.nodes.end(), unit->nodes.begin(), unit->nodes.end());
                value = unit->inputs[0];
                continue;
            }
            const auto step = m_walk.affine(node);
            if (!step && !isMovement(m_walk.op(node)))
                return takeProjection(node);
            m_unit.nodes.push_back(node);
            value = step ? step->x : m_walk.inputs(node)[0];
        }
    }

    void takeProjection(NodeIndex node)
    {
        NodeIndex product = node;
        if (m_walk.isBinary(node, BinaryKind::Add)) {
            const bool isBiasFirst = m_walk.isFixed(m_walk.inputs(node)[0]);
            if (!isBiasFirst && !m_walk.isFixed(m_walk.inputs(node)[1]))
                return;
            product = m_walk.producer(m_walk.root(m_walk.inputs(node)[isBiasFirst ? 1 : 0]));
        }
        if (product == kNone || !m_walk.isProduct(product) || !m_walk.isFixed(m_walk.inputs(product)[1]))
            return;
        m_unit.nodes.push_back(product);
        if (product != node)
            m_unit.nodes.push_back(node);
    }

    /// The heads side by side again.
    void takeMovements()
    {
        for (int steps = 0; steps < kMostSteps; ++steps) {
            const auto readers = m_walk.readers(m_unit.output);
            if (readers.size() != 1 || !isMovement(m_walk.op(readers[0]))
                || !m_walk.isSame(m_walk.inputs(readers[0])[0], m_unit.output)
                || m_walk.network().values[m_unit.output].isOutput)
                return;
            m_unit.nodes.push_back(readers[0]);
            m_unit.output = m_walk.result(readers[0]);
        }
    }

    const Walk &m_walk;
    const UnitIndex &m_inner;
    NodeIndex m_anchor;
    ValueIndex m_probabilities = kNone;
    Unit m_unit;
};

/// A product with constant weights, and its bias where one follows: the last node; kNone.
NodeIndex productBehind(const Walk &walk, NodeIndex product, std::vector<NodeIndex> &nodes)
{
    if (!walk.isProduct(product) || walk.inputs(product).size() < 2 || !walk.isFixed(walk.inputs(product)[1]))
        return kNone;
    nodes.push_back(product);
    const auto readers = walk.readers(walk.result(product));
    if (readers.size() != 1 || !walk.isBinary(readers[0], BinaryKind::Add))
        return product;
    const ValueIndex bias = walk.other(readers[0], walk.result(product));
    if (bias == kNone || !walk.isFixed(bias))
        return product;
    nodes.push_back(readers[0]);
    return readers[0];
}

bool isActivation(const ops::Operator &op)
{
    if (const auto *curve = op.getIf<ops::Curve>())
        return curve->kind == ops::Curve::Kind::Swish;
    if (const auto *leaky = op.getIf<ops::LeakyRelu>())
        return leaky->kind != ops::LeakyRelu::Kind::RandomRelu;
    if (const auto *unary = op.getIf<ops::Unary>())
        return unary->kind == ops::UnaryKind::Relu || unary->kind == ops::UnaryKind::GeluTanh
            || unary->kind == ops::UnaryKind::HardSwish || unary->kind == ops::UnaryKind::Mish;
    return op.is<ops::Activation>();
}

/// What an activation, as a unit or an operator, reads; kNone where the node ends none. Its nodes are added.
ValueIndex activationAt(const Walk &walk, const UnitIndex &inner, NodeIndex anchor,
                        std::vector<NodeIndex> &nodes)
{
    const Unit *unit = inner.endingAt(anchor);
    if (unit != nullptr && unit->kind >= UnitKind::Gelu && unit->kind <= UnitKind::Mish) {
        nodes.insert(nodes.end(), unit->nodes.begin(), unit->nodes.end());
        return unit->inputs.empty() ? kNone : unit->inputs[0];
    }
    if (!isActivation(walk.op(anchor)))
        return kNone;
    nodes.push_back(anchor);
    return walk.inputs(anchor)[0];
}

/// The first node of the product, with its bias where it has one, that makes `value`; kNone. Its nodes are added.
NodeIndex productMaking(const Walk &walk, ValueIndex value, std::vector<NodeIndex> &nodes)
{
    const NodeIndex last = walk.producer(walk.root(value));
    if (last == kNone)
        return kNone;
    NodeIndex first = last;
    if (walk.isBinary(last, BinaryKind::Add))
        for (const ValueIndex side : walk.inputs(last))
            if (const NodeIndex node = walk.producer(walk.root(side)); node != kNone && walk.isProduct(node))
                first = node;
    return productBehind(walk, first, nodes) == last ? first : kNone;
}

} // namespace

std::optional<Unit> findAttention(const Walk &walk, const UnitIndex &inner, NodeIndex anchor)
{
    return AttentionSearch(walk, inner, anchor).run();
}

std::optional<Unit> findMlp(const Walk &walk, const UnitIndex &inner, NodeIndex anchor)
{
    Unit mlp{.kind = UnitKind::Mlp};
    const ValueIndex source = activationAt(walk, inner, anchor, mlp.nodes);
    if (source == kNone || productMaking(walk, source, mlp.nodes) == kNone)
        return std::nullopt;
    const auto readers = walk.readers(walk.result(anchor));
    const NodeIndex end = readers.size() == 1 ? productBehind(walk, readers[0], mlp.nodes) : kNone;
    if (end == kNone)
        return std::nullopt;
    mlp.output = walk.result(end);
    complete(mlp, walk);
    return mlp;
}

std::optional<Unit> findGatedMlp(const Walk &walk, const UnitIndex &inner, NodeIndex anchor)
{
    Unit mlp{.kind = UnitKind::GatedMlp};
    const ValueIndex source = activationAt(walk, inner, anchor, mlp.nodes);
    const NodeIndex gate = source == kNone ? kNone : productMaking(walk, source, mlp.nodes);
    const auto gated = walk.readers(walk.result(anchor));
    if (gate == kNone || gated.size() != 1 || !walk.isBinary(gated[0], BinaryKind::Mul))
        return std::nullopt;
    const ValueIndex other = walk.other(gated[0], walk.result(anchor));
    const NodeIndex up = other == kNone ? kNone : productMaking(walk, other, mlp.nodes);
    if (up == kNone || !walk.isSame(walk.inputs(up)[0], walk.inputs(gate)[0]))
        return std::nullopt;
    mlp.nodes.push_back(gated[0]);
    const auto readers = walk.readers(walk.result(gated[0]));
    const NodeIndex down = readers.size() == 1 ? productBehind(walk, readers[0], mlp.nodes) : kNone;
    if (down == kNone)
        return std::nullopt;
    mlp.output = walk.result(down);
    complete(mlp, walk);
    return mlp;
}

} // namespace halftone::patterns

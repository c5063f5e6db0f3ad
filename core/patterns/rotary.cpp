#include "core/patterns/walk.h"

namespace halftone::patterns {
namespace {

using ops::BinaryKind;

constexpr int kMostMovements = 2;

/// Every second element, or a half, of a tensor.
struct CutPart
{
    ValueIndex whole = kNone; ///< what was cut
    ValueIndex part = kNone;
    std::int64_t place = 0; ///< which part: parts further back have larger ones
    std::vector<NodeIndex> nodes{};
};

bool joinsTwo(const Walk &walk, NodeIndex node)
{
    return node != kNone && walk.inputs(node).size() == 2
        && (walk.op(node).is<ops::Concat>() || walk.op(node).is<ops::Stack>());
}

/// Where a cut of one axis begins, or of the leading ones on the last of them.
std::optional<std::int64_t> beginOf(const ops::Operator &op)
{
    const auto *slice = op.getIf<ops::Slice>();
    if (slice == nullptr || slice->begin.empty() || (slice->axes && slice->begin.size() > 1))
        return std::nullopt;
    return slice->begin.back().value_or(0);
}

std::optional<CutPart> cutPart(const Walk &walk, ValueIndex value)
{
    CutPart cut;
    for (int steps = 0; steps <= kMostMovements; ++steps) {
        cut.part = walk.root(value);
        const NodeIndex node = walk.network().values[cut.part].producer;
        if (node == kNone || walk.inputs(node).empty())
            return std::nullopt;
        cut.nodes.push_back(node);
        const ops::Operator &op = walk.op(node);
        value = walk.inputs(node)[0];
        if (op.is<ops::Unsqueeze>() || op.is<ops::Squeeze>())
            continue;
        cut.whole = walk.root(value);
        if (op.is<ops::Split>()) {
            const auto &outputs = walk.network().nodes[node].outputs;
            while (outputs[static_cast<std::size_t>(cut.place)] != cut.part)
                ++cut.place;
            return cut;
        }
        const auto begin = walk.network().nodes[node].isKindOnly ? std::nullopt : beginOf(op);
        cut.place = begin.value_or(0);
        return begin ? std::optional(std::move(cut)) : std::nullopt;
    }
    return std::nullopt;
}

class RotarySearch
{
public:
    explicit RotarySearch(const Walk &walk)
        : m_walk(walk)
    {
    }

    /// x · cos + turned(x) · sin.
    bool endsInSum(NodeIndex sum)
    {
        if (!m_walk.isBinary(sum, BinaryKind::Add))
            return false;
        for (std::size_t side = 0; side < 2; ++side) {
            m_unit = {.kind = UnitKind::RotaryEmbedding, .nodes = {sum}};
            if (isTurned(m_walk.inputs(sum)[side]) && isKept(m_walk.inputs(sum)[1 - side])) {
                m_unit.output = m_walk.result(sum);
                return true;
            }
        }
        return false;
    }

    /// The parts turned one by one, x · cos - y · sin and x · sin + y · cos, then joined.
    bool endsInJoin(NodeIndex join)
    {
        if (!joinsTwo(m_walk, join))
            return false;
        m_unit = {.kind = UnitKind::RotaryEmbedding, .nodes = {join}};
        const NodeIndex first = beforeAxes(m_walk.inputs(join)[0]);
        const NodeIndex second = beforeAxes(m_walk.inputs(join)[1]);
        if (first == kNone || second == kNone || !m_walk.isBinary(first, BinaryKind::Sub)
            || !m_walk.isBinary(second, BinaryKind::Add))
            return false;
        m_unit.nodes.insert(m_unit.nodes.end(), {first, second});
        const auto firstCos = scaledPart(m_walk.inputs(first)[0]);
        const auto firstSin = scaledPart(m_walk.inputs(first)[1]);
        auto secondSin = scaledPart(m_walk.inputs(second)[0]);
        auto secondCos = scaledPart(m_walk.inputs(second)[1]);
        if (!firstCos || !firstSin || !secondSin || !secondCos)
            return false;
        if (secondSin->cut.part != firstCos->cut.part)
            std::swap(secondSin, secondCos);
        const bool isRotation = firstCos->cut.whole == firstSin->cut.whole
            && firstCos->cut.place < firstSin->cut.place && secondSin->cut.part == firstCos->cut.part
            && secondCos->cut.part == firstSin->cut.part && secondSin->factor == firstSin->factor
            && secondCos->factor == firstCos->factor;
        m_unit.inputs = {firstCos->cut.whole, firstCos->factor, firstSin->factor};
        m_unit.output = m_walk.result(join);
        return isRotation;
    }

    Unit take() { return std::move(m_unit); }

private:
    struct Scaled
    {
        CutPart cut;
        ValueIndex factor = kNone;
    };

    void add(const std::vector<NodeIndex> &nodes)
    {
        m_unit.nodes.insert(m_unit.nodes.end(), nodes.begin(), nodes.end());
    }

    NodeIndex beforeAxes(ValueIndex value)
    {
        NodeIndex node = m_walk.producer(m_walk.root(value));
        if (node != kNone && m_walk.op(node).is<ops::Unsqueeze>()) {
            m_unit.nodes.push_back(node);
            node = m_walk.producer(m_walk.root(m_walk.inputs(node)[0]));
        }
        return node;
    }

    /// A part times cosines or sines.
    std::optional<Scaled> scaledPart(ValueIndex value)
    {
        const NodeIndex product = m_walk.producer(m_walk.root(value));
        if (product == kNone || !m_walk.isBinary(product, BinaryKind::Mul))
            return std::nullopt;
        for (std::size_t side = 0; side < 2; ++side) {
            auto cut = cutPart(m_walk, m_walk.inputs(product)[side]);
            // Sines and cosines may be parts of a table, which is not computed from what is turned.
            if (!cut || m_walk.isFixed(cut->whole) || (side == 0 && isAngle(m_walk.inputs(product)[0])))
                continue;
            m_unit.nodes.push_back(product);
            add(cut->nodes);
            return Scaled{std::move(*cut), m_walk.root(m_walk.inputs(product)[1 - side])};
        }
        return std::nullopt;
    }

    /// Is it a cosine or sine, or moved from such?
    bool isAngle(ValueIndex value) const
    {
        for (int steps = 0; steps <= 2 * kMostMovements; ++steps) {
            const NodeIndex node = m_walk.network().values[m_walk.root(value)].producer;
            if (node == kNone || m_walk.inputs(node).empty())
                return false;
            if (m_walk.isUnary(node, ops::UnaryKind::Cos) || m_walk.isUnary(node, ops::UnaryKind::Sin))
                return true;
            value = m_walk.inputs(node)[0];
        }
        return false;
    }

    /// The product of sines and (-x2, x1), the parts of x put the other way round.
    bool isTurned(ValueIndex value)
    {
        const NodeIndex product = m_walk.producer(m_walk.root(value));
        if (product == kNone || !m_walk.isBinary(product, BinaryKind::Mul))
            return false;
        for (std::size_t side = 0; side < 2; ++side) {
            const std::size_t nodes = m_unit.nodes.size();
            if (swapsParts(m_walk.inputs(product)[side])) {
                m_unit.nodes.push_back(product);
                m_sines = m_walk.root(m_walk.inputs(product)[1 - side]);
                return true;
            }
            m_unit.nodes.resize(nodes);
        }
        return false;
    }

    bool swapsParts(ValueIndex value)
    {
        NodeIndex join = m_walk.producer(m_walk.root(value));
        if (join != kNone && (m_walk.op(join).is<ops::Reshape>() || m_walk.op(join).is<ops::Flatten>())) {
            m_unit.nodes.push_back(join);
            join = m_walk.producer(m_walk.root(m_walk.inputs(join)[0]));
        }
        if (!joinsTwo(m_walk, join))
            return false;
        const NodeIndex negative = beforeAxes(m_walk.inputs(join)[0]);
        const auto step = negative == kNone ? std::nullopt : m_walk.affine(negative);
        if (!step || step->scale != -1 || step->shift != 0)
            return false;
        const auto back = cutPart(m_walk, step->x);
        const auto front = cutPart(m_walk, m_walk.inputs(join)[1]);
        if (!back || !front || back->whole != front->whole || back->place <= front->place)
            return false;
        m_unit.nodes.insert(m_unit.nodes.end(), {join, negative});
        add(back->nodes);
        add(front->nodes);
        m_turned = front->whole;
        return true;
    }

    /// The product of cosines and the same x.
    bool isKept(ValueIndex value)
    {
        const NodeIndex product = m_walk.producer(m_walk.root(value));
        if (product == kNone || !m_walk.isBinary(product, BinaryKind::Mul))
            return false;
        const ValueIndex cosines = m_walk.other(product, m_turned);
        if (cosines == kNone)
            return false;
        m_unit.nodes.push_back(product);
        m_unit.inputs = {m_turned, m_walk.root(cosines), m_sines};
        return true;
    }

    const Walk &m_walk;
    Unit m_unit;
    ValueIndex m_turned = kNone;
    ValueIndex m_sines = kNone;
};

} // namespace

std::optional<Unit> findRotary(const Walk &walk, NodeIndex anchor)
{
    if (walk.network().nodes[anchor].inputs.size() != 2)
        return std::nullopt;
    RotarySearch search(walk);
    if (!search.endsInSum(anchor) && !search.endsInJoin(anchor))
        return std::nullopt;
    Unit unit = search.take();
    complete(unit, walk);
    return unit;
}

} // namespace halftone::patterns

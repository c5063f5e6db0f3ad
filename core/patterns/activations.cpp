#include "core/patterns/walk.h"

#include <cmath>
#include <numbers>

namespace halftone::patterns {
namespace {

using ops::BinaryKind;
using ops::UnaryKind;

constexpr double kNear = 2e-3; ///< constants may have been rounded to 16 bits

bool isNear(double a, double b)
{
    return std::abs(a - b) <= kNear * std::max(std::abs(a), std::abs(b));
}

/// What stands behind a function: (a · f + b) · x, from its result on.
struct Tail
{
    double scale = 1; ///< a
    double shift = 0; ///< b
    ValueIndex x = kNone; ///< kNone until f is multiplied with something that is no constant
};

class ActivationSearch
{
public:
    ActivationSearch(const Walk &walk, NodeIndex anchor)
        : m_walk(walk)
        , m_anchor(anchor)
    {
    }

    std::optional<Unit> run()
    {
        if (!isHeart())
            return std::nullopt;
        ValueIndex at = m_walk.result(m_anchor);
        for (int steps = 0; steps < kMostSteps; ++steps) {
            const NodeIndex next = nextOf(at);
            if (next == kNone)
                return std::nullopt;
            m_nodes.push_back(next);
            at = m_walk.result(next);
            if (m_tail.x == kNone)
                continue;
            if (auto unit = unitEndingAt(at))
                return unit;
        }
        return std::nullopt;
    }

private:
    bool isHeart() const
    {
        return m_walk.isUnary(m_anchor, UnaryKind::Erf) || m_walk.isUnary(m_anchor, UnaryKind::Tanh)
            || m_walk.isUnary(m_anchor, UnaryKind::Sigmoid) || m_walk.op(m_anchor).is<ops::HardSigmoid>()
            || m_walk.op(m_anchor).is<ops::Clip>() || m_walk.op(m_anchor).is<ops::ClipBetween>();
    }

    /// The reader of `at` that is a constant's sum or product, or the one product with something else.
    NodeIndex nextOf(ValueIndex at)
    {
        for (const NodeIndex reader : m_walk.readers(at))
            if (stepOver(reader, at))
                return reader;
        return kNone;
    }

    bool stepOver(NodeIndex reader, ValueIndex at)
    {
        if (const auto step = m_walk.affine(reader); step && m_walk.isSame(step->x, at)) {
            if (m_tail.x != kNone && step->shift != 0)
                return false;
            m_tail.scale *= step->scale;
            m_tail.shift = m_tail.shift * step->scale + step->shift;
            return true;
        }
        if (m_tail.x != kNone || !m_walk.isBinary(reader, BinaryKind::Mul))
            return false;
        m_tail.x = m_walk.other(reader, at);
        return m_tail.x != kNone && !m_walk.isSame(m_tail.x, at);
    }

    bool isClip() const
    {
        return m_walk.op(m_anchor).is<ops::Clip>() || m_walk.op(m_anchor).is<ops::ClipBetween>();
    }

    /// x may come scaled: x / 2 · (1 + erf(x / √2)).
    std::optional<Unit> unitEndingAt(ValueIndex output)
    {
        if (auto unit = unitOf(output, m_tail.x, 1, {}))
            return unit;
        const NodeIndex before = m_walk.producer(m_walk.root(m_tail.x));
        const auto step = before == kNone ? std::nullopt : m_walk.affine(before);
        if (!step || step->shift != 0)
            return std::nullopt;
        return unitOf(output, step->x, step->scale, {before});
    }

    std::optional<Unit> unitOf(ValueIndex output, ValueIndex x, double factor, std::vector<NodeIndex> more)
    {
        std::vector<NodeIndex> nodes = m_nodes;
        nodes.insert(nodes.end(), more.begin(), more.end());
        nodes.push_back(m_anchor);
        auto whole = functionOf(x, m_tail.scale * factor, m_tail.shift * factor, nodes);
        if (!whole)
            return std::nullopt;
        Unit unit{.kind = m_kind, .nodes = std::move(nodes), .output = output};
        complete(unit, m_walk);
        if (unit.isClosed) {
            unit.whole = std::move(whole);
            unit.inputs = {x};
        }
        return unit;
    }

    /// The function of x that (scale · f + shift) · x is.
    std::optional<ops::Operator> functionOf(ValueIndex x, double scale, double shift,
                                            std::vector<NodeIndex> &nodes)
    {
        const ValueIndex argument = m_walk.inputs(m_anchor)[0];
        if (isClip())
            return hardSwish(x, scale, shift, nodes);
        if (m_walk.isUnary(m_anchor, UnaryKind::Tanh) && isNear(scale, 1) && shift == 0) {
            const NodeIndex inner = m_walk.producer(m_walk.root(argument));
            if (inner == kNone || !m_walk.isUnary(inner, UnaryKind::Softplus)
                || !m_walk.isSame(m_walk.inputs(inner)[0], x))
                return std::nullopt;
            nodes.push_back(inner);
            m_kind = UnitKind::Mish;
            return ops::Unary{UnaryKind::Mish};
        }
        const auto inner = m_walk.cubic(argument, x, nodes);
        if (!inner || (*inner)[0] != 0 || (*inner)[2] != 0)
            return std::nullopt;
        const double linear = (*inner)[1];
        const double cube = (*inner)[3];
        const bool isHalved = isNear(scale, 0.5) && isNear(shift, 0.5);
        if (m_walk.isUnary(m_anchor, UnaryKind::Erf) && isHalved && cube == 0
            && isNear(linear, std::numbers::sqrt2 / 2)) {
            m_kind = UnitKind::Gelu;
            return ops::LeakyRelu{.kind = ops::LeakyRelu::Kind::Gelu};
        }
        const double root = std::sqrt(2 * std::numbers::inv_pi);
        if (m_walk.isUnary(m_anchor, UnaryKind::Tanh) && isHalved && isNear(linear, root)
            && isNear(cube, root * 0.044715)) {
            m_kind = UnitKind::GeluTanh;
            return ops::Unary{UnaryKind::GeluTanh};
        }
        if (!isNear(scale, 1) || shift != 0 || cube != 0)
            return std::nullopt;
        if (m_walk.isUnary(m_anchor, UnaryKind::Sigmoid)) {
            m_kind = UnitKind::Swish;
            return ops::Curve{ops::Curve::Kind::Swish, linear, 0};
        }
        const auto *hard = m_walk.op(m_anchor).getIf<ops::HardSigmoid>();
        if (hard == nullptr || !isNear(hard->alpha * linear, 1.0 / 6) || !isNear(hard->beta, 0.5))
            return std::nullopt;
        m_kind = UnitKind::HardSwish;
        return ops::Unary{UnaryKind::HardSwish};
    }

    /// x · clip(x + 3, 0, 6) / 6, or x · clip(x / 6 + 1/2, 0, 1).
    std::optional<ops::Operator> hardSwish(ValueIndex x, double scale, double shift,
                                           std::vector<NodeIndex> &nodes)
    {
        const auto inner = m_walk.cubic(m_walk.inputs(m_anchor)[0], x, nodes);
        const auto most = highest();
        if (!inner || !most || shift != 0 || (*inner)[2] != 0 || (*inner)[3] != 0 || *most <= 0
            || !isNear(scale * *most, 1) || !isNear((*inner)[1] * scale, 1.0 / 6)
            || !isNear((*inner)[0] * scale, 0.5))
            return std::nullopt;
        m_kind = UnitKind::HardSwish;
        return ops::Unary{UnaryKind::HardSwish};
    }

    /// Of a clip from 0 on.
    std::optional<double> highest() const
    {
        if (const auto *clip = m_walk.op(m_anchor).getIf<ops::Clip>())
            return clip->low == 0 ? std::optional(clip->high) : std::nullopt;
        const auto *between = m_walk.op(m_anchor).getIf<ops::ClipBetween>();
        if (between == nullptr || !between->hasLow || !between->hasHigh
            || m_walk.scalar(m_walk.inputs(m_anchor)[1]) != 0.0)
            return std::nullopt;
        return m_walk.scalar(m_walk.inputs(m_anchor)[2]);
    }

    static constexpr int kMostSteps = 5;

    const Walk &m_walk;
    NodeIndex m_anchor;
    Tail m_tail;
    std::vector<NodeIndex> m_nodes;
    UnitKind m_kind = UnitKind::Gelu;
};

} // namespace

std::optional<Unit> findActivation(const Walk &walk, NodeIndex anchor)
{
    return ActivationSearch(walk, anchor).run();
}

} // namespace halftone::patterns

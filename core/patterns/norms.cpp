#include "core/patterns/walk.h"

#include <algorithm>

namespace halftone::patterns {
namespace {

using ops::BinaryKind;
using ops::Reduce;

/// A norm under construction, from the mean of squares on.
class NormSearch
{
public:
    NormSearch(const Walk &walk, NodeIndex anchor, const Reduce &variance)
        : m_walk(walk)
        , m_anchor(anchor)
        , m_axes(variance.axes)
    {
    }

    std::optional<Unit> run()
    {
        take(m_anchor);
        if (!findBase() || !addsEpsilon() || !findRoot())
            return std::nullopt;
        if (!scaleThenShift() && !normalise())
            return std::nullopt;
        m_unit.kind = m_isCentred ? UnitKind::LayerNorm : UnitKind::RmsNorm;
        m_unit.output = m_at;
        complete(m_unit, m_walk);
        makeWhole();
        return std::move(m_unit);
    }

private:
    void take(NodeIndex node) { m_unit.nodes.push_back(node); }

    /// Goes on to the result of `node`.
    void step(NodeIndex node)
    {
        take(node);
        m_at = m_walk.result(node);
    }

    bool isMeanOf(ValueIndex value, ValueIndex x) const
    {
        const NodeIndex node = m_walk.producer(m_walk.root(value));
        const Reduce *mean = node == kNone ? nullptr : m_walk.reduction(node, Reduce::Kind::Mean);
        return mean != nullptr && mean->axes == m_axes && m_walk.isSame(m_walk.inputs(node)[0], x);
    }

    /// What is squared: x, or what is left of it without its mean.
    bool findBase()
    {
        const NodeIndex square = m_walk.producer(m_walk.root(m_walk.inputs(m_anchor)[0]));
        if (square == kNone || m_walk.exponent(square) != 2.0)
            return false;
        take(square);
        m_base = m_walk.inputs(square)[0];
        const NodeIndex difference = m_walk.producer(m_walk.root(m_base));
        m_isCentred = difference != kNone && m_walk.isBinary(difference, BinaryKind::Sub)
            && isMeanOf(m_walk.inputs(difference)[1], m_walk.inputs(difference)[0]);
        m_x = m_isCentred ? m_walk.inputs(difference)[0] : m_base;
        if (m_isCentred) {
            take(difference);
            m_mean = m_walk.root(m_walk.inputs(difference)[1]);
            take(m_walk.producer(m_mean));
        }
        m_at = m_walk.result(m_anchor);
        return true;
    }

    bool addsEpsilon()
    {
        for (const NodeIndex reader : m_walk.readers(m_at)) {
            const auto sum = m_walk.affine(reader);
            if (!sum || sum->scale != 1 || sum->shift < 0 || sum->shift > kLargestEpsilon)
                continue;
            m_epsilon = sum->shift;
            step(reader);
            return true;
        }
        return false;
    }

    /// The deviation or its reciprocal.
    bool findRoot()
    {
        for (const NodeIndex reader : m_walk.readers(m_at)) {
            const auto power = m_walk.exponent(reader);
            if (power != 0.5 && power != -0.5)
                continue;
            step(reader);
            m_isReciprocal = power == -0.5;
            for (const NodeIndex next : m_walk.readers(m_at)) {
                if (m_isReciprocal || !isReciprocal(next))
                    continue;
                step(next);
                m_isReciprocal = true;
                break;
            }
            return true;
        }
        return false;
    }

    bool isReciprocal(NodeIndex node) const
    {
        if (m_walk.isBinary(node, BinaryKind::Div))
            return m_walk.scalar(m_walk.inputs(node)[0]) == 1.0
                && m_walk.isSame(m_walk.inputs(node)[1], m_at);
        return m_walk.exponent(node) == -1.0;
    }

    /// x without its mean, be it computed a second time.
    bool isBase(ValueIndex value)
    {
        if (value == kNone || m_walk.isSame(value, m_base))
            return value != kNone;
        const NodeIndex again = m_walk.producer(m_walk.root(value));
        if (!m_isCentred || again == kNone || !m_walk.isBinary(again, BinaryKind::Sub)
            || !m_walk.isSame(m_walk.inputs(again)[0], m_x) || !isMeanOf(m_walk.inputs(again)[1], m_x))
            return false;
        take(again);
        take(m_walk.producer(m_walk.root(m_walk.inputs(again)[1])));
        return true;
    }

    bool normalise()
    {
        const ValueIndex deviation = m_at;
        for (const NodeIndex reader : m_walk.readers(deviation)) {
            const ValueIndex base = m_walk.other(reader, deviation);
            const bool divides = !m_isReciprocal && m_walk.isBinary(reader, BinaryKind::Div)
                && m_walk.isSame(m_walk.inputs(reader)[1], deviation);
            const bool multiplies = m_isReciprocal && m_walk.isBinary(reader, BinaryKind::Mul);
            if ((!divides && !multiplies) || !isBase(base))
                continue;
            step(reader);
            takeParameter(BinaryKind::Mul, m_gamma);
            if (m_gamma != kNone && m_isCentred)
                takeParameter(BinaryKind::Add, m_beta);
            return true;
        }
        return false;
    }

    void takeParameter(BinaryKind kind, ValueIndex &parameter)
    {
        const auto readers = m_walk.readers(m_at);
        if (readers.size() != 1 || !m_walk.isBinary(readers[0], kind))
            return;
        const ValueIndex other = m_walk.other(readers[0], m_at);
        if (other == kNone || !m_walk.isFixed(other) || m_walk.isSame(other, m_at))
            return;
        parameter = other;
        step(readers[0]);
    }

    /// x · g + (beta - mean · g) with g = gamma / deviation, as a batch normalisation is written.
    bool scaleThenShift()
    {
        if (!m_isReciprocal || !m_isCentred)
            return false;
        for (const NodeIndex reader : m_walk.readers(m_at)) {
            const ValueIndex gamma
                = m_walk.isBinary(reader, BinaryKind::Mul) ? m_walk.other(reader, m_at) : kNone;
            if (gamma == kNone || !m_walk.isFixed(gamma))
                continue;
            const ValueIndex scale = m_walk.result(reader);
            const NodeIndex data = timesScale(scale, m_x);
            const NodeIndex mean = timesScale(scale, m_mean);
            const NodeIndex shift = mean == kNone ? kNone : shiftBehind(m_walk.result(mean));
            const NodeIndex whole = data == kNone || shift == kNone ? kNone : sumOf(data, shift);
            if (whole == kNone)
                continue;
            for (const NodeIndex node : {reader, data, mean, shift})
                take(node);
            m_gamma = gamma;
            m_beta = m_walk.inputs(shift)[0];
            step(whole);
            return true;
        }
        return false;
    }

    NodeIndex timesScale(ValueIndex scale, ValueIndex value) const
    {
        for (const NodeIndex reader : m_walk.readers(scale))
            if (m_walk.isBinary(reader, BinaryKind::Mul) && m_walk.other(reader, scale) != kNone
                && m_walk.isSame(m_walk.other(reader, scale), value))
                return reader;
        return kNone;
    }

    NodeIndex shiftBehind(ValueIndex scaledMean) const
    {
        for (const NodeIndex reader : m_walk.readers(scaledMean))
            if (m_walk.isBinary(reader, BinaryKind::Sub)
                && m_walk.isSame(m_walk.inputs(reader)[1], scaledMean)
                && m_walk.isFixed(m_walk.inputs(reader)[0]))
                return reader;
        return kNone;
    }

    NodeIndex sumOf(NodeIndex a, NodeIndex b) const
    {
        const ValueIndex left = m_walk.result(a);
        for (const NodeIndex reader : m_walk.readers(left))
            if (m_walk.isBinary(reader, BinaryKind::Add) && m_walk.other(reader, left) != kNone
                && m_walk.isSame(m_walk.other(reader, left), m_walk.result(b)))
                return reader;
        return kNone;
    }

    /// The number of axes when they are known to be the last ones; 0.
    std::size_t trailingAxes() const
    {
        const tensor::Shape &shape = m_walk.network().values[m_x].shape;
        std::vector<std::int64_t> axes = m_axes;
        for (std::int64_t &axis : axes) {
            if (axis >= 0 && !shape.hasRank())
                return 0;
            axis -= axis >= 0 ? static_cast<std::int64_t>(shape.rank()) : 0;
        }
        std::ranges::sort(axes);
        for (std::size_t k = 0; k < axes.size(); ++k)
            if (axes[k] != static_cast<std::int64_t>(k) - static_cast<std::int64_t>(axes.size()))
                return 0;
        return axes.size();
    }

    /// Does a parameter stretch to the last `axes` axes alone?
    bool stretches(ValueIndex parameter, std::size_t axes) const
    {
        const tensor::Shape &shape = m_walk.network().values[parameter].shape;
        if (!shape.hasRank())
            return false;
        for (std::size_t k = 0; k + axes < shape.rank(); ++k)
            if (shape[k] != 1)
                return false;
        return shape.rank() <= axes;
    }

    /// Do all nodes read x as it is, not some a cast of it?
    bool readsOneForm() const
    {
        return std::ranges::none_of(m_unit.nodes, [this](NodeIndex node) {
            return std::ranges::any_of(m_walk.inputs(node), [this](ValueIndex value) {
                return value != m_x && m_walk.isSame(value, m_x);
            });
        });
    }

    void makeWhole()
    {
        const std::size_t axes = trailingAxes();
        if (!m_unit.isClosed || axes == 0 || m_gamma == kNone || !stretches(m_gamma, axes)
            || (m_beta != kNone && !stretches(m_beta, axes)) || !readsOneForm())
            return;
        m_unit.whole = ops::LayerNormalization{-static_cast<std::int64_t>(axes), m_epsilon, m_beta != kNone,
                                               m_isCentred};
        m_unit.inputs = {m_x, m_gamma};
        if (m_beta != kNone)
            m_unit.inputs.push_back(m_beta);
    }

    static constexpr double kLargestEpsilon = 0.1; ///< what is more is no guard against division by 0

    const Walk &m_walk;
    NodeIndex m_anchor;
    ops::Dims m_axes;
    Unit m_unit;
    ValueIndex m_at = kNone;
    ValueIndex m_x = kNone;
    ValueIndex m_base = kNone;
    ValueIndex m_mean = kNone;
    ValueIndex m_gamma = kNone;
    ValueIndex m_beta = kNone;
    bool m_isCentred = false;
    bool m_isReciprocal = false;
    double m_epsilon = 0;
};

} // namespace

std::optional<Unit> findNorm(const Walk &walk, NodeIndex anchor)
{
    const Reduce *variance = walk.reduction(anchor, Reduce::Kind::Mean);
    return variance == nullptr || variance->axes.empty() ? std::nullopt
                                                         : NormSearch(walk, anchor, *variance).run();
}

std::optional<Unit> findOperator(const Walk &walk, NodeIndex anchor)
{
    const auto *const norm = walk.op(anchor).getIf<ops::LayerNormalization>();
    const CallFacts *const call = walk.call(anchor);
    const bool isNorm
        = (norm != nullptr && !norm->centred) || (call != nullptr && call->norm == CallFacts::Norm::Rms);
    if (!isNorm && !walk.op(anchor).is<ops::RotaryEmbedding>())
        return std::nullopt;
    Unit unit{.kind = isNorm ? UnitKind::RmsNorm : UnitKind::RotaryEmbedding, .nodes = {anchor}};
    unit.output = walk.result(anchor);
    unit.inputs = {walk.inputs(anchor)[0]};
    complete(unit, walk);
    return unit;
}

std::optional<Unit> findSoftmax(const Walk &walk, NodeIndex anchor)
{
    const Reduce *sum = walk.reduction(anchor, Reduce::Kind::Sum);
    if (sum == nullptr || sum->axes.empty())
        return std::nullopt;
    const ValueIndex powers = walk.inputs(anchor)[0];
    const NodeIndex exp = walk.producer(walk.root(powers));
    if (exp == kNone || !walk.isUnary(exp, ops::UnaryKind::Exp))
        return std::nullopt;
    Unit unit{.kind = UnitKind::Softmax, .nodes = {anchor, exp}};
    ValueIndex x = walk.inputs(exp)[0];
    const NodeIndex difference = walk.producer(walk.root(x));
    bool isSafe = false;
    if (difference != kNone && walk.isBinary(difference, BinaryKind::Sub)) {
        const NodeIndex node = walk.producer(walk.root(walk.inputs(difference)[1]));
        const Reduce *most = node == kNone ? nullptr : walk.reduction(node, Reduce::Kind::Max);
        isSafe = most != nullptr && most->axes == sum->axes
            && walk.isSame(walk.inputs(node)[0], walk.inputs(difference)[0]);
        if (isSafe) {
            unit.nodes.insert(unit.nodes.end(), {difference, node});
            x = walk.inputs(difference)[0];
        }
    }
    ValueIndex total = walk.result(anchor);
    for (const NodeIndex reader : walk.readers(total))
        if (walk.exponent(reader) == -1.0) {
            unit.nodes.push_back(reader);
            total = walk.result(reader);
            break;
        }
    const BinaryKind last = total == walk.result(anchor) ? BinaryKind::Div : BinaryKind::Mul;
    for (const NodeIndex reader : walk.readers(total)) {
        const ValueIndex numerator = walk.isBinary(reader, last) ? walk.other(reader, total) : kNone;
        if (numerator == kNone || !walk.isSame(numerator, powers)
            || (last == BinaryKind::Div && !walk.isSame(walk.inputs(reader)[1], total)))
            continue;
        unit.nodes.push_back(reader);
        unit.output = walk.result(reader);
        complete(unit, walk);
        if (unit.isClosed && isSafe && sum->axes.size() == 1) {
            unit.whole = ops::Softmax{.axis = sum->axes[0]};
            unit.inputs = {x};
        }
        return unit;
    }
    return std::nullopt;
}

} // namespace halftone::patterns

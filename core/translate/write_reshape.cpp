#include "core/translate/writers.h"

#include <algorithm>
#include <array>

namespace halftone::translate {
namespace {

using ops::Dims;

/// One extent of a new shape, as it follows from the old one.
struct Extent
{
    enum class From
    {
        Number,
        Axis,
        TwoAxes,
        Quotient,
        Rest
    } from
        = From::Number;
    std::int64_t number = 0; ///< Number: it; Quotient: the divisor
    std::size_t axis = 0; ///< Axis, Quotient: which; TwoAxes: the first of the two
};

/// Reads the codes of ops::Reshape.
class CodeReader
{
public:
    CodeReader(const ops::Reshape &op, std::size_t rank)
        : m_op(op)
        , m_rank(rank)
    {
    }

    /// Nothing for codes that don't go with the rank.
    std::optional<std::vector<Extent>> read()
    {
        for (std::size_t k = 0; k < m_op.shape.size(); ++k) {
            if (!readOne(k))
                return std::nullopt;
        }
        return std::move(m_extents);
    }

private:
    using From = Extent::From;

    bool readOne(std::size_t &k)
    {
        const std::int64_t code = m_op.shape[k];
        if (code == -4)
            return readSplit(k);
        const bool needsAxis = code == 0 && !m_op.zeroIsExtent;
        if ((needsAxis && m_axis >= m_rank) || (code == -3 && m_axis + 2 > m_rank) || code < -4)
            return false;
        if (code == -2) {
            while (m_axis < m_rank)
                m_extents.push_back({From::Axis, 0, m_axis++});
            return true;
        }
        if (code == -3) {
            m_extents.push_back({From::TwoAxes, 0, m_axis});
            m_axis += 2;
            return true;
        }
        if (needsAxis)
            m_extents.push_back({From::Axis, 0, m_axis});
        else if (code == -1)
            m_extents.push_back({From::Rest});
        else
            m_extents.push_back({From::Number, code});
        ++m_axis;
        return true;
    }

    bool readSplit(std::size_t &k)
    {
        if (k + 2 >= m_op.shape.size() || m_axis >= m_rank)
            return false;
        const std::int64_t first = m_op.shape[k + 1];
        const std::int64_t second = m_op.shape[k + 2];
        if ((first < 1 && second < 1) || first < -1 || second < -1)
            return false;
        m_extents.push_back(first > 0 ? Extent{From::Number, first} : Extent{From::Quotient, second, m_axis});
        m_extents.push_back(second > 0 ? Extent{From::Number, second}
                                       : Extent{From::Quotient, first, m_axis});
        k += 2;
        ++m_axis;
        return true;
    }

    const ops::Reshape &m_op;
    std::size_t m_rank;
    std::size_t m_axis = 0;
    std::vector<Extent> m_extents;
};

Value reshaped(NodeWriter &to, const Value &value, const Value &shape)
{
    return to.add("Reshape", {value, shape});
}

/// An extent as ONNX's Reshape takes it: 0 copies the axis of the same place, -1 is what is left. Nothing where it takes more.
std::optional<std::int64_t> codeOf(const Extent &extent, std::size_t place, const tensor::Shape &shape,
                                   bool &hasRest)
{
    switch (extent.from) {
    case Extent::From::Number:
        return extent.number;
    case Extent::From::Axis:
        if (extent.axis == place)
            return 0;
        if (shape[extent.axis] > 0)
            return shape[extent.axis];
        break;
    case Extent::From::TwoAxes:
        if (shape[extent.axis] > 0 && shape[extent.axis + 1] > 0)
            return shape[extent.axis] * shape[extent.axis + 1];
        break;
    case Extent::From::Quotient:
        if (shape[extent.axis] > 0)
            return shape[extent.axis] / extent.number;
        break;
    case Extent::From::Rest:
        break;
    }
    if (std::exchange(hasRest, true))
        return std::nullopt;
    return -1;
}

/// The shape by codes alone; nothing where it takes more than one extent that is not known.
std::optional<Dims> codesOf(const std::vector<Extent> &extents, const tensor::Shape &shape)
{
    bool hasRest = std::ranges::any_of(extents, [](const Extent &e) { return e.from == Extent::From::Rest; });
    const bool isRestWritten = hasRest;
    Dims codes;
    for (std::size_t k = 0; k < extents.size(); ++k) {
        bool taken = isRestWritten && extents[k].from != Extent::From::Rest;
        bool &rest = isRestWritten ? taken : hasRest;
        const auto code = codeOf(extents[k], k, shape, rest);
        if (!code)
            return std::nullopt;
        codes.push_back(*code);
    }
    return codes;
}

/// The shape computed from that of the data.
Value computedShape(NodeWriter &to, const std::vector<Extent> &extents)
{
    const Value shape = to.add("Shape", {to.in()});
    const auto axisOf = [&](std::size_t axis) {
        return to.add("Gather", {shape, to.integers("axis", {static_cast<std::int64_t>(axis)})});
    };
    Values parts;
    for (const Extent &extent : extents) {
        switch (extent.from) {
        case Extent::From::Number:
            parts.push_back(to.integers("extent", {extent.number}));
            break;
        case Extent::From::Rest:
            parts.push_back(to.integers("rest", {-1}));
            break;
        case Extent::From::Axis:
            parts.push_back(axisOf(extent.axis));
            break;
        case Extent::From::TwoAxes:
            parts.push_back(to.add("Mul", {axisOf(extent.axis), axisOf(extent.axis + 1)}));
            break;
        case Extent::From::Quotient:
            parts.push_back(to.add("Div", {axisOf(extent.axis), to.integers("divisor", {extent.number})}));
            break;
        }
    }
    return to.add("Concat", parts, {{"axis", "0"}});
}

/// Where the extents are known, or all but one, they are written as they are.
std::optional<Dims> literalShape(const tensor::Shape &out)
{
    if (!out.hasRank()
        || std::ranges::count_if(out.dims(), [](std::int64_t extent) { return extent < 1; }) > 1
        || std::ranges::find(out.dims(), 0) != out.dims().end())
        return std::nullopt;
    return Dims(out.dims().begin(), out.dims().end());
}

Result<void> writeReshape(NodeWriter &to, const ops::Reshape &op)
{
    std::optional<std::vector<Extent>> extents;
    if (to.shape(0).hasRank() && !op.reverse)
        extents = CodeReader(op, to.shape(0).rank()).read();
    std::optional<Dims> codes;
    if (extents)
        codes = codesOf(*extents, to.shape(0));
    if (!codes)
        codes = literalShape(to.outShape());
    if (codes) {
        const bool isZeroSize = op.zeroIsExtent && std::ranges::find(*codes, 0) != codes->end();
        to.set(to.add("Reshape", {to.in(), to.integers("shape", *codes)},
                      isZeroSize ? graph::Attributes{{"allowzero", "1"}} : graph::Attributes{}));
        return {};
    }
    if (!extents)
        return to.unknownShape();
    to.set(reshaped(to, to.in(), computedShape(to, *extents)));
    return {};
}

Result<void> writeFlatten(NodeWriter &to, const ops::Flatten &op)
{
    to.set(to.add("Flatten", {to.in()}, {{"axis", text(op.axis)}}));
    return {};
}

Result<void> writeUnsqueeze(NodeWriter &to, const ops::Unsqueeze &op)
{
    to.set(to.add("Unsqueeze", {to.in(), to.integers("axes", op.axes)}));
    return {};
}

Result<void> writeSqueeze(NodeWriter &to, const ops::Squeeze &op)
{
    const tensor::Shape &shape = to.shape(0);
    const bool losesAll = op.atLeastRank1
        && (!shape.hasRank()
            || std::ranges::count(shape.dims(), 1) == static_cast<std::ptrdiff_t>(shape.rank())
            || std::ranges::find(shape.dims(), tensor::Shape::kUnknown) != shape.dims().end());
    if (losesAll && !op.axes) {
        if (!shape.isComplete())
            return to.unknownShape();
        to.set(reshaped(to, to.in(), to.integers("shape", {1})));
        return {};
    }
    Values inputs{to.in()};
    if (op.axes)
        inputs.push_back(to.integers("axes", *op.axes));
    to.set(to.add("Squeeze", inputs));
    return {};
}

Result<void> writeReshapeLike(NodeWriter &to, const ops::ReshapeLike &op)
{
    if (!op.begin && !op.end && !op.likeBegin && !op.likeEnd) {
        to.set(reshaped(to, to.in(), to.add("Shape", {to.in(1)})));
        return {};
    }
    HALFTONE_TRY(const std::size_t rank, to.rank(0));
    HALFTONE_TRY(const std::size_t likeRank, to.rank(1));
    const auto place = [](std::optional<std::int64_t> axis, std::int64_t fallback, std::size_t count) {
        const std::int64_t value = axis.value_or(fallback);
        return value < 0 ? value + static_cast<std::int64_t>(count) : value;
    };
    const auto count = static_cast<std::int64_t>(rank);
    const auto likeCount = static_cast<std::int64_t>(likeRank);
    const auto part = [&](std::size_t input, std::int64_t begin, std::int64_t end) {
        return to.add("Shape", {to.in(input)}, {{"start", text(begin)}, {"end", text(end)}});
    };
    to.set(reshaped(to, to.in(),
                    to.add("Concat",
                           {part(0, 0, place(op.begin, 0, rank)),
                            part(1, place(op.likeBegin, 0, likeRank), place(op.likeEnd, likeCount, likeRank)),
                            part(0, place(op.end, count, rank), count)},
                           {{"axis", "0"}})));
    return {};
}

} // namespace

std::span<const WriterRow> reshapeWriters()
{
    static constexpr std::array kRows{
        writes<ops::Reshape, writeReshape>(),         writes<ops::Flatten, writeFlatten>(),
        writes<ops::Unsqueeze, writeUnsqueeze>(),     writes<ops::Squeeze, writeSqueeze>(),
        writes<ops::ReshapeLike, writeReshapeLike>(),
    };
    return kRows;
}

} // namespace halftone::translate

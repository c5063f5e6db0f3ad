#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

enum Code : std::int64_t
{
    kCopy = 0,
    kInfer = -1,
    kCopyRest = -2,
    kMerge = -3,
    kSplit = -4
};

/// Runs the codes over the input's dimensions. Each copied, merged or split dimension goes over exactly,
/// known or not, so the one that is inferred only depends on the others.
class Reshaper
{
public:
    Reshaper(std::vector<Dim> input, bool zeroIsExtent)
        : m_input(std::move(input))
        , m_zeroIsExtent(zeroIsExtent)
    {
    }

    Result<std::vector<Dim>> run(const Dims &codes)
    {
        for (std::size_t i = 0; i < codes.size(); ++i) {
            if (codes[i] == kSplit) {
                if (codes.size() - i < 3)
                    return badAttribute("shape", "-4 at the end", "-4 and two factors");
                HALFTONE_CHECK(split(codes[i + 1], codes[i + 2]));
                i += 2;
            } else {
                HALFTONE_CHECK(apply(codes[i]));
            }
        }
        while (m_next < m_input.size())
            leave(m_input[m_next++]);
        HALFTONE_CHECK(fillInferred());
        return std::move(m_output);
    }

private:
    Result<void> apply(std::int64_t code)
    {
        switch (code == kCopy && m_zeroIsExtent ? kLiteral : code) {
        case kCopy:
            HALFTONE_CHECK(need(1));
            m_output.push_back(m_input[m_next++]);
            return {};
        case kInfer:
            if (m_inferred)
                return badAttribute("shape", "-1 twice", "one dimension to infer");
            m_inferred = m_output.size();
            m_output.push_back(Dim::unknown());
            skip();
            return {};
        case kCopyRest:
            m_output.insert(m_output.end(), m_input.begin() + static_cast<std::ptrdiff_t>(m_next),
                            m_input.end());
            m_next = m_input.size();
            return {};
        case kMerge:
            HALFTONE_CHECK(need(2));
            m_output.push_back(m_input[m_next] * m_input[m_next + 1]);
            m_next += 2;
            return {};
        default:
            HALFTONE_CHECK(needAtLeast("shape", code, kSplit));
            m_output.push_back(code);
            m_literals = m_literals * code;
            skip();
            return {};
        }
    }

    Result<void> split(std::int64_t first, std::int64_t second)
    {
        HALFTONE_CHECK(need(1));
        const Dim whole = m_input[m_next++];
        if (first < kInfer || second < kInfer || first == 0 || second == 0
            || (first == kInfer && second == kInfer))
            return badAttribute("shape",
                                "-4 with " + std::to_string(first) + " and " + std::to_string(second),
                                "factors, at most one of them -1");
        const Dim a = first == kInfer ? whole / second : Dim(first);
        const Dim b = second == kInfer ? whole / first : Dim(second);
        const Dim both = a * b;
        if (both.isOutOfRange() || (whole.isKnown() && both.value() != whole.value()))
            return badAttribute("shape",
                                "-4 with " + std::to_string(first) + " and " + std::to_string(second),
                                "factors of " + std::to_string(whole.orUnknown()));
        m_output.insert(m_output.end(), {a, b});
        return {};
    }

    Result<void> need(std::size_t count) const
    {
        if (m_input.size() - m_next < count)
            return badAttribute("shape", "a code for a dimension after the last",
                                "at most " + std::to_string(m_input.size()) + " dimensions");
        return {};
    }

    /// A literal or inferred dimension passes one input dimension by.
    void skip()
    {
        if (m_next < m_input.size())
            leave(m_input[m_next++]);
    }
    void leave(Dim dim) { m_left = m_left * dim; }

    Result<void> fillInferred()
    {
        if (m_left.isOutOfRange() || m_literals.isOutOfRange())
            return badAttribute("shape", "a number of elements out of range", "below 2^63");
        if (!m_left.isKnown() || !m_literals.isKnown())
            return {};
        const bool divides = m_literals.value() != 0 && m_left.value() % m_literals.value() == 0;
        if (m_inferred ? !divides : m_left.value() != m_literals.value())
            return badAttribute("shape", std::to_string(m_literals.value()) + " elements",
                                (m_inferred ? "a divisor of " : "") + std::to_string(m_left.value()));
        if (m_inferred)
            m_output[*m_inferred] = m_left / m_literals;
        return {};
    }

    static constexpr std::int64_t kLiteral = 1;

    std::vector<Dim> m_input;
    bool m_zeroIsExtent;
    std::vector<Dim> m_output;
    std::size_t m_next = 0;
    std::optional<std::size_t> m_inferred;
    Dim m_left = 1; ///< product of the input's dimensions that no code carried over
    Dim m_literals = 1;
};

/// Fills the one unknown dimension of input 0 from the number of elements of the output.
Result<void> learnFromCount(ShapeSlots &slots)
{
    const std::optional<std::int64_t> count = slots.output(0).elementCount();
    tensor::Shape data = slots.input(0);
    if (!count || !data.hasRank()
        || std::ranges::count_if(data.dims(), [](std::int64_t dim) { return dim < 0; }) != 1)
        return {};
    const auto open = static_cast<std::size_t>(
        std::ranges::find_if(data.dims(), [](std::int64_t dim) { return dim < 0; }) - data.dims().begin());
    data[open] = 1;
    const Dim others = product(data, 0, data.rank());
    if (!others.isKnown() || others.value() < 1 || *count % others.value() != 0)
        return {};
    data[open] = *count / others.value();
    return slots.setInput(0, data);
}

Result<void> needSameCount(const ShapeSlots &slots, Dim a, Dim b)
{
    if (a.isKnown() && b.isKnown() && a.value() != b.value())
        return slots.wrongInput(1, "as many elements as " + slots.input(0).toString() + " has there");
    return {};
}

/// [begin, end) of a shape's axes, as optional and possibly negative positions say it.
Result<std::pair<std::size_t, std::size_t>> axisRange(std::optional<std::int64_t> begin,
                                                      std::optional<std::int64_t> end, std::size_t rank)
{
    const auto size = static_cast<std::int64_t>(rank);
    const auto position = [size](std::int64_t value) { return value < 0 ? value + size : value; };
    const std::int64_t first = position(begin.value_or(0));
    const std::int64_t last = position(end.value_or(size));
    if (first < 0 || last < first || last > size)
        return badAttribute("range", std::to_string(first) + " to " + std::to_string(last),
                            "inside 0 to " + std::to_string(size));
    return std::pair(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
}

} // namespace

Result<void> infer(const Reshape &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> input = dimsOf(slots.input(0));
    Dims codes = op.shape;
    if (op.reverse) {
        std::ranges::reverse(input);
        std::ranges::reverse(codes);
    }
    HALFTONE_TRY(std::vector<Dim> output, Reshaper(std::move(input), op.zeroIsExtent).run(codes));
    if (op.reverse)
        std::ranges::reverse(output);
    HALFTONE_CHECK(slots.setOutput(0, output));
    return learnFromCount(slots);
}

Result<void> infer(const Flatten &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    const auto rank = static_cast<std::int64_t>(data.rank());
    const std::int64_t axis = op.axis < 0 ? op.axis + rank : op.axis;
    if (axis < 0 || axis > rank)
        return slots.wrongInput(0, "rank " + std::to_string(op.axis < 0 ? -op.axis : op.axis) + " or more");
    const auto first = static_cast<std::size_t>(axis);
    return slots.setOutput(0, {product(data, 0, first), product(data, first, data.rank())});
}

Result<void> infer(const ReshapeLike &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    const tensor::Shape &like = slots.input(1);
    if (!data.hasRank() || !like.hasRank())
        return {};
    HALFTONE_TRY(const auto from, axisRange(op.begin, op.end, data.rank()));
    HALFTONE_TRY(const auto to, axisRange(op.likeBegin, op.likeEnd, like.rank()));
    HALFTONE_CHECK(
        needSameCount(slots, product(data, from.first, from.second), product(like, to.first, to.second)));
    const std::vector<Dim> dataDims = dimsOf(data);
    const std::vector<Dim> likeDims = dimsOf(like);
    const auto at = [](const std::vector<Dim> &dims, std::size_t i) {
        return dims.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::vector<Dim> output(dataDims.begin(), at(dataDims, from.first));
    output.insert(output.end(), at(likeDims, to.first), at(likeDims, to.second));
    output.insert(output.end(), at(dataDims, from.second), dataDims.end());
    return slots.setOutput(0, output);
}

} // namespace halftone::ops

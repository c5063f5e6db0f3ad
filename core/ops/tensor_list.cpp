#include "core/ops/tensor_list.h"

#include "core/tensor/elements.h"

#include <algorithm>
#include <cstring>

namespace halftone::ops {
namespace {

using tensor::DType;
using tensor::Shape;

constexpr std::size_t kWord = sizeof(std::int64_t);
constexpr std::size_t kMostAxes = 64;

std::size_t padded(std::size_t bytes)
{
    return (bytes + kWord - 1) / kWord * kWord;
}

/// Takes words and bytes off the front.
class ListReader
{
public:
    explicit ListReader(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {
    }

    std::optional<std::int64_t> word()
    {
        std::int64_t value = 0;
        if (m_bytes.size() < kWord)
            return std::nullopt;
        std::memcpy(&value, m_bytes.data(), kWord);
        m_bytes = m_bytes.subspan(kWord);
        return value;
    }
    std::optional<std::span<const std::byte>> take(std::size_t count)
    {
        if (count > m_bytes.size() || padded(count) > m_bytes.size())
            return std::nullopt;
        const auto taken = m_bytes.first(count);
        m_bytes = m_bytes.subspan(padded(count));
        return taken;
    }
    std::optional<TypedBytes> part(DType type)
    {
        const auto rank = word();
        if (!rank || *rank < 0 || *rank > static_cast<std::int64_t>(kMostAxes))
            return std::nullopt;
        std::vector<std::int64_t> dims;
        for (std::int64_t k = 0; k < *rank; ++k) {
            const auto extent = word();
            if (!extent || *extent < 0)
                return std::nullopt;
            dims.push_back(*extent);
        }
        TypedBytes made{type, Shape(std::move(dims)), {}};
        const auto count = made.shape.elementCount();
        if (!count || static_cast<std::size_t>(*count) > m_bytes.size())
            return std::nullopt;
        const auto bytes = take(static_cast<std::size_t>(*count) * tensor::sizeOf(type));
        if (!bytes)
            return std::nullopt;
        made.bytes = *bytes;
        return made;
    }
    bool isDone() const { return m_bytes.empty(); }

private:
    std::span<const std::byte> m_bytes;
};

std::vector<std::int64_t> integersOf(const TypedBytes &input)
{
    std::vector<std::int64_t> values;
    for (std::size_t k = 0; k < input.bytes.size() / tensor::sizeOf(input.type); ++k) {
        if (input.type == DType::I32) {
            std::int32_t value = 0;
            std::memcpy(&value, input.bytes.data() + k * sizeof value, sizeof value);
            values.push_back(value);
        } else {
            std::int64_t value = 0;
            std::memcpy(&value, input.bytes.data() + k * sizeof value, sizeof value);
            values.push_back(value);
        }
    }
    return values;
}

/// A place among `count`, from the end where negative; without an input `otherwise`.
/// between: a place before one of them, or behind the last, which no negative number says
Result<std::size_t> placeOf(const TypedBytes *input, std::size_t count, std::size_t otherwise,
                            bool between = false)
{
    if (input == nullptr)
        return otherwise;
    if ((input->type != DType::I32 && input->type != DType::I64) || integersOf(*input).size() != 1)
        return badInput("position", input->shape.toString(), "one whole number");
    const std::int64_t written = integersOf(*input)[0];
    const auto size = static_cast<std::int64_t>(count);
    const std::int64_t place = written < 0 ? written + size : written;
    if (place < 0 || place >= size + (between ? 1 : 0))
        return badInput("position", std::to_string(written), "a place among " + std::to_string(count));
    return static_cast<std::size_t>(place);
}

/// Extents around an axis.
struct AxisRuns
{
    std::size_t outer = 1;
    std::size_t length = 1;
    std::size_t inner = 1; ///< in bytes

    AxisRuns(const Shape &shape, std::size_t axis, std::size_t elementSize)
        : inner(elementSize)
    {
        for (std::size_t k = 0; k < shape.rank(); ++k)
            (k < axis ? outer : k == axis ? length : inner) *= static_cast<std::size_t>(shape[k]);
    }
};

Result<std::size_t> axisOf(std::int64_t axis, std::size_t rank)
{
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count)
        return badInput("axis", std::to_string(axis), "one of " + std::to_string(rank));
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

/// How long the parts are that an axis is cut into.
Result<std::vector<std::int64_t>> lengthsOf(const TypedBytes *input, std::int64_t extent)
{
    if (input == nullptr)
        return std::vector<std::int64_t>(static_cast<std::size_t>(extent), 1);
    if (input->type != DType::I32 && input->type != DType::I64)
        return badInput("split", std::string(tensor::nameOf(input->type)), "whole numbers");
    std::vector<std::int64_t> lengths = integersOf(*input);
    if (input->shape.rank() == 0) {
        const std::int64_t each = lengths.empty() ? 0 : lengths[0];
        if (each < 1)
            return badInput("split", std::to_string(each), "1 or more");
        lengths.assign(static_cast<std::size_t>(extent / each), each);
        if (extent % each != 0)
            lengths.push_back(extent % each);
    }
    std::int64_t left = extent;
    for (const std::int64_t length : lengths) {
        if (length < 0 || length > left)
            return badInput("split", std::to_string(length),
                            "lengths that sum up to " + std::to_string(extent));
        left -= length;
    }
    if (left != 0)
        return badInput("split", "lengths with a remainder of " + std::to_string(left),
                        "lengths that sum up to " + std::to_string(extent));
    return lengths;
}

} // namespace

Shape nothingShape()
{
    return Shape(std::vector<std::int64_t>(kMostAxes + 1, 0));
}

Result<std::vector<TypedBytes>> tensorsOf(const TypedBytes &list)
{
    ListReader reader(list.bytes);
    const auto count = reader.word();
    const Error bad = badInput("list", "a tensor of shape " + list.shape.toString(), "a list of tensors");
    if (list.shape.rank() != 1 || !count || *count < 0
        || static_cast<std::size_t>(*count) > list.bytes.size())
        return bad;
    std::vector<TypedBytes> parts;
    for (std::int64_t k = 0; k < *count; ++k) {
        const auto part = reader.part(list.type);
        if (!part)
            return bad;
        parts.push_back(*part);
    }
    return reader.isDone() ? Result(std::move(parts)) : Result<std::vector<TypedBytes>>(bad);
}

Result<ListResult> ListResult::of(const TensorList &op, std::span<const TypedBytes> inputs)
{
    ListResult result;
    HALFTONE_CHECK(result.compute(op, inputs));
    return result;
}

Result<void> ListResult::compute(const TensorList &op, std::span<const TypedBytes> inputs)
{
    using enum TensorList::Kind;
    if (op.kind == Construct || op.kind == Empty) {
        m_parts.assign(inputs.begin(), inputs.end());
        return {};
    }
    if (op.isOfOptional())
        return choose(op, inputs);
    if (inputs.empty() || (inputs.size() < 2 && (op.kind == At || op.kind == Insert)))
        return badInput({}, std::to_string(inputs.size()) + " inputs", "a list and its arguments");
    if (op.kind == Split)
        return split(op, inputs);
    HALFTONE_TRY(std::vector<TypedBytes> parts, tensorsOf(inputs[0]));
    const TypedBytes *const place = inputs.size() > (op.kind == Insert ? 2 : 1) ? &inputs.back() : nullptr;
    const auto at = [&parts](std::size_t k) { return parts.begin() + static_cast<std::ptrdiff_t>(k); };
    switch (op.kind) {
    case Join:
        return join(op, parts);
    case Length: {
        const auto count = static_cast<std::int64_t>(parts.size());
        m_own.emplace_back(kWord);
        std::memcpy(m_own.back().data(), &count, kWord);
        setTensor({DType::I64, Shape(std::vector<std::int64_t>()), m_own.back()});
        return {};
    }
    case At: {
        HALFTONE_TRY(const std::size_t k, placeOf(place, parts.size(), 0));
        setTensor(parts[k]);
        return {};
    }
    case Erase: {
        HALFTONE_TRY(const std::size_t k, placeOf(place, parts.size(), parts.size() - 1));
        if (k >= parts.size())
            return badInput("list", "the list is empty", "at least one tensor");
        parts.erase(at(k));
        break;
    }
    default: {
        HALFTONE_TRY(const std::size_t k, placeOf(place, parts.size(), parts.size(), true));
        parts.insert(at(k), inputs[1]);
        break;
    }
    }
    m_parts = std::move(parts);
    return {};
}

/// An optional value is the value itself; operators that ask for one take values that are none as well.
Result<void> ListResult::choose(const TensorList &op, std::span<const TypedBytes> inputs)
{
    const bool isThere = !inputs.empty() && inputs[0].shape != nothingShape();
    if (op.kind == TensorList::Kind::Has) {
        m_own.push_back({std::byte(isThere)});
        setTensor({DType::Bool, Shape(std::vector<std::int64_t>()), m_own.back()});
        return {};
    }
    if (op.kind == TensorList::Kind::Get && !isThere)
        return badInput({}, "the optional is empty", "an optional with a value");
    setTensor(isThere ? inputs[0] : TypedBytes{op.type, nothingShape(), {}});
    return {};
}

Result<void> ListResult::split(const TensorList &op, std::span<const TypedBytes> inputs)
{
    const TypedBytes &whole = inputs[0];
    HALFTONE_TRY(const std::size_t axis, axisOf(op.axis, whole.shape.rank()));
    const bool isEach = inputs.size() < 2;
    HALFTONE_TRY(const std::vector<std::int64_t> lengths,
                 lengthsOf(isEach ? nullptr : &inputs[1], whole.shape[axis]));
    const AxisRuns runs(whole.shape, axis, tensor::sizeOf(whole.type));
    std::size_t begin = 0;
    for (const std::int64_t length : lengths) {
        std::vector<std::int64_t> dims(whole.shape.dims().begin(), whole.shape.dims().end());
        dims[axis] = length;
        if (isEach && !op.keepsAxis)
            dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
        const std::size_t run = static_cast<std::size_t>(length) * runs.inner;
        std::vector<std::byte> &bytes = m_own.emplace_back(runs.outer * run);
        for (std::size_t o = 0; o < runs.outer && run > 0; ++o)
            std::memcpy(bytes.data() + o * run, whole.bytes.data() + (o * runs.length + begin) * runs.inner,
                        run);
        begin += static_cast<std::size_t>(length);
        m_parts.push_back({whole.type, Shape(std::move(dims)), bytes});
    }
    return {};
}

Result<void> ListResult::join(const TensorList &op, const std::vector<TypedBytes> &parts)
{
    if (parts.empty())
        return badInput("list", "the list is empty", "at least one tensor");
    const std::size_t rank = parts[0].shape.rank() + (op.newAxis ? 1 : 0);
    HALFTONE_TRY(const std::size_t axis, axisOf(op.axis, rank));
    std::vector<std::vector<std::int64_t>> shapes;
    std::int64_t extent = 0;
    for (const TypedBytes &part : parts) {
        auto &dims = shapes.emplace_back(part.shape.dims().begin(), part.shape.dims().end());
        if (op.newAxis)
            dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(std::min(axis, dims.size())), 1);
        if (dims.size() == rank)
            extent += dims[axis];
        bool fits = dims.size() == rank;
        for (std::size_t k = 0; fits && k < rank; ++k)
            fits = k == axis || dims[k] == shapes[0][k];
        if (!fits)
            return badInput(
                "list", "tensors of shapes " + parts[0].shape.toString() + " and " + part.shape.toString(),
                "shapes that differ along axis " + std::to_string(axis) + " alone");
    }
    std::vector<std::int64_t> dims = shapes[0];
    dims[axis] = extent;
    const Shape shape(dims);
    const AxisRuns runs(shape, axis, tensor::sizeOf(parts[0].type));
    std::vector<std::byte> &bytes = m_own.emplace_back(runs.outer * runs.length * runs.inner);
    std::size_t begin = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const std::size_t run = static_cast<std::size_t>(shapes[k][axis]) * runs.inner;
        for (std::size_t o = 0; o < runs.outer && run > 0; ++o)
            std::memcpy(bytes.data() + o * runs.length * runs.inner + begin, parts[k].bytes.data() + o * run,
                        run);
        begin += run;
    }
    setTensor({parts[0].type, shape, bytes});
    return {};
}

void ListResult::setTensor(const TypedBytes &tensor)
{
    m_isList = false;
    m_parts = {tensor};
}

Shape ListResult::shape(DType type) const
{
    if (!m_isList)
        return m_parts[0].shape;
    std::size_t bytes = kWord;
    for (const TypedBytes &part : m_parts)
        bytes += kWord * (1 + part.shape.rank()) + padded(part.bytes.size());
    return Shape{static_cast<std::int64_t>(bytes / tensor::sizeOf(type))};
}

void ListResult::write(std::byte *to) const
{
    if (!m_isList) {
        if (!m_parts[0].bytes.empty())
            std::memcpy(to, m_parts[0].bytes.data(), m_parts[0].bytes.size());
        return;
    }
    const auto put = [&to](std::int64_t word) {
        std::memcpy(to, &word, kWord);
        to += kWord;
    };
    put(static_cast<std::int64_t>(m_parts.size()));
    for (const TypedBytes &part : m_parts) {
        put(static_cast<std::int64_t>(part.shape.rank()));
        for (const std::int64_t extent : part.shape.dims())
            put(extent);
        if (part.bytes.empty())
            continue;
        std::memcpy(to, part.bytes.data(), part.bytes.size());
        std::memset(to + part.bytes.size(), 0, padded(part.bytes.size()) - part.bytes.size());
        to += padded(part.bytes.size());
    }
}

} // namespace halftone::ops

#include "core/io/onnx/wire.h"

#include <cstdint>
#include <optional>

namespace halftone::io::onnx {
namespace {

// Fields of ModelProto, GraphProto and TensorProto.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kTensorRawData = 9;
constexpr std::size_t kLeastKeptApart = 4096; ///< smaller values are copied
constexpr std::uint32_t kHighestField = (1U << 29) - 1;

enum class Wire : std::uint8_t
{
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5
};

struct WireField
{
    std::uint32_t number = 0;
    Wire wire = Wire::Varint;
    std::span<const std::byte> whole; ///< key, length and content
    std::span<const std::byte> content; ///< of Bytes
};

Error badByte(std::size_t at, std::string found, std::string expected)
{
    return badInput("byte " + std::to_string(at), std::move(found), std::move(expected));
}

/// Goes over the fields of one message, which begins `base` bytes into the file.
class Fields
{
public:
    Fields(std::span<const std::byte> bytes, std::size_t base)
        : m_bytes(bytes)
        , m_base(base)
    {
    }

    bool atEnd() const { return m_at == m_bytes.size(); }
    std::size_t place() const { return m_base + m_at; }

    Result<WireField> next()
    {
        const std::size_t begin = m_at;
        HALFTONE_TRY(const std::uint64_t key, varint("a field"));
        WireField field;
        field.number = static_cast<std::uint32_t>(key >> 3);
        if (key >> 3 == 0 || key >> 3 > kHighestField)
            return badByte(m_base + begin, "field number " + std::to_string(key >> 3),
                           "a field of an ONNX model");
        switch (key & 7) {
        case 0:
            HALFTONE_CHECK(varint("a number"));
            break;
        case 1:
            HALFTONE_CHECK(take(8));
            break;
        case 2: {
            HALFTONE_TRY(const std::uint64_t length, varint("a length"));
            const std::size_t content = m_at;
            HALFTONE_CHECK(take(length));
            field.content = m_bytes.subspan(content, m_at - content);
            break;
        }
        case 5:
            HALFTONE_CHECK(take(4));
            break;
        default:
            return badByte(m_base + begin, "wire type " + std::to_string(key & 7), "0, 1, 2 or 5");
        }
        field.wire = static_cast<Wire>(key & 7);
        field.whole = m_bytes.subspan(begin, m_at - begin);
        return field;
    }

private:
    Result<std::uint64_t> varint(const char *what)
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70; shift += 7) {
            if (m_at == m_bytes.size())
                return badByte(m_base + m_at, std::string("the file ends within ") + what, "more bytes");
            const auto byte = static_cast<std::uint64_t>(m_bytes[m_at++]);
            if (shift < 64)
                value |= (byte & 127) << shift;
            if (byte < 128)
                return value;
        }
        return badByte(m_base + m_at, "a number of more than 10 bytes", "at most 10");
    }

    Result<void> take(std::uint64_t length)
    {
        if (length > m_bytes.size() - m_at)
            return badByte(m_base + m_at,
                           "only " + std::to_string(m_bytes.size() - m_at)
                               + " bytes left (the file is cut off or damaged)",
                           std::to_string(length));
        m_at += static_cast<std::size_t>(length);
        return {};
    }

    std::span<const std::byte> m_bytes;
    std::size_t m_base;
    std::size_t m_at = 0;
};

void append(std::string &out, std::span<const std::byte> bytes)
{
    out.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

void appendVarint(std::string &out, std::uint64_t value)
{
    for (; value >= 128; value >>= 7)
        out += static_cast<char>((value & 127) | 128);
    out += static_cast<char>(value);
}

/// What stands before the content of a field of bytes.
std::string headOf(std::uint32_t field, std::size_t length)
{
    std::string head;
    appendVarint(head, std::uint64_t{field} << 3 | 2);
    appendVarint(head, length);
    return head;
}

void appendMessage(std::string &out, std::uint32_t field, const std::string &content)
{
    out += headOf(field, content.size());
    out += content;
}

class Stripper
{
public:
    explicit Stripper(std::span<const std::byte> bytes)
        : m_file(bytes)
    {
    }

    Result<StrippedModel> model()
    {
        Fields fields(m_file, 0);
        while (!fields.atEnd()) {
            HALFTONE_TRY(const WireField field, fields.next());
            if (field.number != kModelGraph || field.wire != Wire::Bytes) {
                append(m_model.message, field.whole);
                continue;
            }
            std::string graph;
            HALFTONE_CHECK(stripGraph(field.content, graph));
            appendMessage(m_model.message, kModelGraph, graph);
        }
        return std::move(m_model);
    }

private:
    std::size_t placeOf(std::span<const std::byte> part) const
    {
        return static_cast<std::size_t>(part.data() - m_file.data());
    }

    Result<void> stripGraph(std::span<const std::byte> bytes, std::string &out)
    {
        Fields fields(bytes, placeOf(bytes));
        while (!fields.atEnd()) {
            HALFTONE_TRY(const WireField field, fields.next());
            if (field.number != kGraphInitializer || field.wire != Wire::Bytes) {
                append(out, field.whole);
                continue;
            }
            if (field.content.size() < kLeastKeptApart) {
                append(out, field.whole);
            } else {
                std::string tensor;
                HALFTONE_CHECK(stripTensor(field.content, tensor));
                appendMessage(out, kGraphInitializer, tensor);
            }
            ++m_initializers;
        }
        return {};
    }

    Result<void> stripTensor(std::span<const std::byte> bytes, std::string &out)
    {
        Fields fields(bytes, placeOf(bytes));
        std::optional<std::span<const std::byte>> values;
        while (!fields.atEnd()) {
            HALFTONE_TRY(const WireField field, fields.next());
            if (field.number != kTensorRawData || field.wire != Wire::Bytes
                || field.content.size() < kLeastKeptApart)
                append(out, field.whole);
            else
                values = field.content;
        }
        if (values)
            m_model.values.push_back({m_initializers, *values});
        return {};
    }

    std::span<const std::byte> m_file;
    StrippedModel m_model;
    std::size_t m_initializers = 0;
};

/// Where the fields end that stand before the values of a tensor, as protobuf writes it.
std::size_t placeOfValues(std::span<const std::byte> tensor)
{
    Fields fields(tensor, 0);
    while (!fields.atEnd()) {
        const std::size_t place = fields.place();
        const auto field = fields.next();
        if (!field.ok() || field.value().number > kTensorRawData)
            return place;
    }
    return tensor.size();
}

/// An initializer that gets values: its field, before and behind them.
struct Opened
{
    std::span<const std::byte> whole;
    std::string before;
    std::span<const std::byte> behind;
    std::size_t size = 0; ///< of the field, values included
};

Opened opened(const WireField &field, std::size_t values)
{
    Opened result;
    result.whole = field.whole;
    const std::size_t place = placeOfValues(field.content);
    const std::string head = headOf(kTensorRawData, values);
    const std::size_t content = field.content.size() + head.size() + values;
    result.before = headOf(kGraphInitializer, content);
    result.size = result.before.size() + content;
    append(result.before, field.content.first(place));
    result.before += head;
    result.behind = field.content.subspan(place);
    return result;
}

std::vector<Opened> openedIn(std::span<const std::byte> graph, std::span<const JoinedValues> values)
{
    std::vector<Opened> result;
    Fields fields(graph, 0);
    for (std::size_t initializer = 0; result.size() < values.size() && !fields.atEnd();) {
        const auto field = fields.next();
        if (!field.ok())
            break;
        if (field.value().number != kGraphInitializer)
            continue;
        if (values[result.size()].initializer == initializer)
            result.push_back(opened(field.value(), values[result.size()].bytes));
        ++initializer;
    }
    return result;
}

} // namespace

std::vector<std::string> joinModel(std::string_view message, std::span<const JoinedValues> values)
{
    std::vector<std::string> parts(1);
    Fields fields(std::as_bytes(std::span(message)), 0);
    while (!fields.atEnd()) {
        const auto field = fields.next();
        if (!field.ok())
            break; // protobuf writes no such message
        const std::span<const std::byte> graph = field.value().content;
        if (field.value().number != kModelGraph) {
            append(parts.back(), field.value().whole);
            continue;
        }
        const std::vector<Opened> initializers = openedIn(graph, values);
        std::size_t size = graph.size();
        for (const Opened &initializer : initializers)
            size += initializer.size - initializer.whole.size();
        parts.back() += headOf(kModelGraph, size);
        std::size_t at = 0;
        for (const Opened &initializer : initializers) {
            const auto place = static_cast<std::size_t>(initializer.whole.data() - graph.data());
            append(parts.back(), graph.subspan(at, place - at));
            parts.back() += initializer.before;
            append(parts.emplace_back(), initializer.behind);
            at = place + initializer.whole.size();
        }
        append(parts.back(), graph.subspan(at));
    }
    return parts;
}

Result<StrippedModel> stripModel(std::span<const std::byte> bytes)
{
    return Stripper(bytes).model();
}

} // namespace halftone::io::onnx

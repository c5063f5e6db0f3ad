#include "core/dialect/tflite/op_info.h"
#include "core/io/tflite/source.h"

#include <array>
#include <charconv>

namespace halftone::io::tflite {
namespace {

using dialect::tflite::FieldKind;
using dialect::tflite::OptionField;
using Table = flatbuffers::Table;

std::string textOfReal(float value)
{
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end.ptr};
}

/// Fields of one table, each checked before it is read.
class OptionReader
{
public:
    OptionReader(const flatbuffers::Verifier &verifier, const Table &table)
        : m_verifier(verifier)
        , m_table(table)
    {
    }

    /// Nothing for a field that is not written; `isBad` is set for one that lies beyond the file.
    std::optional<std::string> read(const OptionField &field)
    {
        m_place = static_cast<flatbuffers::voffset_t>(2 * field.place + 4);
        if (!m_table.CheckField(m_place))
            return std::nullopt;
        switch (field.kind) {
        case FieldKind::Bool:
        case FieldKind::UInt8:
            return named(field, integer<std::uint8_t>());
        case FieldKind::Int8:
            return named(field, integer<std::int8_t>());
        case FieldKind::Int32:
            return named(field, integer<std::int32_t>());
        case FieldKind::UInt32:
            return named(field, integer<std::uint32_t>());
        case FieldKind::Int64:
            return named(field, integer<std::int64_t>());
        case FieldKind::Float32:
            return textOfReal(scalar<float>());
        case FieldKind::Int32List:
            return list<std::int32_t>([](std::int32_t value) { return std::to_string(value); });
        case FieldKind::Int64List:
            return list<std::int64_t>([](std::int64_t value) { return std::to_string(value); });
        case FieldKind::Float32List:
            return list<float>(textOfReal);
        case FieldKind::Text:
            return text();
        }
        return std::nullopt;
    }

    bool isBad() const { return m_isBad; }

private:
    template <class T>
    T scalar()
    {
        if (m_table.VerifyField<T>(m_verifier, m_place, sizeof(T)))
            return m_table.GetField<T>(m_place, T{});
        m_isBad = true;
        return T{};
    }
    template <class T>
    std::int64_t integer()
    {
        return static_cast<std::int64_t>(scalar<T>());
    }
    static std::string named(const OptionField &field, std::int64_t value)
    {
        if (field.names == nullptr)
            return std::to_string(value);
        const auto name = field.names->find(value);
        return name == field.names->end() ? std::to_string(value) : name->second;
    }
    template <class T, class ToText>
    std::string list(const ToText &toText)
    {
        std::string out = "[";
        using Vector = flatbuffers::Vector<T>;
        if (!m_table.VerifyOffset(m_verifier, m_place)
            || !m_verifier.VerifyVector(m_table.GetPointer<const Vector *>(m_place))) {
            m_isBad = true;
            return out;
        }
        for (const T value : *m_table.GetPointer<const Vector *>(m_place))
            out.append(out.size() > 1 ? "," : "").append(toText(value));
        return out + ']';
    }
    std::string text()
    {
        const auto *const held = m_table.VerifyOffset(m_verifier, m_place)
            ? m_table.GetPointer<const flatbuffers::String *>(m_place)
            : nullptr;
        if (held != nullptr && m_verifier.VerifyString(held))
            return held->str();
        m_isBad = true;
        return {};
    }

    const flatbuffers::Verifier &m_verifier;
    const Table &m_table;
    flatbuffers::voffset_t m_place = 0;
    bool m_isBad = false;
};

Result<void> addOptions(const Source &source, const schema::Options *table, int unionNumber, int tag,
                        const std::string &where, graph::Attributes &attributes)
{
    if (table == nullptr)
        return {};
    const auto bytes = source.file->bytes();
    const flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
    OptionReader reader(verifier, *reinterpret_cast<const Table *>(table));
    for (const OptionField &field : dialect::tflite::optionsOf(unionNumber, tag)) {
        auto value = reader.read(field);
        if (reader.isBad())
            return badInput(where + ": " + field.name, "an option beyond the file",
                            "a file that is not damaged");
        if (!value && field.defaultValue != "0" && field.defaultValue != "0.0")
            value = field.defaultValue;
        if (!value && field.names != nullptr) {
            const auto first = field.names->find(0);
            value = first == field.names->end() ? std::string("0") : first->second;
        }
        if (value && *value != "NONE")
            attributes.set(field.name, std::move(*value));
    }
    return {};
}

} // namespace

Result<graph::Attributes> readOptions(const Source &source, const schema::Operator &op,
                                      const std::string &where)
{
    graph::Attributes attributes;
    HALFTONE_CHECK(addOptions(source, op.builtin_options(), 1, op.builtin_options_type(), where, attributes));
    HALFTONE_CHECK(
        addOptions(source, op.builtin_options_2(), 2, op.builtin_options_2_type(), where, attributes));
    return attributes;
}

} // namespace halftone::io::tflite

#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/operator_describe.h"
#include "core/dialect/mxnet/operator_rows.h"
#include "core/dialect/mxnet/read_operator.h"

#include <array>
#include <charconv>
#include <utility>

namespace halftone::dialect::mxnet {
namespace {

constexpr std::string_view kNone = "None";

std::string textOf(std::int64_t value)
{
    return std::to_string(value);
}

/// Shortest text that reads back as the same number.
std::string textOf(double value)
{
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

std::string textOf(const std::optional<std::int64_t> &value)
{
    return value ? textOf(*value) : std::string(kNone);
}

/// As Python prints a tuple.
template <class T>
std::string tupleText(const std::vector<T> &values)
{
    std::string text = "(";
    for (std::size_t i = 0; i < values.size(); ++i)
        text += (i == 0 ? "" : ", ") + textOf(values[i]);
    return text + (values.size() == 1 ? ",)" : ")");
}

class FieldWriter final : public OperatorFields
{
public:
    explicit FieldWriter(const OpInfo &info)
        : m_info(info)
    {
    }

    void integer(std::string_view key, std::int64_t &value) override { set(key, textOf(value)); }
    void optionalInteger(std::string_view key, std::optional<std::int64_t> &value) override
    {
        set(key, textOf(value));
    }
    void real(std::string_view key, double &value) override { set(key, textOf(value)); }
    void optionalReal(std::string_view key, std::optional<double> &value) override
    {
        set(key, value ? textOf(*value) : std::string(kNone));
    }
    void boolean(std::string_view key, bool &value) override { set(key, value ? "True" : "False"); }
    void tuple(std::string_view key, ops::Dims &value) override { set(key, tupleText(value)); }
    void optionalTuple(std::string_view key, std::optional<ops::Dims> &value) override
    {
        set(key, value ? tupleText(*value) : std::string(kNone));
    }
    void sparseTuple(std::string_view key, ops::OptionalDims &value) override { set(key, tupleText(value)); }
    void realTuple(std::string_view key, std::vector<double> &value) override { set(key, tupleText(value)); }
    void dtype(std::string_view key, ops::DType &value) override
    {
        set(key, std::string(value == ops::DType::Unknown ? kNone : tensor::nameOf(value)));
    }
    void choiceIndex(std::string_view key, std::size_t &index,
                     std::span<const std::string_view> texts) override
    {
        set(key, std::string(texts[index]));
    }

    bool isReading() const override { return false; }
    void fail(std::string_view key, std::string found, std::string expected) override
    {
        if (!m_error)
            m_error
                = unsupported(m_info.name + ": " + std::string(key), std::move(found), std::move(expected));
    }

    const std::optional<Error> &error() const { return m_error; }
    graph::Attributes takeAttributes() { return graph::Attributes(std::move(m_items)); }

private:
    void set(std::string_view key, std::string text)
    {
        const AttributeSpec *spec = m_info.attribute(key);
        if (!spec
            || (!spec->required
                && (text == spec->defaultValue || sameValue(*spec, text, spec->defaultValue))))
            return;
        // An attribute without a default is left out where the struct has no value.
        if (text == kNone && !spec->nullable && spec->defaultValue.empty())
            return;
        m_items.emplace_back(key, std::move(text));
    }

    const OpInfo &m_info;
    std::vector<graph::Attributes::Item> m_items;
    std::optional<Error> m_error;
};

} // namespace

Result<OperatorText> writeOperator(const ops::Operator &op)
{
    const OperatorRow *row = rowFor(op);
    const OpInfo *info = row ? findOp(row->name) : nullptr;
    if (!info)
        return unsupported({}, "MXNet 1.x has no such operator");
    FieldWriter writer(*info);
    ops::visit(
        [&writer](auto alternative) {
            if constexpr (Described<decltype(alternative)>)
                describe(writer, alternative);
        },
        op);
    if (writer.error())
        return *writer.error();
    return OperatorText{info->name, writer.takeAttributes()};
}

} // namespace halftone::dialect::mxnet

#include "core/dialect/mxnet/read_operator.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/operator_describe.h"
#include "core/dialect/mxnet/operator_rows.h"

#include <algorithm>
#include <utility>

namespace halftone::dialect::mxnet {
namespace {

class FieldReader final : public OperatorFields
{
public:
    FieldReader(const graph::NodeDef &node, const OpInfo &info)
        : m_node(node)
        , m_info(info)
    {
    }

    void integer(std::string_view key, std::int64_t &value) override { read(key, value, readInteger); }
    void optionalInteger(std::string_view key, std::optional<std::int64_t> &value) override
    {
        readOptional(key, value, readInteger);
    }
    void real(std::string_view key, double &value) override { read(key, value, readReal); }
    void optionalReal(std::string_view key, std::optional<double> &value) override
    {
        readOptional(key, value, readReal);
    }
    void boolean(std::string_view key, bool &value) override { read(key, value, readBoolean); }
    void tuple(std::string_view key, ops::Dims &value) override { read(key, value, readTuple); }
    void optionalTuple(std::string_view key, std::optional<ops::Dims> &value) override
    {
        readOptional(key, value, readTuple);
    }
    void sparseTuple(std::string_view key, ops::OptionalDims &value) override
    {
        read(key, value, readOptionalTuple);
    }
    void realTuple(std::string_view key, std::vector<double> &value) override
    {
        read(key, value, readRealTuple);
    }
    void dtype(std::string_view key, ops::DType &value) override { read(key, value, readDType); }
    void choiceIndex(std::string_view key, std::size_t &index,
                     std::span<const std::string_view> texts) override
    {
        const auto found = find(key);
        if (!found)
            return;
        const auto at = std::ranges::find(texts, *found);
        if (at == texts.end())
            return fail(key, '"' + std::string(*found) + '"',
                        "one of " + joined(std::vector<std::string>(texts.begin(), texts.end())));
        index = static_cast<std::size_t>(at - texts.begin());
    }

    bool isReading() const override { return true; }
    void fail(std::string_view key, std::string found, std::string expected) override
    {
        if (!m_error)
            m_error = badInput(m_node.name + ": " + std::string(key), std::move(found), std::move(expected));
    }

    const std::optional<Error> &error() const { return m_error; }

private:
    /// The text written or the default; nothing when the operator has no such attribute, or after a failure.
    std::optional<std::string_view> find(std::string_view key)
    {
        const AttributeSpec *spec = m_error ? nullptr : m_info.attribute(key);
        if (!spec)
            return std::nullopt;
        if (const std::string *written = m_node.attributes.find(key))
            return trimmed(*written);
        if (spec->required)
            fail(key, "missing", "a value, required by " + m_info.name);
        return spec->required || spec->defaultValue.empty()
            ? std::nullopt
            : std::optional<std::string_view>(spec->defaultValue);
    }

    template <class T, class Read>
    void read(std::string_view key, T &value, const Read &readText)
    {
        const auto found = find(key);
        if (found && !isNone(*found))
            take(key, value, readText(*found));
    }

    template <class T, class Read>
    void readOptional(std::string_view key, std::optional<T> &value, const Read &readText)
    {
        const auto found = find(key);
        if (!found)
            return;
        if (isNone(*found))
            value.reset();
        else
            take(key, value, readText(*found));
    }

    template <class T, class R>
    void take(std::string_view key, T &value, Result<R> result)
    {
        if (result.ok())
            value = std::move(result).value();
        else
            fail(key, result.error().found, result.error().expected);
    }

    const graph::NodeDef &m_node;
    const OpInfo &m_info;
    std::optional<Error> m_error;
};

} // namespace

Result<ops::Operator> readOperator(const graph::NodeDef &node)
{
    const OpInfo *info = node.isVariable() ? nullptr : findOp(node.op);
    const OperatorRow *row = info ? findRow(info->name) : nullptr;
    if (!row)
        return ops::Operator(ops::Opaque{node.op});
    FieldReader reader(node, *info);
    ops::Operator op = ops::visit(
        [&reader](auto alternative) {
            if constexpr (Described<decltype(alternative)>)
                describe(reader, alternative);
            return ops::Operator(std::move(alternative));
        },
        row->prototype);
    if (reader.error())
        return *reader.error();
    return op;
}

} // namespace halftone::dialect::mxnet

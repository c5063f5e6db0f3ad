#include "core/dialect/tflite/node_fields.h"

#include "core/base/text.h"
#include "core/dialect/tflite/tflite_dialect.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <utility>

namespace halftone::dialect::tflite {

std::int64_t NodeFields::integer(std::string_view key, std::int64_t otherwise)
{
    const std::string *const text = m_node.attributes.find(key);
    if (text == nullptr)
        return otherwise;
    const auto value = parseInteger(*text);
    if (!value)
        fail(key, printable(*text), "an integer");
    return value.value_or(otherwise);
}

double NodeFields::real(std::string_view key, double otherwise)
{
    const std::string *const text = m_node.attributes.find(key);
    if (text == nullptr)
        return otherwise;
    const auto value = parseReal(*text);
    if (!value)
        fail(key, printable(*text), "a number");
    return value.value_or(otherwise);
}

std::string_view NodeFields::text(std::string_view key) const
{
    const std::string *const text = m_node.attributes.find(key);
    return text == nullptr ? std::string_view() : std::string_view(*text);
}

ops::Dims NodeFields::integers(std::string_view key)
{
    const std::string *const text = m_node.attributes.find(key);
    if (text == nullptr)
        return {};
    auto values = integersIn(*text);
    if (!values)
        fail(key, printable(*text), "a list of integers");
    return values.value_or(ops::Dims());
}

std::optional<std::size_t> NodeFields::position(std::size_t slot) const
{
    const auto found = std::ranges::find(m_node.slots, slot);
    if (found == m_node.slots.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - m_node.slots.begin());
}

ops::Dims NodeFields::weightShape()
{
    if (has(kWeightShapeKey))
        return integers(kWeightShapeKey);
    const auto at = position(1);
    if (at && *at < m_values.size() && m_values[*at].shape().isComplete()) {
        const auto dims = m_values[*at].shape().dims();
        return {dims.begin(), dims.end()};
    }
    m_waits = true;
    return {};
}

const tensor::Tensor *NodeFields::value(std::size_t slot)
{
    const auto at = position(slot);
    if (at && *at < m_values.size() && m_values[*at].dtype() != tensor::DType::Unknown)
        return &m_values[*at];
    m_waits = true;
    return nullptr;
}

ops::Dims NodeFields::integersAt(std::string_view key, std::size_t slot)
{
    if (has(key))
        return integers(key);
    const tensor::Tensor *const found = value(slot);
    if (found == nullptr)
        return {};
    if (found->dtype() != tensor::DType::I32 && found->dtype() != tensor::DType::I64) {
        fail(key, std::string(tensor::nameOf(found->dtype())), "int32 or int64");
        return {};
    }
    ops::Dims values(found->elementCount());
    tensor::convert(found->dtype(), found->bytes().data(), values.size(), tensor::DType::I64,
                    reinterpret_cast<std::byte *>(values.data()));
    return values;
}

double NodeFields::realAt(std::size_t slot)
{
    const tensor::Tensor *const found = value(slot);
    double real = 0;
    if (found != nullptr && found->elementCount() > 0)
        tensor::convert(found->dtype(), found->bytes().data(), 1, tensor::DType::F64,
                        reinterpret_cast<std::byte *>(&real));
    return real;
}

void NodeFields::fail(std::string_view key, std::string found, std::string expected)
{
    if (!m_error)
        m_error = badInput(m_node.name + ": " + std::string(key), std::move(found), std::move(expected));
}

const OperatorRow *findRow(std::string_view name)
{
    for (auto *part : {elementwiseRows, layerRows, movementRows})
        if (const auto found = std::ranges::find(part(), name, &OperatorRow::name); found != part().end())
            return &*found;
    return nullptr;
}

std::string listText(std::span<const std::int64_t> values)
{
    std::string text = "[";
    for (const std::int64_t value : values)
        text.append(text.size() > 1 ? "," : "").append(std::to_string(value));
    return text + ']';
}

std::optional<ops::Dims> integersIn(std::string_view text)
{
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        return std::nullopt;
    text = text.substr(1, text.size() - 2);
    ops::Dims values;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const auto value = parseInteger(text.substr(0, comma));
        if (!value)
            return std::nullopt;
        values.push_back(*value);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return values;
}

} // namespace halftone::dialect::tflite

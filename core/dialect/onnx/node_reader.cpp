#include "core/dialect/onnx/node_reader.h"

#include "core/base/text.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/element_type.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <utility>

namespace halftone::dialect::onnx {

using tensor::DType;
using tensor::Tensor;

namespace {

/// Attributes are float32, whose shortest text is not their value.
double inSingle(double value)
{
    return static_cast<double>(static_cast<float>(value));
}

} // namespace

NodeReader::NodeReader(const graph::NodeDef &node, const OpInfo &info, int opset,
                       std::span<const Tensor> values)
    : m_node(node)
    , m_info(info)
    , m_opset(opset)
    , m_values(values)
    , m_inputs(node.slots.empty() ? values.size() : node.slots.size())
{
}

bool NodeReader::has(std::string_view key) const
{
    return m_node.attributes.find(key) != nullptr;
}

std::optional<std::string_view> NodeReader::find(std::string_view key) const
{
    if (const std::string *const written = m_node.attributes.find(key))
        return *written;
    const AttributeSpec *const spec = m_info.attribute(key);
    return spec == nullptr || spec->defaultValue.empty()
        ? std::nullopt
        : std::optional<std::string_view>(spec->defaultValue);
}

std::optional<std::int64_t> NodeReader::optionalInteger(std::string_view key)
{
    const auto text = find(key);
    if (!text)
        return std::nullopt;
    const auto value = parseInteger(*text);
    if (!value)
        fail(key, '"' + printable(*text, 60) + '"', "an integer");
    return value;
}

std::int64_t NodeReader::integer(std::string_view key, std::int64_t otherwise)
{
    return optionalInteger(key).value_or(otherwise);
}

bool NodeReader::boolean(std::string_view key, bool otherwise)
{
    const std::int64_t value = integer(key, otherwise ? 1 : 0);
    if (value != 0 && value != 1)
        fail(key, std::to_string(value), "0 or 1");
    return value != 0;
}

std::optional<double> NodeReader::optionalReal(std::string_view key)
{
    const auto text = find(key);
    if (!text)
        return std::nullopt;
    const auto value = parseReal(*text);
    if (!value)
        fail(key, '"' + printable(*text, 60) + '"', "a number");
    return value ? std::optional(inSingle(*value)) : std::nullopt;
}

double NodeReader::real(std::string_view key, double otherwise)
{
    return optionalReal(key).value_or(otherwise);
}

std::optional<ops::Dims> NodeReader::optionalIntegers(std::string_view key)
{
    const auto text = find(key);
    if (!text)
        return std::nullopt;
    auto values = integersIn(*text);
    if (!values)
        fail(key, '"' + printable(*text, 60) + '"', "a list of integers");
    return values;
}

ops::Dims NodeReader::integers(std::string_view key)
{
    return optionalIntegers(key).value_or(ops::Dims());
}

std::vector<double> NodeReader::reals(std::string_view key)
{
    const auto text = find(key);
    if (!text)
        return {};
    auto values = realsIn(*text);
    if (!values)
        fail(key, '"' + printable(*text, 60) + '"', "a list of numbers");
    if (!values)
        return {};
    std::ranges::transform(*values, values->begin(), inSingle);
    return std::move(*values);
}

std::string NodeReader::text(std::string_view key)
{
    return std::string(find(key).value_or(std::string_view()));
}

std::vector<std::string> NodeReader::texts(std::string_view key)
{
    const auto text = find(key);
    if (!text)
        return {};
    auto values = textsIn(*text);
    if (!values)
        fail(key, '"' + printable(*text, 60) + '"', "a list of texts");
    return values.value_or(std::vector<std::string>());
}

DType NodeReader::type(std::string_view key)
{
    const auto code = optionalInteger(key);
    if (!code || *code == 0)
        return DType::Unknown;
    const auto type = dtypeOfCode(*code);
    if (!type)
        fail(key, "type code " + std::to_string(*code), "an ONNX type");
    else if (*type == DType::Unknown)
        fail(key, std::string(nameOfCode(*code)), "a supported type");
    return type.value_or(DType::Unknown);
}

std::size_t NodeReader::choice(std::string_view key, std::span<const std::string_view> texts)
{
    const std::string_view written = find(key).value_or(std::string_view());
    const auto at = std::ranges::find(texts, written);
    if (at == texts.end()) {
        fail(key, '"' + printable(written, 60) + '"',
             "one of " + joined(std::vector<std::string>(texts.begin(), texts.end())));
        return 0;
    }
    return static_cast<std::size_t>(at - texts.begin());
}

std::optional<std::size_t> NodeReader::position(std::size_t slot) const
{
    if (m_node.slots.empty())
        return slot < m_inputs ? std::optional(slot) : std::nullopt;
    const auto at = std::ranges::find(m_node.slots, slot);
    return at == m_node.slots.end() ? std::nullopt
                                    : std::optional(static_cast<std::size_t>(at - m_node.slots.begin()));
}

const Tensor *NodeReader::knownValue(std::size_t slot) const
{
    const auto at = position(slot);
    return at && *at < m_values.size() && m_values[*at].dtype() != DType::Unknown ? &m_values[*at] : nullptr;
}

const Tensor *NodeReader::value(std::size_t slot)
{
    const Tensor *const known = knownValue(slot);
    if (known == nullptr && hasInput(slot))
        m_waits = true;
    return known;
}

const tensor::Shape *NodeReader::shape(std::size_t slot)
{
    const auto at = position(slot);
    const bool isKnown = at && *at < m_values.size() && m_values[*at].shape().isComplete();
    m_waits = m_waits || (at && !isKnown);
    return isKnown ? &m_values[*at].shape() : nullptr;
}

std::optional<ops::Dims> NodeReader::optionalIntegersAt(std::size_t slot)
{
    // A node of an older opset has the list as an attribute of the same name until it is written.
    if (!hasInput(slot) && slot < m_info.inputs.size() && has(m_info.inputs[slot].name))
        return optionalIntegers(m_info.inputs[slot].name);
    const Tensor *const known = value(slot);
    if (known == nullptr)
        return std::nullopt;
    if (known->dtype() == DType::I64)
        return known->values<std::int64_t>();
    ops::Dims dims;
    for (const double number : realsAt(slot))
        dims.push_back(static_cast<std::int64_t>(number));
    return dims;
}

std::optional<std::int64_t> NodeReader::optionalIntegerAt(std::size_t slot)
{
    const auto values = optionalIntegersAt(slot);
    if (values && values->size() != 1) {
        fail(m_info.inputName({}, slot), std::to_string(values->size()) + " values", "one");
        return std::nullopt;
    }
    return values ? std::optional(values->front()) : std::nullopt;
}

std::vector<double> NodeReader::realsAt(std::size_t slot)
{
    if (!hasInput(slot) && slot < m_info.inputs.size() && has(m_info.inputs[slot].name))
        return reals(m_info.inputs[slot].name);
    const Tensor *const known = value(slot);
    if (known == nullptr)
        return {};
    std::vector<double> values(known->elementCount());
    if (!values.empty())
        tensor::widen(known->dtype(), known->bytes().data(), values.size(), values.data());
    return values;
}

std::optional<double> NodeReader::optionalRealAt(std::size_t slot)
{
    const std::vector<double> values = realsAt(slot);
    if (values.empty())
        return std::nullopt;
    if (values.size() > 1)
        fail(m_info.inputName({}, slot), std::to_string(values.size()) + " values", "one");
    return values.front();
}

void NodeReader::fail(std::string_view key, std::string found, std::string expected)
{
    if (!m_error)
        m_error = badInput(m_node.name + ": " + std::string(key), std::move(found), std::move(expected));
}

} // namespace halftone::dialect::onnx

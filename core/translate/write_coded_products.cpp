#include "core/kernels/coded_weights.h"
#include "core/translate/codes.h"
#include "core/translate/layer_nodes.h"
#include "core/translate/writers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numbers>

/// Convolutions and fully connected layers on codes, plain or with what is fused into them.
namespace halftone::translate {
namespace {

using ops::ElementFunction;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

template <class T>
Tensor tensorOf(DType type, const std::vector<T> &values, const Shape &shape)
{
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(type, shape, std::move(bytes));
}

/// The function of reals in float32; kNone for what ONNX has no operator for.
Value applied(NodeWriter &to, const ElementFunction &function, const Value &x)
{
    using enum ElementFunction::Kind;
    const auto number = [&to](const char *what, double value) { return to.number(what, value, DType::F32); };
    switch (function.kind) {
    case Relu:
        return function.isRelu() ? to.add("Relu", {x})
                                 : to.add("LeakyRelu", {x}, {{"alpha", text(double{function.alpha})}});
    case Elu:
        return to.add("Elu", {x}, {{"alpha", text(double{function.alpha})}});
    case Sigmoid:
        return to.add("Sigmoid", {x});
    case Tanh:
        return to.add("Tanh", {x});
    case Softplus:
        return to.add("Softplus", {x});
    case GeluErf: {
        const Value error = to.add("Erf", {to.add("Mul", {x, number("factor", std::numbers::sqrt2 / 2)})});
        const Value twice = to.add("Add", {error, number("one", 1)});
        return to.add("Mul", {to.add("Mul", {x, twice}), number("half", 0.5)});
    }
    case Abs:
        return to.add("Abs", {x});
    case Square:
        return to.add("Mul", {x, x});
    case Sqrt:
        return to.add("Sqrt", {x});
    case Exp:
        return to.add("Exp", {x});
    case Log:
        return to.add("Log", {x});
    case Linear:
        return to.add("Add",
                      {to.add("Mul", {x, number("alpha", double{function.alpha})}),
                       number("beta", double{function.beta})});
    case Clip:
        return to.add("Clip",
                      {x, number("least", double{function.alpha}), number("most", double{function.beta})});
    case HardSigmoid:
        return to.add("HardSigmoid", {x},
                      {{"alpha", text(double{function.alpha})}, {"beta", text(double{function.beta})}});
    case Power:
        break;
    }
    return kNone;
}

class ProductWriter
{
public:
    ProductWriter(NodeWriter &to, const ops::FusedProduct &op)
        : m_to(to)
        , m_op(op)
    {
    }

    Result<void> write()
    {
        HALFTONE_TRY(const CodedRange data, rangeAt(m_to, m_op.ends(), m_to.type(0)));
        const double scale = m_op.dataScale(m_to.type(0), data.low, data.high);
        HALFTONE_TRY(const kernels::CodedWeights weights, codedWeights(scale));
        Values inputs{decoded(m_to, 0, 1 / scale), weightOf(weights), biasOf(weights, scale)};
        HALFTONE_TRY(Value value, m_op.conv ? convolved(m_to, *m_op.conv, inputs) : full(inputs));
        if (m_op.hasSum) {
            HALFTONE_TRY(const CodedRange other, rangeAt(m_to, m_op.addendEnds(), m_to.type(m_op.addend())));
            value = m_to.add("Add",
                             {value, decoded(m_to, m_op.addend(), stepOf(m_to.type(m_op.addend()), other))});
        }
        if (m_op.activation)
            value = applied(m_to, *m_op.activation, value);
        if (value == kNone)
            return m_to.refuse("its fused activation has no ONNX operator");
        return put(value);
    }

private:
    Result<Value> full(const Values &inputs) const
    {
        ops::FullyConnected op = m_op.full;
        op.hasBias = inputs[2] != kNone;
        return fullyConnected(m_to, op, inputs);
    }

    /// Everything but the data has to be there.
    Result<kernels::CodedWeights> codedWeights(double scale) const
    {
        const std::size_t count = m_op.inputCount();
        std::vector<kernels::TensorDesc> descs(count);
        std::vector<const std::byte *> bytes(count, nullptr);
        std::vector<std::array<std::byte, sizeof(float)>> ends(count);
        for (std::size_t k = 0; k < count; ++k) {
            descs[k] = {m_to.type(k), m_to.shape(k)};
            if (const auto end = m_to.end(k); k >= m_op.ends() && end) {
                const auto value = static_cast<float>(*end);
                std::memcpy(ends[k].data(), &value, sizeof value);
                bytes[k] = ends[k].data();
            } else if (const Tensor *const held = m_to.parameter(k)) {
                descs[k] = {held->dtype(), held->shape()};
                bytes[k] = held->bytes().data();
            }
            const bool isNeeded = k > 0 && !(m_op.hasSum && k == m_op.addend());
            if (isNeeded && bytes[k] == nullptr)
                return m_to.refuse("its weights or their ranges are not parameters");
            if (isNeeded && descs[k].dtype != DType::F32 && descs[k].dtype != DType::I8)
                return m_to.refuse("its parameters are " + std::string(tensor::nameOf(descs[k].dtype))
                                   + ", neither float32 nor int8");
        }
        return kernels::codeWeights(m_op, descs, bytes, scale);
    }

    Value weightOf(const kernels::CodedWeights &weights) const
    {
        std::vector<double> steps;
        for (const double scale : weights.scales)
            steps.push_back(1 / scale);
        return decodedConstant(m_to, "weight", tensorOf(DType::I8, weights.codes, m_to.shape(1)), steps);
    }

    Value biasOf(const kernels::CodedWeights &weights, double dataScale) const
    {
        if (weights.bias.empty())
            return kNone;
        std::vector<double> steps;
        for (const double scale : weights.scales)
            steps.push_back(1 / (dataScale * scale));
        return decodedConstant(m_to, "bias",
                               tensorOf(DType::I32, weights.bias, Shape{std::ssize(weights.bias)}), steps);
    }

    /// As reals, as sums, or as codes.
    Result<void> put(Value value)
    {
        const DType type = m_to.outType();
        if (m_op.realOutput || type == DType::I32) {
            m_to.set(value);
            if (!m_op.realOutput)
                m_to.setSum();
            return {};
        }
        HALFTONE_TRY(const CodedRange range, rangeOf(m_to, m_op.range, type));
        if (m_op.limits.low && m_op.limits.high)
            value = m_to.add("Clip",
                             {value, m_to.number("least", *m_op.limits.low, DType::F32),
                              m_to.number("most", *m_op.limits.high, DType::F32)});
        m_to.set(encoded(m_to, value, stepOf(type, range), type));
        setRange(m_to, range);
        return {};
    }

    NodeWriter &m_to;
    const ops::FusedProduct &m_op;
};

Result<void> writeFused(NodeWriter &to, const ops::FusedProduct &op)
{
    return ProductWriter(to, op).write();
}

template <class T>
Result<void> writePlain(NodeWriter &to, const ops::Quantized<T> &op)
{
    auto product = ops::plainProduct(ops::Operator(op));
    if (!product)
        return to.refuse("has a floating-point output");
    return ProductWriter(to, *product).write();
}

} // namespace

std::span<const WriterRow> codedProductWriters()
{
    static constexpr std::array kRows{
        writes<ops::FusedProduct, writeFused>(),
        writes<ops::Quantized<ops::Conv>, writePlain<ops::Conv>>(),
        writes<ops::Quantized<ops::FullyConnected>, writePlain<ops::FullyConnected>>(),
    };
    return kRows;
}

} // namespace halftone::translate

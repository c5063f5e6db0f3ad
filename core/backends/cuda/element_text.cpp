#include "core/backends/cuda/element_text.h"

#include "core/backends/cuda/element_kernel.h"
#include "core/backends/cuda/element_patterns.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;
using Arguments = std::span<const std::string>;
using Text = std::optional<std::string>;

/// `pattern` with $, @ and ~ for the arguments in brackets, # for literals of the number type, in order.
std::string filled(std::string_view pattern, Arguments arguments, std::span<const std::string> literals = {})
{
    std::string text = "(";
    std::size_t next = 0;
    for (const char c : pattern) {
        if (c == '$' || c == '@' || c == '~')
            text += '(' + arguments[c == '$' ? 0 : c == '@' ? 1 : 2] + ')';
        else if (c == '#')
            text += literals[next++];
        else
            text += c;
    }
    return text + ')';
}

/// N(…) becomes a literal or a cast of the number type.
Text settled(std::string text, std::string_view number)
{
    const std::string cast = '(' + std::string(number) + ")(";
    for (std::size_t at = text.find("N("); at != std::string::npos; at = text.find("N(", at + cast.size()))
        if (at == 0 || (text[at - 1] < 'A' || text[at - 1] > 'Z'))
            text.replace(at, 2, cast);
    return text;
}

class Writer
{
public:
    Writer(const kernels::Operation &operation, Arguments arguments)
        : m_operation(operation)
        , m_arguments(arguments)
        , m_type(operation.inputs[0].dtype)
        , m_number(numberName(widestOf(operation)))
        , m_isFloat(tensor::isFloat(m_type))
    {
    }

    Text write() const
    {
        const ops::Operator &op = m_operation.op;
        if (const auto *unary = op.getIf<ops::Unary>())
            return of(*unary);
        if (const auto *activation = op.getIf<ops::Activation>())
            return of(*activation);
        if (const auto *leaky = op.getIf<ops::LeakyRelu>())
            return of(*leaky);
        if (const auto *binary = op.getIf<ops::Binary>())
            return of(*binary);
        if (const auto *scalar = op.getIf<ops::ScalarBinary>())
            return of(*scalar);
        if (const auto *curve = op.getIf<ops::Curve>())
            return of(*curve);
        if (const auto *join = op.getIf<ops::Join>())
            return of(*join);
        if (const auto *norm = op.getIf<ops::BatchNormalization>())
            return of(*norm);
        return rest(op);
    }

private:
    /// The type that decides what is computed in: floats of several types meet in the widest.
    static DType widestOf(const kernels::Operation &operation)
    {
        const auto isDouble = [](const kernels::TensorDesc &desc) { return desc.dtype == DType::F64; };
        const DType first = operation.inputs[0].dtype;
        return tensor::isFloat(first) && std::ranges::any_of(operation.inputs, isDouble) ? DType::F64 : first;
    }

    Text pattern(std::string_view text, std::initializer_list<double> values = {}) const
    {
        if (text.empty())
            return std::nullopt;
        std::vector<std::string> literals;
        for (const double value : values)
            literals.push_back(literal(value, m_number));
        return settled(filled(text, m_arguments, literals), m_number);
    }
    Text floats(std::string_view text, std::initializer_list<double> values = {}) const
    {
        return m_isFloat ? pattern(text, values) : std::nullopt;
    }

    Text of(const ops::Unary &op) const
    {
        if (op.kind == ops::UnaryKind::DivideBySqrtDim) {
            const auto dims = m_operation.inputs[0].shape.dims();
            return floats("$ / sqrt(#)", {dims.empty() ? 1.0 : static_cast<double>(dims.back())});
        }
        return pattern(m_isFloat ? floatPattern(op.kind) : integerPattern(op.kind));
    }

    Text of(const ops::Activation &op) const
    {
        const bool losesNaN = (m_type == DType::F32 || m_type == DType::BF16)
            && m_operation.inputs[0].shape.rank() <= 5; // as the reference kernel, and MXNet's
        if (op.kind == ops::UnaryKind::Relu && losesNaN)
            return pattern("$ > 0 ? $ : N(0)");
        return floats(floatPattern(op.kind));
    }

    Text of(const ops::LeakyRelu &op) const
    {
        using Kind = ops::LeakyRelu::Kind;
        switch (op.kind) {
        case Kind::Leaky:
            return floats("$ > 0 ? $ : # * $", {op.slope});
        case Kind::RandomRelu:
            return floats("$ > 0 ? $ : # * $",
                          {static_cast<double>(
                              (static_cast<float>(op.lowerBound) + static_cast<float>(op.upperBound)) / 2)});
        case Kind::Elu:
            return floats("$ > 0 ? $ : # * expm1($)", {op.slope});
        case Kind::Selu:
            return floats("# * ($ > 0 ? $ : # * expm1($))", {op.scale, op.slope});
        case Kind::Gelu:
            if (tensor::isHalf(m_type))
                return floats("gelu_of($)");
            return floats("$ / 2 * (N(1) + erf($ * #))", {0.70710678118654752440084436210485});
        case Kind::PRelu:
            return floats(op.stretches ? "$ >= 0 ? $ : $ * @" : "$ > 0 ? $ : $ * @");
        }
        return std::nullopt;
    }

    Text of(const ops::Binary &op) const
    {
        const DType result = m_operation.outputs[0].dtype;
        const DType other = m_operation.inputs[1].dtype;
        if ((other != m_type && !(m_isFloat && tensor::isFloat(other)))
            || (m_isFloat && !tensor::isFloat(result)
                && result != DType::Bool)) // integers of reals: what is beyond them matters
            return std::nullopt;
        return pattern(binaryPattern(op.kind, m_isFloat));
    }

    Text of(const ops::ScalarBinary &op) const
    {
        if (!m_isFloat || m_operation.outputs[0].dtype != m_type)
            return std::nullopt;
        const double scalar // as MXNet holds it
            = m_type == DType::F16 ? tensor::heldIn(m_type, op.scalar) : op.scalar;
        std::string text(binaryPattern(op.kind, true));
        for (char &c : text)
            c = c == '$' ? (op.reversed ? '@' : '$') : c == '@' ? (op.reversed ? '$' : '@') : c;
        const std::vector<std::string> arguments{m_arguments[0], literal(scalar, m_number)};
        return text.empty() ? Text() : settled(filled(text, arguments), m_number);
    }

    Text of(const ops::Curve &op) const
    {
        using Kind = ops::Curve::Kind;
        switch (op.kind) {
        case Kind::Celu:
            return floats("$ > 0 || $ != $ ? $ : smaller(N(0), # * expm1($ / #))", {op.alpha, op.alpha});
        case Kind::ThresholdedRelu:
            return floats("$ > # ? $ : N(0)", {op.alpha});
        case Kind::Shrink:
            return floats("$ < # ? $ + # : $ > # ? $ - # : N(0)", {-op.alpha, op.beta, op.alpha, op.beta});
        case Kind::Swish:
            return floats("$ / (N(1) + exp(# * $))", {-op.alpha});
        }
        return std::nullopt;
    }

    Text of(const ops::Join &op) const
    {
        using Kind = ops::Join::Kind;
        if (!m_isFloat)
            return std::nullopt;
        const bool isSum = op.kind != Kind::Maximum && op.kind != Kind::Minimum;
        std::string text = m_arguments[0];
        for (std::size_t k = 1; k < m_arguments.size(); ++k) {
            const std::string &next = m_arguments[k];
            std::string joined = op.kind == Kind::Maximum ? "join_max::of("
                : op.kind == Kind::Minimum                ? "join_min::of("
                                                          : "(";
            joined.append(text).append(isSum ? " + " : ", ").append(next).append(")");
            text = std::move(joined);
        }
        if (op.kind == Kind::Mean)
            text += " / " + literal(static_cast<double>(m_arguments.size()), m_number);
        return '(' + text + ')';
    }

    /// Inputs: data, gamma, beta, mean, variance.
    Text of(const ops::BatchNormalization &op) const
    {
        if (!m_isFloat)
            return std::nullopt;
        const std::string inverse
            = "(1 / sqrt(" + m_arguments[4] + " + " + literal(op.epsilon, m_number) + "))";
        return "((" + m_arguments[0] + " - " + m_arguments[3] + ") * " + inverse
            + (op.fixGamma ? "" : " * " + m_arguments[1]) + " + " + m_arguments[2] + ')';
    }

    /// Codes of 8 or 16 bits by a scale and a zero point.
    Text of(const ops::QuantizeLinear &op) const
    {
        const DType to = m_operation.outputs[0].dtype;
        const std::string scaled = m_arguments[0] + " / " + m_arguments[1];
        if (!m_isFloat || op.block != 0 || m_operation.inputs[1].dtype != m_type)
            return std::nullopt;
        if (tensor::isFloat(to)) // rounded also where the kernel goes on with it
            return "held<" + std::string(typeName(to)) + ">("
                + (op.saturates ? *saturated(scaled, to) : scaled) + ')';
        if (to != DType::I8 && to != DType::U8 && to != DType::I16 && to != DType::U16)
            return std::nullopt;
        const bool isSigned = to == DType::I8 || to == DType::I16;
        const double count = tensor::sizeOf(to) == 1 ? 256 : 65536;
        return "code_of(rint(" + scaled + ')' + (op.hasZeroPoint ? " + " + m_arguments[2] : "") + ", "
            + literal(isSigned ? -count / 2 : 0, m_number) + ", "
            + literal((isSigned ? count / 2 : count) - 1, m_number) + ')';
    }

    Text of(const ops::DequantizeLinear &op) const
    {
        const DType to = m_operation.outputs[0].dtype;
        if (op.block != 0 || !tensor::fitsFloat32(to) || m_operation.inputs[1].dtype != to
            || m_type == DType::I32) // beyond float32's whole numbers
            return std::nullopt;
        return "((float)(" + m_arguments[0] + (op.hasZeroPoint ? " - " + m_arguments[2] : "") + ") * "
            + m_arguments[1] + ')';
    }

    Text of(const ops::CodedMultiply &op) const
    {
        return codeText(op.result,
                        '(' + realText(op.first, m_arguments[0]) + " * " + realText(op.second, m_arguments[1])
                            + ')');
    }

    /// What is too large for a type becomes its largest number.
    Text saturated(const std::string &value, DType to) const
    {
        const double most = tensor::rangeOf(to).largest;
        return "smaller(larger((" + std::string(m_number) + ")(" + value + "), " + literal(-most, m_number)
            + "), " + literal(most, m_number) + ')';
    }

    Text of(const ops::Cast &op) const
    {
        const DType to = m_operation.outputs[0].dtype;
        const bool saturates = op.saturates && tensor::isForAnalysis(to);
        if (saturates && m_isFloat && (to == DType::F8E4M3FN || to == DType::F8E5M2))
            return "held<" + std::string(typeName(to)) + ">(" + *saturated(m_arguments[0], to) + ')';
        if (saturates || (m_isFloat && !tensor::isFloat(to) && to != DType::Bool)
            || (m_type == DType::F64 && to != DType::F32 && to != DType::F64)) // would be rounded twice
            return std::nullopt;
        return "held<" + std::string(typeName(to)) + ">(" + m_arguments[0] + ')';
    }

    Text rest(const ops::Operator &op) const
    {
        if (const auto *cast = op.getIf<ops::Cast>())
            return of(*cast);
        if (const auto *code = op.getIf<ops::QuantizeLinear>())
            return of(*code);
        if (const auto *decode = op.getIf<ops::DequantizeLinear>())
            return of(*decode);
        if (const auto *multiply = op.getIf<ops::CodedMultiply>())
            return of(*multiply);
        if (const auto *clip = op.getIf<ops::Clip>())
            return floats("$ > # ? # : $ < # ? # : $", {clip->high, clip->high, clip->low, clip->low});
        if (const auto *hard = op.getIf<ops::HardSigmoid>())
            return floats("smaller(larger(# * $ + #, N(0)), N(1))", {hard->alpha, hard->beta});
        if (const auto *loss = op.getIf<ops::SmoothL1>()) {
            const double square = loss->sigma.value_or(1) * loss->sigma.value_or(1);
            return floats("fabs($) > # ? fabs($) - # : # * $ * $", {1 / square, 0.5 / square, 0.5 * square});
        }
        if (const auto *where = op.getIf<ops::Where>(); where && where->broadcast)
            return filled("$ != 0 ? @ : ~", m_arguments);
        if (const auto *infinite = op.getIf<ops::IsInf>())
            return floats(std::string("fabs($) == INFINITY && ($ < 0 ? ")
                          + (infinite->negative ? "true" : "false") + " : "
                          + (infinite->positive ? "true" : "false") + ") ? N(1) : N(0)");
        return std::nullopt;
    }

    const kernels::Operation &m_operation;
    Arguments m_arguments;
    DType m_type;
    std::string_view m_number;
    bool m_isFloat;
};

} // namespace

std::string realText(const ops::CodeScale &scale, const std::string &code)
{
    const std::string zero = scale.zero == 0 ? "" : " - (" + std::to_string(scale.zero) + ')';
    return "((float)(" + code + zero + ") * " + literal(scale.step, "float") + ')';
}

std::string codeText(const ops::CodeScale &scale, const std::string &real)
{
    return "code_of(rint(" + real + " / " + literal(scale.step, "float") + ") + "
        + literal(scale.zero, "float") + ", " + literal(scale.least(), "float") + ", "
        + literal(scale.most(), "float") + ')';
}

std::string functionText(const ops::ElementFunction &function, const std::string &x)
{
    using Kind = ops::ElementFunction::Kind;
    const std::string alpha = literal(double{function.alpha}, "float");
    const std::string beta = literal(double{function.beta}, "float");
    const std::string text = [&]() -> std::string {
        switch (function.kind) {
        case Kind::Relu:
            return "$ > 0 ? $ : " + alpha + " * $";
        case Kind::Elu:
            return "$ > 0 ? $ : " + alpha + " * expm1($)";
        case Kind::Sigmoid:
            return "1 / (1 + exp(-$))";
        case Kind::Tanh:
            return "tanh($)";
        case Kind::Softplus:
            return "softplus($)";
        case Kind::GeluErf:
            return "$ / 2 * (1 + erf($ * 0.70710678118654752440f))";
        case Kind::Abs:
            return "fabs($)";
        case Kind::Square:
            return "$ * $";
        case Kind::Sqrt:
            return "sqrt($)";
        case Kind::Exp:
            return "exp($)";
        case Kind::Log:
            return "log($)";
        case Kind::Linear:
            return alpha + " * $ + " + beta;
        case Kind::Clip:
            return "smaller(larger($, " + alpha + "), " + beta + ')';
        case Kind::Power:
            return alpha + " * pow($, " + beta + ')';
        case Kind::HardSigmoid:
            return "smaller(larger(" + alpha + " * $ + " + beta + ", 0.0f), 1.0f)";
        }
        return "$";
    }();
    const std::vector<std::string> arguments{x};
    return filled(text, arguments);
}

std::optional<std::string> elementText(const kernels::Operation &operation, Arguments arguments)
{
    const auto isKnown = [](const kernels::TensorDesc &desc) { return !typeName(desc.dtype).empty(); };
    if (operation.inputs.empty() || operation.outputs.empty() || !isKnown(operation.outputs[0])
        || !std::ranges::all_of(operation.inputs, isKnown))
        return std::nullopt;
    return Writer(operation, arguments).write();
}

bool isElementwise(const kernels::Operation &operation)
{
    const std::vector<std::string> names(operation.inputs.size(), "x");
    return elementText(operation, names).has_value();
}

} // namespace halftone::backends::cuda

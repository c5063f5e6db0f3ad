#include "core/dialect/mxnet/operator_describe.h"

#include <algorithm>

namespace halftone::dialect::mxnet {
namespace {

/// MXNet's selu has these numbers and no attributes for them.
void describeSelu(OperatorFields &f, ops::LeakyRelu &op)
{
    constexpr double kSlope = 1.6732632423543772848170429916717;
    constexpr double kScale = 1.0507009873554804934193349852946;
    if (!f.isReading() && (op.slope != kSlope || op.scale != kScale))
        return f.fail("act_type", "Selu with another alpha or gamma", "the alpha and gamma of Activation");
    op.slope = kSlope;
    op.scale = kScale;
}

} // namespace

void describe(OperatorFields &, ops::Opaque &) { }
void describe(OperatorFields &, ops::FusedProduct &) { } // its body says it: see readFusedOperator()

void describe(OperatorFields &, ops::Unary &) { }

void describe(OperatorFields &f, ops::Activation &op)
{
    using ops::UnaryKind;
    static constexpr std::string_view kTexts[] = {"relu", "sigmoid", "softrelu", "softsign", "tanh"};
    static constexpr UnaryKind kKinds[]
        = {UnaryKind::Relu, UnaryKind::Sigmoid, UnaryKind::Softplus, UnaryKind::Softsign, UnaryKind::Tanh};
    const auto *const at = std::ranges::find(kKinds, op.kind);
    if (at == std::end(kKinds))
        return f.fail("act_type", "a function that Activation does not have",
                      "relu, sigmoid, softrelu, softsign or tanh");
    auto index = static_cast<std::size_t>(at - std::begin(kKinds));
    f.choiceIndex("act_type", index, kTexts);
    op.kind = kKinds[index];
}

void describe(OperatorFields &f, ops::LeakyRelu &op)
{
    static constexpr std::string_view kKinds[] = {"leaky", "prelu", "elu", "selu", "gelu", "rrelu"};
    f.choice("act_type", op.kind, kKinds);
    if (op.kind == ops::LeakyRelu::Kind::Selu)
        return describeSelu(f, op);
    f.real("slope", op.slope);
    f.real("lower_bound", op.lowerBound);
    f.real("upper_bound", op.upperBound);
}

void describe(OperatorFields &, ops::Binary &) { }

void describe(OperatorFields &f, ops::ScalarBinary &op)
{
    f.real("scalar", op.scalar);
    f.boolean("is_int", op.scalarIsInteger);
}

void describe(OperatorFields &f, ops::Clip &op)
{
    f.real("a_min", op.low);
    f.real("a_max", op.high);
}

void describe(OperatorFields &f, ops::HardSigmoid &op)
{
    f.real("alpha", op.alpha);
    f.real("beta", op.beta);
}

void describe(OperatorFields &f, ops::SmoothL1 &op)
{
    f.optionalReal("scalar", op.sigma);
}

void describe(OperatorFields &f, ops::Join &op)
{
    f.integer("num_args", op.inputs);
}

void describe(OperatorFields &, ops::Where &) { }

void describe(OperatorFields &f, ops::Dropout &op)
{
    static constexpr std::string_view kModes[] = {"training", "always"};
    f.real("p", op.p);
    f.tuple("axes", op.axes);
    std::size_t mode = op.always ? 1 : 0;
    f.choiceIndex("mode", mode, kModes);
    op.always = mode == 1;
}

void describe(OperatorFields &f, ops::Cast &op)
{
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::MultiCast &op)
{
    f.integer("num_outputs", op.inputs);
    f.boolean("cast_narrow", op.narrow);
}

} // namespace halftone::dialect::mxnet

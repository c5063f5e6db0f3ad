#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {
namespace {

void describeRange(OperatorFields &f, ops::CalibratedRange &range)
{
    f.optionalReal("min_calib_range", range.low);
    f.optionalReal("max_calib_range", range.high);
}

void describeType(OperatorFields &f, ops::QuantizedType &type)
{
    static constexpr std::string_view kTypes[] = {"auto", "int8", "uint8"};
    f.choice("out_type", type, kTypes);
}

/// What an operator lacks of this is passed over.
template <class T>
void describeQuantized(OperatorFields &f, ops::Quantized<T> &op)
{
    describe(f, op.op);
    describeRange(f, op.range);
    f.boolean("enable_float_output", op.realOutput);
}

} // namespace

void describe(OperatorFields &f, ops::Quantize &op)
{
    if (!f.isReading() && op.rangeIsInput && op.type == ops::QuantizedType::Auto)
        return f.fail("out_type", "auto", "int8 or uint8, because the range is an input");
    describeType(f, op.type);
    if (!op.rangeIsInput)
        describeRange(f, op.range);
}

void describe(OperatorFields &f, ops::Requantize &op)
{
    describeType(f, op.type);
    describeRange(f, op.range);
}

void describe(OperatorFields &f, ops::Dequantize &op)
{
    f.dtype("out_type", op.dtype);
}

void describe(OperatorFields &f, ops::BatchNormRelu &op)
{
    describe(f, op.norm);
}

// clang-format off
void describe(OperatorFields &f, ops::Quantized<ops::Conv> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::FullyConnected> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::Pool> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::Activation> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::BatchNormalization> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::Concat> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::Flatten> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::Binary> &op) { describeQuantized(f, op); }
void describe(OperatorFields &f, ops::Quantized<ops::Embedding> &op) { describeQuantized(f, op); }
// clang-format on

} // namespace halftone::dialect::mxnet

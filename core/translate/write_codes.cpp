#include "core/translate/codes.h"
#include "core/translate/layer_nodes.h"
#include "core/translate/writers.h"

#include <algorithm>
#include <array>

/// Operators on codes of 8 bits other than products, and what makes codes of reals and the other way round.
namespace halftone::translate {
namespace {

using tensor::DType;

bool isCode(DType type)
{
    return type == DType::I8 || type == DType::U8;
}

/// The range that a result of 8 bits is said to have: symmetric where it is signed.
CodedRange saidOf(const CodedRange &range, DType type)
{
    return type == DType::I8 ? CodedRange{-range.magnitude(), range.magnitude()} : range;
}

Result<void> writeQuantize(NodeWriter &to, const ops::Quantize &op)
{
    const DType type = to.outType();
    HALFTONE_TRY(const CodedRange range,
                 op.rangeIsInput ? rangeAt(to, 1, type) : rangeOf(to, op.range, type));
    if (isCode(to.type(0)) && !op.rangeIsInput)
        to.set(to.add("Identity", {to.in()})); // codes already
    else
        to.set(encoded(to, to.in(), stepOf(type, range, !op.rangeIsInput), type));
    setRange(to, saidOf(range, type));
    return {};
}

/// Of codes of 32 bits; sums that are reals already have none.
Result<double> stepOfSums(const NodeWriter &to)
{
    constexpr double kSums = 2147483647.0;
    if (to.isSum(0))
        return 1.0;
    HALFTONE_TRY(const CodedRange range, rangeAt(to, 1, to.type(0)));
    return range.magnitude() / kSums;
}

Result<void> writeRequantize(NodeWriter &to, const ops::Requantize &op)
{
    const DType type = to.outType();
    HALFTONE_TRY(const double step, stepOfSums(to));
    HALFTONE_TRY(const CodedRange range, rangeOf(to, op.range, type));
    to.set(encoded(to, decoded(to, 0, step), stepOf(type, range, false), type));
    setRange(to, saidOf(range, type));
    return {};
}

Result<void> writeDequantize(NodeWriter &to, const ops::Dequantize &)
{
    if (to.isSum(0)) {
        to.set(to.add("Identity", {to.in()}));
        return {};
    }
    double step = 0;
    if (to.type(0) == DType::I32) {
        HALFTONE_TRY(step, stepOfSums(to));
    } else {
        HALFTONE_TRY(const CodedRange range, rangeAt(to, 1, to.type(0)));
        step = stepOf(to.type(0), range);
    }
    to.set(decoded(to, 0, step));
    return {};
}

Result<void> writePool(NodeWriter &to, const ops::Quantized<ops::Pool> &op)
{
    ops::Pool pool = op.op;
    // Beyond the padding, oneDNN in MXNet counts what is not there as zeros.
    pool.padsZeros = pool.kind == ops::Pool::Kind::Average && pool.countPadding;
    HALFTONE_TRY(const CodedRange range, rangeAt(to, 1, to.type(0)));
    const double step = stepOf(to.type(0), range);
    HALFTONE_TRY(const Value value, pooled(to, pool, decoded(to, 0, step)));
    to.set(encoded(to, value, step, to.outType()));
    setRange(to, range);
    return {};
}

Result<void> writeActivation(NodeWriter &to, const ops::Quantized<ops::Activation> &op)
{
    if (op.op.kind != ops::UnaryKind::Relu)
        return to.refuse("an int8 activation other than ReLU");
    if (to.isSum(0)) {
        to.set(to.add("Relu", {to.in()}));
        to.setSum();
        return {};
    }
    HALFTONE_TRY(const CodedRange range, rangeAt(to, 1, to.type(0)));
    const Value real = decoded(to, 0, stepOf(to.type(0), range));
    to.set(encoded(to, to.add("Relu", {real}), stepOf(to.outType(), range), to.outType()));
    setRange(to, range);
    return {};
}

Result<void> writeFlatten(NodeWriter &to, const ops::Quantized<ops::Flatten> &)
{
    HALFTONE_TRY(const CodedRange range, rangeAt(to, 1, to.type(0)));
    to.set(to.add("Flatten", {to.in()}));
    setRange(to, range);
    return {};
}

/// Data of int8 as they are; those of uint8 become int8 by `step` first.
Value decodedSigned(NodeWriter &to, std::size_t input, const CodedRange &range, double step)
{
    const Value real = decoded(to, input, stepOf(to.type(input), range));
    if (to.type(input) == DType::I8)
        return real;
    const Value codes = encoded(to, real, step, DType::I8);
    return to.add("DequantizeLinear",
                  {codes, to.number("scale", step, DType::F32), to.number("zero_point", 0, DType::I8)});
}

Result<void> writeBatchNormalization(NodeWriter &to, const ops::Quantized<ops::BatchNormalization> &op)
{
    HALFTONE_TRY(const CodedRange data, rangeAt(to, 5, to.type(0)));
    HALFTONE_TRY(const CodedRange range, rangeOf(to, op.range, to.outType()));
    const tensor::Shape &channels = to.shape(1);
    const auto count = channels.elementCount();
    if (!channels.isComplete() || !count)
        return to.unknownShape();
    const Value gamma = op.op.fixGamma
        ? to.numbers("ones", std::vector<double>(static_cast<std::size_t>(*count), 1), DType::F32, channels)
        : to.in(1);
    const Value real = decodedSigned(to, 0, data, stepOf(DType::I8, data));
    const Value value = to.add("BatchNormalization", {real, gamma, to.in(2), to.in(3), to.in(4)},
                               {{"epsilon", text(op.op.epsilon)}});
    to.set(encoded(to, value, stepOf(to.outType(), range), to.outType()));
    setRange(to, range);
    return {};
}

Result<void> writeConcat(NodeWriter &to, const ops::Quantized<ops::Concat> &op)
{
    const auto count = static_cast<std::size_t>(op.op.inputs);
    CodedRange all;
    Values parts;
    for (std::size_t k = 0; k < count; ++k) {
        HALFTONE_TRY(const CodedRange range, rangeAt(to, count + 2 * k, to.type(k)));
        all = {std::min(all.low, range.low), std::max(all.high, range.high)};
        parts.push_back(decoded(to, k, stepOf(to.type(k), range)));
    }
    HALFTONE_TRY(const std::int64_t axis, to.axis(op.op.axis));
    const Value joined = to.add("Concat", parts, {{"axis", text(axis)}});
    to.set(encoded(to, joined, stepOf(to.outType(), all), to.outType()));
    setRange(to, all);
    return {};
}

/// Codes where the range is calibrated; else reals, which stand for sums of 32 bits too.
void setBinary(NodeWriter &to, const Value &value, const std::optional<CodedRange> &range)
{
    to.set(range ? encoded(to, value, stepOf(to.outType(), *range), to.outType()) : value);
    if (range)
        setRange(to, *range);
    else
        to.setSum();
}

Result<void> writeBinary(NodeWriter &to, const ops::Quantized<ops::Binary> &op)
{
    HALFTONE_TRY(const CodedRange left, rangeAt(to, 2, to.type(0)));
    HALFTONE_TRY(const CodedRange right, rangeAt(to, 4, to.type(1)));
    std::optional<CodedRange> range;
    if (op.range.low && op.range.high && !op.realOutput) {
        HALFTONE_TRY(range, rangeOf(to, op.range, to.outType()));
    }
    if (op.op.kind == ops::BinaryKind::Add) {
        const bool isMixed = range && to.type(0) != to.type(1);
        const double step = isMixed ? stepOf(DType::I8, *range) : 0;
        const Value a = isMixed ? decodedSigned(to, 0, left, step) : decoded(to, 0, stepOf(to.type(0), left));
        const Value b
            = isMixed ? decodedSigned(to, 1, right, step) : decoded(to, 1, stepOf(to.type(1), right));
        setBinary(to, to.add("Add", {a, b}), range);
        return {};
    }
    if (op.op.kind != ops::BinaryKind::Mul)
        return to.refuse("an int8 operator of two tensors other than sum and product");
    const bool half = range || op.realOutput; // the range of sums counts whole codes
    setBinary(to,
              to.add("Mul",
                     {decoded(to, 0, stepOf(to.type(0), left, half)),
                      decoded(to, 1, stepOf(to.type(1), right, half))}),
              range);
    return {};
}

Result<void> writeEmbedding(NodeWriter &to, const ops::Quantized<ops::Embedding> &op)
{
    HALFTONE_TRY(const CodedRange range, rangeAt(to, 2, to.type(1)));
    const Value places = to.cast(to.in(), to.type(0), DType::I64);
    const Value within = to.add("Clip", {places, to.integer("first", 0), to.integer("last", op.op.rows - 1)});
    to.set(to.add("Gather", {to.in(1), within}));
    setRange(to, range);
    return {};
}

} // namespace

std::span<const WriterRow> codeWriters()
{
    static constexpr std::array kRows{
        writes<ops::Quantize, writeQuantize>(),
        writes<ops::Requantize, writeRequantize>(),
        writes<ops::Dequantize, writeDequantize>(),
        writes<ops::Quantized<ops::Pool>, writePool>(),
        writes<ops::Quantized<ops::Activation>, writeActivation>(),
        writes<ops::Quantized<ops::Flatten>, writeFlatten>(),
        writes<ops::Quantized<ops::BatchNormalization>, writeBatchNormalization>(),
        writes<ops::Quantized<ops::Concat>, writeConcat>(),
        writes<ops::Quantized<ops::Binary>, writeBinary>(),
        writes<ops::Quantized<ops::Embedding>, writeEmbedding>(),
    };
    return kRows;
}

} // namespace halftone::translate

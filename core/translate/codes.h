#pragma once

#include "core/ops/op_quantized.h"
#include "core/translate/node_writer.h"

#include <cstddef>
#include <vector>

/// Codes of 8 bits as ONNX has them. A tensor of codes stays one; whoever computes with it stands between DequantizeLinear and
/// QuantizeLinear, with the steps of core/quantize/RULES.md, section 3.
namespace halftone::translate {

/// What the codes of a range stand for.
struct CodedRange
{
    double low = 0;
    double high = 0;

    double magnitude() const;
};

/// The real that one code more stands for. half: the end of the range lies half a code beyond the last one (R, else K).
double stepOf(tensor::DType type, const CodedRange &range, bool half = true);

/// The range that two inputs tell. fails: Unsupported where it is found when the model runs, or codes count from its low end
Result<CodedRange> rangeAt(const NodeWriter &to, std::size_t low, tensor::DType type);
/// The range that was calibrated. fails: likewise
Result<CodedRange> rangeOf(const NodeWriter &to, const ops::CalibratedRange &range, tensor::DType type);
void setRange(NodeWriter &to, const CodedRange &range);

/// The reals of an input: of codes by `step`, of sums as they are.
Value decoded(NodeWriter &to, std::size_t input, double step);
Value encoded(NodeWriter &to, const Value &real, double step, tensor::DType type);
/// Constants that are codes. steps: one, or one a place of the first axis
Value decodedConstant(NodeWriter &to, std::string_view what, tensor::Tensor codes,
                      const std::vector<double> &steps);

} // namespace halftone::translate

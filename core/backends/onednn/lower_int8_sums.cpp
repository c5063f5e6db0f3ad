#include "core/backends/onednn/int8_scales.h"

#include <algorithm>
#include <cmath>

/// MXNet's plain operators on codes, one by one: sums of 32 bits, and codes of 8 bits that are made of them.
namespace halftone::backends::onednn {
namespace {

/// The sums themselves, by the kernels of fused products.
Result<void> lowerSums(Emitter &emitter, const plan::PlanNode &node)
{
    const plan::PlanGraph &graph = emitter.graph();
    if (node.outputs.size() != 3 || !graph.isConstant(node.outputs[1]) || !graph.isConstant(node.outputs[2]))
        return unsupported("plan", "a range that is only known at run time");
    const auto product = ops::plainProduct(node.op);
    if (!product || node.inputs.size() != product->inputCount())
        return unsupported("plan", "not a plain product of codes");
    return lowerFusedProduct(emitter, node, *product);
}

} // namespace

Result<void> lowerInt8Sums(Emitter &emitter, const plan::PlanNode &node, const ops::Quantized<ops::Conv> &)
{
    return lowerSums(emitter, node);
}

Result<void> lowerInt8FullSums(Emitter &emitter, const plan::PlanNode &node,
                               const ops::Quantized<ops::FullyConnected> &)
{
    return lowerSums(emitter, node);
}

Result<void> lowerRequantize(Emitter &emitter, const plan::PlanNode &node, const ops::Requantize &requantize)
{
    const tensor::DType type = emitter.desc(node.outputs[0]).dtype;
    const auto codes = ops::requantizedTo(requantize, type);
    if (!codes || emitter.desc(node.inputs[0]).dtype != tensor::DType::I32)
        return unsupported("plan", "requantizing without a calibrated range");
    HALFTONE_CHECK(resultScale(emitter, node));
    HALFTONE_TRY(const Int8Ends sums, codeEnds(emitter, node.inputs[0], node.inputs[1], node.inputs[2]));
    constexpr double kLargest = 2147483647.0;
    const double step = std::max(std::abs(sums.low), std::abs(sums.high)) / kLargest;
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const Place result = emitter.write(node.outputs[0], withType(source.desc, *dnnlType(type)));
    return rescale(emitter, node, source, result, step * codes->scale());
}

} // namespace halftone::backends::onednn

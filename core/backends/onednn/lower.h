#pragma once

#include "core/backends/onednn/emitter.h"

namespace halftone::backends::onednn {

/// Adds the steps of one node, post-operations included.
/// fails  Unsupported where oneDNN has no primitive for it, saying what is in the way; nothing was added then
Result<void> lower(Emitter &emitter, const plan::PlanNode &node);

/// One function a family; lower() chooses by the operator's type.
Result<void> lowerConv(Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv);
/// By a kernel of our own. false: it does not serve here, or oneDNN's is about as fast; nothing was added
Result<bool> lowerWinograd(Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv);
Result<void> lowerConvTranspose(Emitter &emitter, const plan::PlanNode &node,
                                const ops::ConvTranspose &deconv);
Result<void> lowerFullyConnected(Emitter &emitter, const plan::PlanNode &node,
                                 const ops::FullyConnected &full);
/// The data of a fully connected layer as an inner product reads them: rows first; with `flatten` all other axes are columns, else
/// the last one alone.
Dims productDims(const tensor::Shape &data, bool flatten);
Result<void> lowerMatMul(Emitter &emitter, const plan::PlanNode &node, const ops::MatMul &product);
Result<void> lowerGemm(Emitter &emitter, const plan::PlanNode &node, const ops::Gemm &gemm);
Result<void> lowerPool(Emitter &emitter, const plan::PlanNode &node, const ops::Pool &pool);
Result<void> lowerBatchNormalization(Emitter &emitter, const plan::PlanNode &node,
                                     const ops::BatchNormalization &norm);
Result<void> lowerLayerNormalization(Emitter &emitter, const plan::PlanNode &node,
                                     const ops::LayerNormalization &norm);
Result<void> lowerRowAttention(Emitter &emitter, const plan::PlanNode &node,
                               const ops::RowAttention &attention);
/// By a kernel of our own (lower_recurrence.cpp).
Result<void> lowerRecurrence(Emitter &emitter, const plan::PlanNode &node, const ops::Recurrence &op);
Result<void> lowerReduce(Emitter &emitter, const plan::PlanNode &node, const ops::Reduce &reduce);
Result<void> lowerLRN(Emitter &emitter, const plan::PlanNode &node, const ops::LRN &norm);
Result<void> lowerSoftmax(Emitter &emitter, const plan::PlanNode &node, const ops::Softmax &softmax);
Result<void> lowerSoftmaxActivation(Emitter &emitter, const plan::PlanNode &node,
                                    const ops::SoftmaxActivation &softmax);
Result<void> lowerBinary(Emitter &emitter, const plan::PlanNode &node, const ops::Binary &binary);
Result<void> lowerJoin(Emitter &emitter, const plan::PlanNode &node, const ops::Join &join);
Result<void> lowerCast(Emitter &emitter, const plan::PlanNode &node, const ops::Cast &cast);
Result<void> lowerConcat(Emitter &emitter, const plan::PlanNode &node, const ops::Concat &concat);
/// Operators on codes whose ranges are constants (lower_int8*.cpp).
Result<void> lowerFusedProduct(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op);
Result<void> lowerInt8Sums(Emitter &emitter, const plan::PlanNode &node,
                           const ops::Quantized<ops::Conv> &conv);
Result<void> lowerInt8FullSums(Emitter &emitter, const plan::PlanNode &node,
                               const ops::Quantized<ops::FullyConnected> &full);
Result<void> lowerRequantize(Emitter &emitter, const plan::PlanNode &node, const ops::Requantize &requantize);
Result<void> lowerQuantize(Emitter &emitter, const plan::PlanNode &node, const ops::Quantize &quantize);
Result<void> lowerDequantize(Emitter &emitter, const plan::PlanNode &node, const ops::Dequantize &dequantize);
Result<void> lowerInt8Pool(Emitter &emitter, const plan::PlanNode &node,
                           const ops::Quantized<ops::Pool> &pool);
Result<void> lowerInt8Relu(Emitter &emitter, const plan::PlanNode &node,
                           const ops::Quantized<ops::Activation> &activation);
Result<void> lowerInt8Concat(Emitter &emitter, const plan::PlanNode &node,
                             const ops::Quantized<ops::Concat> &concat);
Result<void> lowerInt8Binary(Emitter &emitter, const plan::PlanNode &node,
                             const ops::Quantized<ops::Binary> &binary);
Result<void> lowerInt8BatchNorm(Emitter &emitter, const plan::PlanNode &node,
                                const ops::Quantized<ops::BatchNormalization> &norm);
Result<void> lowerInt8Flatten(Emitter &emitter, const plan::PlanNode &node,
                              const ops::Quantized<ops::Flatten> &flatten);
/// Operators on codes by scales and zero points (lower_codes*.cpp).
Result<void> lowerCodedChain(Emitter &emitter, const plan::PlanNode &node, const ops::CodedChain &chain);
Result<void> lowerQuantizeLinear(Emitter &emitter, const plan::PlanNode &node,
                                 const ops::QuantizeLinear &code);
Result<void> lowerDequantizeLinear(Emitter &emitter, const plan::PlanNode &node,
                                   const ops::DequantizeLinear &decode);
Result<void> lowerCodedAverage(Emitter &emitter, const plan::PlanNode &node,
                               const ops::CodedAverage &average);
Result<void> lowerCodedMultiply(Emitter &emitter, const plan::PlanNode &node,
                                const ops::CodedMultiply &scales);
/// The same where only a run tells the scale (lower_sums.cpp).
Result<void> lowerCodedSums(Emitter &emitter, const plan::PlanNode &node, const ops::CodedSums &sums);
/// The same in float32, for processors that do not add products of codes exactly: as long as no sum can pass 2^24, float32 does.
Result<void> lowerWideSums(Emitter &emitter, const plan::PlanNode &node, const ops::CodedSums &sums);
Result<void> lowerDynamicQuantizeLinear(Emitter &emitter, const plan::PlanNode &node,
                                        const ops::DynamicQuantizeLinear &code);
/// The extents of a window as oneDNN wants them.
struct PoolWindow
{
    Dims kernel;
    Dims stride;
    Dims padBegin;
    Dims padEnd;
    bool reachesBeyond = false; ///< a window covers more than the padding at the end
};
Result<PoolWindow> poolWindow(const ops::Pool &pool, const Dims &from, const Dims &to);

/// Operators that leave the elements in their order: no step at all.
Result<void> lowerView(Emitter &emitter, const plan::PlanNode &node);
Result<void> lowerTranspose(Emitter &emitter, const plan::PlanNode &node, const Dims &axes);
/// Where each axis of a transposition's result comes from; nothing for another operator.
std::optional<Dims> transposedAxes(const ops::Operator &op, std::size_t rank);
Result<void> lowerUpsample(Emitter &emitter, const plan::PlanNode &node, const ops::Upsample &upsample);
Result<void> lowerResize(Emitter &emitter, const plan::PlanNode &node, const ops::Resize &resample);

/// oneDNN's post-operations of a node and the memory that they read.
struct PostOps
{
    dnnl::primitive_attr attributes; ///< user scratchpad, too
    Program::Arguments arguments;
    std::optional<Place> sum; ///< the result is added to what lies there, and overwrites it
};

/// May a summand that nobody else reads be overwritten by the result? Some kernels take that only as the first post-operation.
enum class SumInPlace
{
    Allowed,
    Never
};

/// An operation on the result and a tensor that comes before the node's own.
struct LeadingPost
{
    dnnl::algorithm algorithm = dnnl::algorithm::undef;
    Place operand;
};

/// result  layout of what the node writes
/// fails   Unsupported for a post-operation that oneDNN lacks
Result<PostOps> makePostOps(Emitter &emitter, const plan::PlanNode &node, const Desc &result,
                            SumInPlace sum = SumInPlace::Allowed, std::span<const LeadingPost> first = {});

struct Eltwise
{
    dnnl::algorithm algorithm = dnnl::algorithm::undef;
    float alpha = 0;
    float beta = 0;
};

Eltwise eltwiseOf(const ops::ElementFunction &function);
/// Nothing for an operator that is no function of one element that oneDNN has.
std::optional<Eltwise> eltwiseOf(const ops::Operator &op);
/// The operator as it computes on `data`: float16, and what is emulated, holds a scalar in the tensor's type.
ops::Operator withScalarIn(tensor::DType data, const ops::Operator &op);
Result<void> lowerElementFunction(Emitter &emitter, const plan::PlanNode &node, const Eltwise &eltwise);
std::optional<dnnl::algorithm> algorithmOf(ops::BinaryKind kind);

/// fails: Unsupported for a type other than float32 and bfloat16.
Result<Type> floatType(const Emitter &emitter, plan::ValueId value);

/// The result of a step, which the attributes of `post` may want in a place that exists already.
Place resultPlace(Emitter &emitter, plan::ValueId value, const Desc &desc, const PostOps &post);

} // namespace halftone::backends::onednn

#pragma once

#include "core/dialect/mxnet/operator_fields.h"
#include "core/ops/operator.h"

/// How MXNet spells each struct's fields: one function a struct, for reading and writing. What an operator's
/// name alone decides (a Unary's kind) stands in operator_rows.cpp.
namespace halftone::dialect::mxnet {

// clang-format off
void describe(OperatorFields &, ops::Opaque &);
void describe(OperatorFields &, ops::ControlFlow &);
void describe(OperatorFields &, ops::FusedProduct &);

void describe(OperatorFields &, ops::Conv &);
void describe(OperatorFields &, ops::ConvTranspose &);
void describe(OperatorFields &, ops::FullyConnected &);
void describe(OperatorFields &, ops::MatMul &);
void describe(OperatorFields &, ops::Gemm &);
void describe(OperatorFields &, ops::AttentionProduct &);
void describe(OperatorFields &, ops::Embedding &);
void describe(OperatorFields &, ops::Recurrence &);

void describe(OperatorFields &, ops::BatchNormalization &);
void describe(OperatorFields &, ops::LayerNormalization &);
void describe(OperatorFields &, ops::GroupNormalization &);
void describe(OperatorFields &, ops::InstanceNormalization &);
void describe(OperatorFields &, ops::LpNormalization &);
void describe(OperatorFields &, ops::LRN &);

void describe(OperatorFields &, ops::Pool &);
void describe(OperatorFields &, ops::AdaptiveAveragePool &);
void describe(OperatorFields &, ops::Upsample &);
void describe(OperatorFields &, ops::BilinearResize &);
void describe(OperatorFields &, ops::Crop &);
void describe(OperatorFields &, ops::RoiPool &);
void describe(OperatorFields &, ops::BoxPrior &);
void describe(OperatorFields &, ops::BoxDetection &);
void describe(OperatorFields &, ops::BoxTarget &);
void describe(OperatorFields &, ops::BoxNms &);
void describe(OperatorFields &, ops::BoxIou &);

void describe(OperatorFields &, ops::Unary &);
void describe(OperatorFields &, ops::Activation &);
void describe(OperatorFields &, ops::LeakyRelu &);
void describe(OperatorFields &, ops::Binary &);
void describe(OperatorFields &, ops::ScalarBinary &);
void describe(OperatorFields &, ops::Clip &);
void describe(OperatorFields &, ops::HardSigmoid &);
void describe(OperatorFields &, ops::SmoothL1 &);
void describe(OperatorFields &, ops::Join &);
void describe(OperatorFields &, ops::Where &);
void describe(OperatorFields &, ops::Dropout &);
void describe(OperatorFields &, ops::Cast &);
void describe(OperatorFields &, ops::MultiCast &);

void describe(OperatorFields &, ops::Reduce &);
void describe(OperatorFields &, ops::Moments &);
void describe(OperatorFields &, ops::ArgReduce &);
void describe(OperatorFields &, ops::Softmax &);
void describe(OperatorFields &, ops::SoftmaxActivation &);
void describe(OperatorFields &, ops::SoftmaxOutput &);
void describe(OperatorFields &, ops::RegressionOutput &);
void describe(OperatorFields &, ops::LossOutput &);
void describe(OperatorFields &, ops::SoftmaxCrossEntropy &);
void describe(OperatorFields &, ops::TopK &);
void describe(OperatorFields &, ops::Sort &);
void describe(OperatorFields &, ops::ArgSort &);

void describe(OperatorFields &, ops::Concat &);
void describe(OperatorFields &, ops::Stack &);
void describe(OperatorFields &, ops::Split &);
void describe(OperatorFields &, ops::Reshape &);
void describe(OperatorFields &, ops::Flatten &);
void describe(OperatorFields &, ops::Unsqueeze &);
void describe(OperatorFields &, ops::Squeeze &);
void describe(OperatorFields &, ops::Transpose &);
void describe(OperatorFields &, ops::SwapAxes &);
void describe(OperatorFields &, ops::Slice &);
void describe(OperatorFields &, ops::SliceLike &);
void describe(OperatorFields &, ops::Pad &);
void describe(OperatorFields &, ops::Tile &);
void describe(OperatorFields &, ops::Repeat &);
void describe(OperatorFields &, ops::Reverse &);
void describe(OperatorFields &, ops::Expand &);
void describe(OperatorFields &, ops::BroadcastAxes &);
void describe(OperatorFields &, ops::BroadcastLike &);
void describe(OperatorFields &, ops::ReshapeLike &);
void describe(OperatorFields &, ops::DepthToSpace &);
void describe(OperatorFields &, ops::SpaceToDepth &);
void describe(OperatorFields &, ops::Gather &);
void describe(OperatorFields &, ops::GatherND &);
void describe(OperatorFields &, ops::ScatterIntoZeros &);
void describe(OperatorFields &, ops::Pick &);
void describe(OperatorFields &, ops::BatchTake &);
void describe(OperatorFields &, ops::OneHot &);
void describe(OperatorFields &, ops::Sequence &);
void describe(OperatorFields &, ops::ShapeOf &);
void describe(OperatorFields &, ops::Fill &);
void describe(OperatorFields &, ops::Range &);
void describe(OperatorFields &, ops::RangeLike &);

void describe(OperatorFields &, ops::BoxDecode &);
void describe(OperatorFields &, ops::BoxEncode &);
void describe(OperatorFields &, ops::BoxMatch &);
void describe(OperatorFields &, ops::Proposal &);
void describe(OperatorFields &, ops::PositionPool &);
void describe(OperatorFields &, ops::RotatedRoiAlign &);
void describe(OperatorFields &, ops::DeformConv &);
void describe(OperatorFields &, ops::Unfold &);
void describe(OperatorFields &, ops::Col2Im &);
void describe(OperatorFields &, ops::Correlation &);
void describe(OperatorFields &, ops::SamplingGrid &);
void describe(OperatorFields &, ops::GridSample &);
void describe(OperatorFields &, ops::SpatialTransformer &);
void describe(OperatorFields &, ops::Picture &);

void describe(OperatorFields &, ops::LinearAlgebra &);
void describe(OperatorFields &, ops::ColumnKronecker &);
void describe(OperatorFields &, ops::DFT &);

void describe(OperatorFields &, ops::IndexCopy &);
void describe(OperatorFields &, ops::Compress &);
void describe(OperatorFields &, ops::SliceAssign &);
void describe(OperatorFields &, ops::ScatterAssign &);
void describe(OperatorFields &, ops::IndexArray &);
void describe(OperatorFields &, ops::Diagonal &);
void describe(OperatorFields &, ops::FlatIndex &);
void describe(OperatorFields &, ops::Histogram &);
void describe(OperatorFields &, ops::CumSum &);
void describe(OperatorFields &, ops::EyeLike &);
void describe(OperatorFields &, ops::Linspace &);
void describe(OperatorFields &, ops::Quadratic &);
void describe(OperatorFields &, ops::AllFinite &);

void describe(OperatorFields &, ops::CtcLoss &);
void describe(OperatorFields &, ops::SvmOutput &);
void describe(OperatorFields &, ops::SparsityPenalty &);

void describe(OperatorFields &, ops::Random &);
void describe(OperatorFields &, ops::RandomSample &);
void describe(OperatorFields &, ops::Multinomial &);
void describe(OperatorFields &, ops::Density &);
void describe(OperatorFields &, ops::Shuffle &);

void describe(OperatorFields &, ops::Quantize &);
void describe(OperatorFields &, ops::Requantize &);
void describe(OperatorFields &, ops::Dequantize &);
void describe(OperatorFields &, ops::BatchNormRelu &);
void describe(OperatorFields &, ops::Quantized<ops::Conv> &);
void describe(OperatorFields &, ops::Quantized<ops::FullyConnected> &);
void describe(OperatorFields &, ops::Quantized<ops::Pool> &);
void describe(OperatorFields &, ops::Quantized<ops::Activation> &);
void describe(OperatorFields &, ops::Quantized<ops::BatchNormalization> &);
void describe(OperatorFields &, ops::Quantized<ops::Concat> &);
void describe(OperatorFields &, ops::Quantized<ops::Flatten> &);
void describe(OperatorFields &, ops::Quantized<ops::Binary> &);
void describe(OperatorFields &, ops::Quantized<ops::Embedding> &);
// clang-format on

/// A struct that MXNet has an operator for.
template <class Op>
concept Described = requires(OperatorFields &fields, Op &op)
{
    describe(fields, op);
};

} // namespace halftone::dialect::mxnet

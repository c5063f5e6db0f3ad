#pragma once

#include "core/backends/reference/arrays.h"
#include "core/ops/operator.h"

/// One function an operator: compute() for those that calculate, for float and double, move() for those that only put
/// elements elsewhere. The backend finds them by overload; an operator without either has no reference kernel.
namespace halftone::backends::reference {

/// Defines a kernel for both number types at the end of its file.
#define HALFTONE_BOTH(Op)                                                                                    \
    template Result<void> compute(const ops::Op &, const Arrays<float> &);                                   \
    template Result<void> compute(const ops::Op &, const Arrays<double> &);

// clang-format off
template <class Real> Result<void> compute(const ops::Binary &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::ScalarBinary &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxPrior &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxDetection &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxNms &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxIou &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxDecode &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Conv &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::ConvTranspose &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::FullyConnected &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::MatMul &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Gemm &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::AttentionProduct &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BatchNormalization &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::LayerNormalization &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::GroupNormalization &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::InstanceNormalization &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::LpNormalization &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::LRN &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::TopK &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Sort &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::ArgSort &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Pool &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::AdaptiveAveragePool &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Reduce &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Moments &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::ArgReduce &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::RoiPool &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BilinearResize &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Upsample &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Softmax &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SoftmaxActivation &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SoftmaxOutput &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SoftmaxCrossEntropy &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Unary &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Activation &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::LeakyRelu &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Clip &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::HardSigmoid &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SmoothL1 &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::RegressionOutput &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxEncode &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Proposal &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::DeformConv &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SamplingGrid &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::GridSample &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SpatialTransformer &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Correlation &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::LinearAlgebra &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::CtcLoss &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantize &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Requantize &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Dequantize &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quadratic &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::AllFinite &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::CumSum &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Histogram &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BatchNormRelu &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::ColumnKronecker &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxTarget &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BoxMatch &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::PositionPool &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::RotatedRoiAlign &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Unfold &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Col2Im &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Picture &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Random &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::RandomSample &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Multinomial &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Density &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Curve &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::IsInf &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::BatchNormTraining &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::MeanVarianceNormalization &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Resize &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::AffineGrid &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::RoiAlign &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::DFT &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::STFT &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Recurrence &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Attention &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::RotaryEmbedding &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::QuantizeLinear &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::DequantizeLinear &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::DynamicQuantizeLinear &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::CodedConv &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::CodedMatMul &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::TreeEnsemble &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::SupportVectors &, const Arrays<Real> &);

Result<void> move(const ops::ShapeOf &, const RawArrays &);
Result<void> move(const ops::Fill &, const RawArrays &);
Result<void> move(const ops::Range &, const RawArrays &);
Result<void> move(const ops::RangeLike &, const RawArrays &);
Result<void> move(const ops::Embedding &, const RawArrays &);
Result<void> move(const ops::Gather &, const RawArrays &);
Result<void> move(const ops::GatherND &, const RawArrays &);
Result<void> move(const ops::ScatterIntoZeros &, const RawArrays &);
Result<void> move(const ops::IndexCopy &, const RawArrays &);
Result<void> move(const ops::Pick &, const RawArrays &);
Result<void> move(const ops::BatchTake &, const RawArrays &);
Result<void> move(const ops::OneHot &, const RawArrays &);
Result<void> move(const ops::Where &, const RawArrays &);
Result<void> move(const ops::Sequence &, const RawArrays &);
Result<void> move(const ops::Reshape &, const RawArrays &);
Result<void> move(const ops::Flatten &, const RawArrays &);
Result<void> move(const ops::Squeeze &, const RawArrays &);
Result<void> move(const ops::ReshapeLike &, const RawArrays &);
Result<void> move(const ops::LossOutput &, const RawArrays &);
Result<void> move(const ops::Dropout &, const RawArrays &);
Result<void> move(const ops::Cast &, const RawArrays &);
Result<void> move(const ops::MultiCast &, const RawArrays &);
Result<void> move(const ops::Transpose &, const RawArrays &);
Result<void> move(const ops::SwapAxes &, const RawArrays &);
Result<void> move(const ops::Slice &, const RawArrays &);
Result<void> move(const ops::SliceLike &, const RawArrays &);
Result<void> move(const ops::Crop &, const RawArrays &);
Result<void> move(const ops::Reverse &, const RawArrays &);
Result<void> move(const ops::BroadcastAxes &, const RawArrays &);
Result<void> move(const ops::BroadcastLike &, const RawArrays &);
Result<void> move(const ops::Tile &, const RawArrays &);
Result<void> move(const ops::Repeat &, const RawArrays &);
Result<void> move(const ops::Pad &, const RawArrays &);
Result<void> move(const ops::DepthToSpace &, const RawArrays &);
Result<void> move(const ops::SpaceToDepth &, const RawArrays &);
Result<void> move(const ops::Concat &, const RawArrays &);
Result<void> move(const ops::Stack &, const RawArrays &);
Result<void> move(const ops::Split &, const RawArrays &);
Result<void> move(const ops::Linspace &, const RawArrays &);
Result<void> move(const ops::IndexArray &, const RawArrays &);
Result<void> move(const ops::FlatIndex &, const RawArrays &);
Result<void> move(const ops::Diagonal &, const RawArrays &);
Result<void> move(const ops::SliceAssign &, const RawArrays &);
Result<void> move(const ops::ScatterAssign &, const RawArrays &);
Result<void> move(const ops::Shuffle &, const RawArrays &);
Result<void> move(const ops::SvmOutput &, const RawArrays &);
Result<void> move(const ops::SparsityPenalty &, const RawArrays &);
Result<void> move(const ops::ClipBetween &, const RawArrays &);
Result<void> move(const ops::Join &, const RawArrays &);
Result<void> move(const ops::Unsqueeze &, const RawArrays &);
Result<void> move(const ops::Expand &, const RawArrays &);
Result<void> move(const ops::GatherElements &, const RawArrays &);
Result<void> move(const ops::ScatterElements &, const RawArrays &);
Result<void> move(const ops::ScatterND &, const RawArrays &);
Result<void> move(const ops::TensorScatter &, const RawArrays &);
Result<void> move(const ops::Compress &, const RawArrays &);
Result<void> move(const ops::NonZero &, const RawArrays &);
Result<void> move(const ops::TensorList &, const RawArrays &);
Result<void> move(const ops::Trilu &, const RawArrays &);
Result<void> move(const ops::EyeLike &, const RawArrays &);
Result<void> move(const ops::CenterCropPad &, const RawArrays &);
Result<void> move(const ops::MaxUnpool &, const RawArrays &);
Result<void> move(const ops::NonMaxSuppression &, const RawArrays &);
Result<void> move(const ops::Einsum &, const RawArrays &);
Result<void> move(const ops::TfIdfVectorizer &, const RawArrays &);
// clang-format on

/// Which of the above there is for an operator.
template <class Op, class Real>
concept Computes = requires(const Op &op, const Arrays<Real> &arrays)
{
    compute(op, arrays);
};
template <class Op>
concept Moves = requires(const Op &op, const RawArrays &arrays)
{
    move(op, arrays);
};

template <class Op>
concept ComputesRaw = requires(const Op &op, const RawArrays &arrays)
{
    computeRaw(op, arrays);
};

} // namespace halftone::backends::reference

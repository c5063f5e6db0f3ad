#pragma once

#include "core/ops/operator.h"
#include "core/ops/shape_slots.h"

/// One shape rule an operator; inferShapes() picks it. Contract: infer_shape.h.
namespace halftone::ops {

// clang-format off
Result<void> infer(const Opaque &, ShapeSlots &);
Result<void> infer(const ControlFlow &, ShapeSlots &);

Result<void> infer(const Conv &, ShapeSlots &);
Result<void> infer(const ConvTranspose &, ShapeSlots &);
Result<void> infer(const FullyConnected &, ShapeSlots &);
Result<void> infer(const MatMul &, ShapeSlots &);
Result<void> infer(const Gemm &, ShapeSlots &);
Result<void> infer(const AttentionProduct &, ShapeSlots &);
Result<void> infer(const Embedding &, ShapeSlots &);

Result<void> infer(const BatchNormalization &, ShapeSlots &);
Result<void> infer(const LayerNormalization &, ShapeSlots &);
Result<void> infer(const GroupNormalization &, ShapeSlots &);
Result<void> infer(const InstanceNormalization &, ShapeSlots &);
Result<void> infer(const LpNormalization &, ShapeSlots &);
Result<void> infer(const LRN &, ShapeSlots &);

Result<void> infer(const Pool &, ShapeSlots &);
Result<void> infer(const AdaptiveAveragePool &, ShapeSlots &);
Result<void> infer(const Upsample &, ShapeSlots &);
Result<void> infer(const BilinearResize &, ShapeSlots &);
Result<void> infer(const Crop &, ShapeSlots &);
Result<void> infer(const RoiPool &, ShapeSlots &);
Result<void> infer(const BoxPrior &, ShapeSlots &);
Result<void> infer(const BoxDetection &, ShapeSlots &);
Result<void> infer(const BoxTarget &, ShapeSlots &);
Result<void> infer(const BoxNms &, ShapeSlots &);
Result<void> infer(const BoxIou &, ShapeSlots &);

Result<void> infer(const Unary &, ShapeSlots &);
Result<void> infer(const Activation &, ShapeSlots &);
Result<void> infer(const LeakyRelu &, ShapeSlots &);
Result<void> infer(const Binary &, ShapeSlots &);
Result<void> infer(const ScalarBinary &, ShapeSlots &);
Result<void> infer(const Clip &, ShapeSlots &);
Result<void> infer(const HardSigmoid &, ShapeSlots &);
Result<void> infer(const SmoothL1 &, ShapeSlots &);
Result<void> infer(const Where &, ShapeSlots &);
Result<void> infer(const Dropout &, ShapeSlots &);
Result<void> infer(const Cast &, ShapeSlots &);
Result<void> infer(const MultiCast &, ShapeSlots &);

Result<void> infer(const Reduce &, ShapeSlots &);
Result<void> infer(const Moments &, ShapeSlots &);
Result<void> infer(const ArgReduce &, ShapeSlots &);
Result<void> infer(const Softmax &, ShapeSlots &);
Result<void> infer(const SoftmaxActivation &, ShapeSlots &);
Result<void> infer(const SoftmaxOutput &, ShapeSlots &);
Result<void> infer(const RegressionOutput &, ShapeSlots &);
Result<void> infer(const LossOutput &, ShapeSlots &);
Result<void> infer(const SoftmaxCrossEntropy &, ShapeSlots &);
Result<void> infer(const TopK &, ShapeSlots &);
Result<void> infer(const Sort &, ShapeSlots &);
Result<void> infer(const ArgSort &, ShapeSlots &);

Result<void> infer(const Concat &, ShapeSlots &);
Result<void> infer(const Stack &, ShapeSlots &);
Result<void> infer(const Split &, ShapeSlots &);
Result<void> infer(const Reshape &, ShapeSlots &);
Result<void> infer(const Flatten &, ShapeSlots &);
Result<void> infer(const Squeeze &, ShapeSlots &);
Result<void> infer(const Transpose &, ShapeSlots &);
Result<void> infer(const SwapAxes &, ShapeSlots &);
Result<void> infer(const Slice &, ShapeSlots &);
Result<void> infer(const SliceLike &, ShapeSlots &);
Result<void> infer(const Pad &, ShapeSlots &);
Result<void> infer(const Tile &, ShapeSlots &);
Result<void> infer(const Repeat &, ShapeSlots &);
Result<void> infer(const Reverse &, ShapeSlots &);
Result<void> infer(const BroadcastAxes &, ShapeSlots &);
Result<void> infer(const BroadcastLike &, ShapeSlots &);
Result<void> infer(const ReshapeLike &, ShapeSlots &);
Result<void> infer(const DepthToSpace &, ShapeSlots &);
Result<void> infer(const SpaceToDepth &, ShapeSlots &);
Result<void> infer(const Gather &, ShapeSlots &);
Result<void> infer(const GatherND &, ShapeSlots &);
Result<void> infer(const ScatterIntoZeros &, ShapeSlots &);
Result<void> infer(const Pick &, ShapeSlots &);
Result<void> infer(const BatchTake &, ShapeSlots &);
Result<void> infer(const OneHot &, ShapeSlots &);
Result<void> infer(const Sequence &, ShapeSlots &);
Result<void> infer(const ShapeOf &, ShapeSlots &);
Result<void> infer(const Fill &, ShapeSlots &);
Result<void> infer(const Range &, ShapeSlots &);
Result<void> infer(const RangeLike &, ShapeSlots &);

Result<void> infer(const BoxDecode &, ShapeSlots &);
Result<void> infer(const BoxEncode &, ShapeSlots &);
Result<void> infer(const BoxMatch &, ShapeSlots &);
Result<void> infer(const Proposal &, ShapeSlots &);
Result<void> infer(const PositionPool &, ShapeSlots &);
Result<void> infer(const RotatedRoiAlign &, ShapeSlots &);
Result<void> infer(const DeformConv &, ShapeSlots &);
Result<void> infer(const Unfold &, ShapeSlots &);
Result<void> infer(const Col2Im &, ShapeSlots &);
Result<void> infer(const Correlation &, ShapeSlots &);
Result<void> infer(const SamplingGrid &, ShapeSlots &);
Result<void> infer(const GridSample &, ShapeSlots &);
Result<void> infer(const SpatialTransformer &, ShapeSlots &);
Result<void> infer(const Picture &, ShapeSlots &);

Result<void> infer(const LinearAlgebra &, ShapeSlots &);
Result<void> infer(const ColumnKronecker &, ShapeSlots &);

Result<void> infer(const IndexCopy &, ShapeSlots &);
Result<void> infer(const SliceAssign &, ShapeSlots &);
Result<void> infer(const ScatterAssign &, ShapeSlots &);
Result<void> infer(const IndexArray &, ShapeSlots &);
Result<void> infer(const Diagonal &, ShapeSlots &);
Result<void> infer(const FlatIndex &, ShapeSlots &);
Result<void> infer(const Histogram &, ShapeSlots &);
Result<void> infer(const CumSum &, ShapeSlots &);
Result<void> infer(const Linspace &, ShapeSlots &);
Result<void> infer(const Quadratic &, ShapeSlots &);
Result<void> infer(const AllFinite &, ShapeSlots &);

Result<void> infer(const CtcLoss &, ShapeSlots &);
Result<void> infer(const SvmOutput &, ShapeSlots &);
Result<void> infer(const SparsityPenalty &, ShapeSlots &);

Result<void> infer(const Random &, ShapeSlots &);
Result<void> infer(const RandomSample &, ShapeSlots &);
Result<void> infer(const Multinomial &, ShapeSlots &);
Result<void> infer(const Density &, ShapeSlots &);
Result<void> infer(const Shuffle &, ShapeSlots &);

Result<void> infer(const Curve &, ShapeSlots &);
Result<void> infer(const IsInf &, ShapeSlots &);
Result<void> infer(const ClipBetween &, ShapeSlots &);
Result<void> infer(const Join &, ShapeSlots &);
Result<void> infer(const BatchNormTraining &, ShapeSlots &);
Result<void> infer(const MeanVarianceNormalization &, ShapeSlots &);
Result<void> infer(const Unsqueeze &, ShapeSlots &);
Result<void> infer(const Expand &, ShapeSlots &);
Result<void> infer(const GatherElements &, ShapeSlots &);
Result<void> infer(const ScatterElements &, ShapeSlots &);
Result<void> infer(const ScatterND &, ShapeSlots &);
Result<void> infer(const TensorScatter &, ShapeSlots &);
Result<void> infer(const Compress &, ShapeSlots &);
Result<void> infer(const NonZero &, ShapeSlots &);
Result<void> infer(const TensorList &, ShapeSlots &);
Result<void> infer(const Trilu &, ShapeSlots &);
Result<void> infer(const EyeLike &, ShapeSlots &);
Result<void> infer(const CenterCropPad &, ShapeSlots &);
Result<void> infer(const Resize &, ShapeSlots &);
Result<void> infer(const AffineGrid &, ShapeSlots &);
Result<void> infer(const RoiAlign &, ShapeSlots &);
Result<void> infer(const MaxUnpool &, ShapeSlots &);
Result<void> infer(const NonMaxSuppression &, ShapeSlots &);
Result<void> infer(const DFT &, ShapeSlots &);
Result<void> infer(const STFT &, ShapeSlots &);
Result<void> infer(const Recurrence &, ShapeSlots &);
Result<void> infer(const Attention &, ShapeSlots &);
Result<void> infer(const RotaryEmbedding &, ShapeSlots &);
Result<void> infer(const Einsum &, ShapeSlots &);
Result<void> infer(const QuantizeLinear &, ShapeSlots &);
Result<void> infer(const DequantizeLinear &, ShapeSlots &);
Result<void> infer(const DynamicQuantizeLinear &, ShapeSlots &);
Result<void> infer(const CodedConv &, ShapeSlots &);
Result<void> infer(const CodedMatMul &, ShapeSlots &);

Result<void> infer(const Quantize &, ShapeSlots &);
Result<void> infer(const Requantize &, ShapeSlots &);
Result<void> infer(const Dequantize &, ShapeSlots &);
Result<void> infer(const BatchNormRelu &, ShapeSlots &);
Result<void> infer(const Quantized<Conv> &, ShapeSlots &);
Result<void> infer(const Quantized<FullyConnected> &, ShapeSlots &);
Result<void> infer(const Quantized<Pool> &, ShapeSlots &);
Result<void> infer(const Quantized<Activation> &, ShapeSlots &);
Result<void> infer(const Quantized<BatchNormalization> &, ShapeSlots &);
Result<void> infer(const Quantized<Concat> &, ShapeSlots &);
Result<void> infer(const Quantized<Flatten> &, ShapeSlots &);
Result<void> infer(const Quantized<Binary> &, ShapeSlots &);
Result<void> infer(const Quantized<Embedding> &, ShapeSlots &);
Result<void> infer(const FusedProduct &, ShapeSlots &);
Result<void> infer(const CodedChain &, ShapeSlots &);
Result<void> infer(const CodedSums &, ShapeSlots &);
Result<void> infer(const CodedAverage &, ShapeSlots &);
Result<void> infer(const CodedMultiply &, ShapeSlots &);
Result<void> infer(const RowAttention &, ShapeSlots &);
Result<void> infer(const TreeEnsemble &, ShapeSlots &);
Result<void> infer(const SupportVectors &, ShapeSlots &);
Result<void> infer(const TfIdfVectorizer &, ShapeSlots &);
// clang-format on

/// Smallest shape that both stretch to (dimensions of 1 stretch, missing leading ones count as 1); unknown
/// where it cannot be told. fails: two dimensions differ and neither is 1 (`where`: "input 1").
Result<tensor::Shape> broadcast(const tensor::Shape &a, const tensor::Shape &b);

} // namespace halftone::ops

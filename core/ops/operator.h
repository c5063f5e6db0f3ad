#pragma once

#include "core/ops/op_algebra.h"
#include "core/ops/op_control.h"
#include "core/ops/op_elementwise.h"
#include "core/ops/op_index.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_loss.h"
#include "core/ops/op_move.h"
#include "core/ops/op_norm.h"
#include "core/ops/op_quantized.h"
#include "core/ops/op_random.h"
#include "core/ops/op_reduce.h"
#include "core/ops/op_region.h"
#include "core/ops/op_spatial.h"

#include <variant>

/// The operators as typed structs, shared by all formats: neutral meanings, no format's attribute texts. A
/// dialect reads and writes them.
namespace halftone::ops {

// clang-format off
using Operator = std::variant<
    Opaque, ControlFlow,
    Conv, Deconv, FullyConnected, MatMul, Gemm, AttentionProduct, Embedding, Rnn,
    BatchNorm, LayerNorm, GroupNorm, InstanceNorm, L2Normalization, Lrn,
    Pool, AdaptiveAveragePool, Upsample, Resize, Crop, RoiPool, BoxPrior, BoxDetection, BoxTarget, BoxNms, BoxIou,
    Unary, Activation, LeakyRelu, Binary, ScalarBinary, Clip, HardSigmoid, SmoothL1, AddN, Where, Dropout, Cast, MultiCast,
    Reduce, Moments, ArgReduce, Softmax, SoftmaxActivation, SoftmaxOutput, RegressionOutput, LossOutput, SoftmaxCrossEntropy,
    TopK, Sort, ArgSort,
    Concat, Stack, Split, Reshape, Flatten, ExpandDims, Squeeze, Transpose, SwapAxes, Slice, SliceAxis, SliceLike, Pad, Tile, Repeat,
    Reverse, BroadcastTo, BroadcastAxes, BroadcastLike, ReshapeLike, DepthToSpace, SpaceToDepth, Take, GatherNd, ScatterNd, Pick,
    BatchTake, OneHot, Sequence, ShapeOf, Fill, Range, RangeLike,
    BoxDecode, BoxEncode, BoxMatch, Proposal, PositionPool, RotatedRoiAlign, DeformableConv, Unfold, Fold, Correlation, SamplingGrid,
    GridSample, SpatialTransformer, Picture,
    LinearAlgebra, ColumnKronecker, Fourier,
    IndexCopy, BooleanMask, SliceAssign, ScatterAssign, IndexArray, Diagonal, FlatIndex, Histogram, CumulativeSum, Eye, Linspace,
    Quadratic, AllFinite,
    CtcLoss, SvmOutput, SparsityPenalty,
    Random, RandomSample, Multinomial, Density, Shuffle,
    Quantize, Requantize, Dequantize, BatchNormRelu,
    Quantized<Conv>, Quantized<FullyConnected>, Quantized<Pool>, Quantized<Activation>, Quantized<BatchNorm>, Quantized<Concat>,
    Quantized<Flatten>, Quantized<Binary>, Quantized<Embedding>>;
// clang-format on

} // namespace halftone::ops

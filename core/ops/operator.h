#pragma once

#include "core/ops/op_control.h"
#include "core/ops/op_elementwise.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_move.h"
#include "core/ops/op_norm.h"
#include "core/ops/op_reduce.h"
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
    BatchTake, OneHot, Sequence, ShapeOf, Fill, Range, RangeLike>;
// clang-format on

} // namespace halftone::ops

#pragma once

#include "core/base/result.h"
#include "core/kernels/plan_cache.h"
#include "core/plan/plan_graph.h"

#include <cstddef>

namespace halftone::plan {

/// What pays off on a device; the defaults are for processors.
struct Simplification
{
    /// Number of scores per head from which attention becomes one operator. Fewer fit into the caches, and products of all heads at
    /// once are faster.
    std::size_t attentionBytes = std::size_t{1} << 20;
    /// Fold casts from and to float16 like those of bfloat16, because float16 is native. They stay after a sum with a 16-bit tensor.
    bool foldsFloat16 = false;
    /// 16-bit attention may keep its weights in 16 bits where the model widens them for a product; sums stay wide.
    bool narrowsAttention = false;
    /// Compute products of codes as integers. If the device cannot add them exactly, they become float32 products, which are fused as
    /// usual.
    bool multipliesCodes = true;
};

/// Rewrites a plan graph for inference. Each function is one rewriting and keeps the graph in execution order. Results change at most by
/// the rounding of their type.

/// Removes operators that return their input: identities, Dropout, the forward pass of losses, casts to the same type; a SoftmaxOutput
/// becomes a softmax.
void removeIdentities(PlanGraph &graph);

/// Computes nodes that only depend on constants, with `backend` (which may be null) unless they are casts.
Result<void> foldConstants(PlanGraph &graph, const kernels::Backend *backend, kernels::PlanCache &cache);

/// Folds BatchNorm with constant statistics into the weights and bias of the preceding convolution, transposed convolution or fully
/// connected layer, if it has no other reader. Casts of the weights are moved after the folding, so that weights are rounded once.
Result<void> foldBatchNorms(PlanGraph &graph, kernels::PlanCache &cache);

/// Replaces units written out in basic operators (LayerNorm, softmax, GELU: core/patterns) by one operator.
void fuseUnits(PlanGraph &graph);

/// Moves constants of one element into fields of their reader.
void settleScalars(PlanGraph &graph);

/// Replaces attention written out by heads (transpositions, products, scale, mask, softmax), with a separate batch axis or one merged
/// with the heads, by ops::RowAttention. Needs: scalars moved into fields
void fuseAttention(PlanGraph &graph, const Simplification &device = {});

/// Replaces Gemm by a matrix product followed by a sum.
void splitGemms(PlanGraph &graph);

/// Replaces a constant zero border by padding of the following convolution.
void foldPads(PlanGraph &graph);

/// If a cast is the only reader of a floating-point or dequantizing operator, that operator writes the type of the cast. Quantizing
/// operators read the tensor before it was widened.
void foldCasts(PlanGraph &graph, const Simplification &device = {});

/// Fuses MXNet's plain int8 operators: a product, its calibrated requantization, ReLU, and an element-wise function between dequantize
/// and quantize become one node, if each result has one reader; likewise an integer sum and its requantization. Every rounding is
/// kept. Needs: known ranges
void fuseRequantize(PlanGraph &graph);

/// An int8 layer whose only reader dequantizes its result writes floating point itself, clipped to the range of the codes.
void fuseDequantize(PlanGraph &graph);

/// Replaces operators between dequantization and quantization by operators on codes: products, element-wise functions and sums become
/// one ops::CodedChain, if each result has one reader; operators that move elements move codes.
void fuseCodes(PlanGraph &graph);

/// Splits the products among them again.
void unfoldCodedProducts(PlanGraph &graph);

/// Replaces integer products whose scale is known only at run time by ops::CodedSums, including the following cast, scale and bias.
/// Needs: folded constants
void fuseSums(PlanGraph &graph);

/// Moves average pooling before a preceding 1 × 1 convolution: both are linear, and the convolution gets cheaper.
void poolBeforeConvolution(PlanGraph &graph);

/// Fuses element-wise functions and sums with another tensor into the preceding operator as post-operations, if its result has no other
/// reader (the reference did not check this: defect D-fused-residual). A cast to 16 bits in between is allowed if the function commutes with
/// it, like ReLU.
void fusePostOps(PlanGraph &graph);

/// If all readers are 1 × 1 convolutions of one stride, computes only the elements that they read.
void sinkStrides(PlanGraph &graph);

/// Removes nodes and inputs that are not needed for any output.
void removeUnused(PlanGraph &graph);

/// All rewritings in the right order. Needs: known ranges
Result<void> simplify(PlanGraph &graph, const kernels::Backend *backend, kernels::PlanCache &cache,
                      const Simplification &device = {});

/// Builds the graph for the plan of a backend, determines its ranges, and simplifies it.
/// backend  computes nodes that only depend on constants; may be null
/// bodies   and fails: as buildPlanGraph()
Result<PlanGraph> simplifiedGraph(const infer::TypedModel &model, const kernels::Backend *backend,
                                  kernels::PlanCache &cache, const Simplification &device = {},
                                  const kernels::BodyKernels &bodies = {});

} // namespace halftone::plan

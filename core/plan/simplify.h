#pragma once

#include "core/base/result.h"
#include "core/kernels/plan_cache.h"
#include "core/plan/plan_graph.h"

#include <cstddef>

namespace halftone::plan {

/// What is worth it on a device; as it stands, on a processor.
struct Simplification
{
    /// Scores of one head from which on attention is one operator: fewer stay in the caches anyhow, and products of all heads at once
    /// are quicker.
    std::size_t attentionBytes = std::size_t{1} << 20;
    /// Casts from and to float16 are folded as those of bfloat16: it is no emulation. Behind a sum with a tensor of 16 bits they stay.
    bool foldsFloat16 = false;
    /// Attention between tensors of 16 bits may keep its weights in 16 bits where the model widens them for a product; sums stay wide.
    bool narrowsAttention = false;
    /// Products of codes are computed as such. Where the device cannot add them exactly, they are products of the float32 that the codes
    /// stand for, of which fusion makes what it makes of others.
    bool multipliesCodes = true;
};

/// Rewrites a plan graph for inference, one rewriting a function; each leaves a graph in execution order. What an
/// operator computes changes by no more than the rounding of its type.

/// Removes what passes its input on: identities, Dropout, losses' forward, casts to the same type; a SoftmaxOutput
/// becomes a softmax.
void removeIdentities(PlanGraph &graph);

/// Computes what depends on constants alone, with `backend` (which may be null) where it is no cast.
Result<void> foldConstants(PlanGraph &graph, const kernels::Backend *backend, kernels::PlanCache &cache);

/// BatchNorm with constant statistics goes into the weights and bias of the convolution, transposed convolution or
/// fully connected layer that feeds it, if nothing else reads that. Looks through casts of the weights, so that folded
/// weights are rounded once.
Result<void> foldBatchNorms(PlanGraph &graph, kernels::PlanCache &cache);

/// What operators compute together one by one (a LayerNorm, softmax, GELU: core/patterns) becomes one operator.
void fuseUnits(PlanGraph &graph);

/// A constant of one element becomes a field of the operator that reads it.
void settleScalars(PlanGraph &graph);

/// Attention that is written out by heads (transpositions, products, scale, mask, softmax), with a batch of its own or joined with the
/// heads, becomes ops::RowAttention. Needs: settled scalars
void fuseAttention(PlanGraph &graph, const Simplification &device = {});

/// Gemm becomes a matrix product, its addend a sum behind it.
void splitGemms(PlanGraph &graph);

/// A constant border of zeros becomes the padding of the convolution that reads it.
void foldPads(PlanGraph &graph);

/// Where a cast is the only reader of a float operator, or of one that makes reals of codes, that writes the cast's type; what is
/// quantized is read as it was before it was widened.
void foldCasts(PlanGraph &graph, const Simplification &device = {});

/// MXNet's plain operators on codes: a product, its calibrated requantization, ReLU, and, between dequantize and
/// quantize, one function of an element become one node, as far as each result has one reader; so do a sum of codes and its
/// requantization. Every rounding stays. Needs: settled ranges
void fuseRequantize(PlanGraph &graph);

/// A layer on codes whose only reader makes reals of its result writes reals itself, cut to what the codes could say.
void fuseDequantize(PlanGraph &graph);

/// What stands between operators that make reals of codes and codes of reals becomes operators on codes: products, functions of one
/// element and sums one ops::CodedChain, as far as each result has one reader; what moves elements moves codes.
void fuseCodes(PlanGraph &graph);

/// Takes the products among them apart again.
void unfoldCodedProducts(PlanGraph &graph);

/// Products of codes whose scale only a run tells become ops::CodedSums, with the cast, the scale and the bias behind them. Needs:
/// folded constants
void fuseSums(PlanGraph &graph);

/// Average pooling goes before a 1 × 1 convolution that feeds it: both are linear, and there is less to convolve.
void poolBeforeConvolution(PlanGraph &graph);

/// Functions of one element and sums with another tensor become post-operations of the operator before, if nothing
/// else reads its result (defect D-fused-residual of the reference: it did not look). A cast to 16 bits may stand between where the function
/// gives the same before it, as ReLU does.
void fusePostOps(PlanGraph &graph);

/// Where all readers are 1 × 1 convolutions of one stride, the producer computes only what they read.
void sinkStrides(PlanGraph &graph);

/// Removes nodes and inputs that no output needs.
void removeUnused(PlanGraph &graph);

/// All of them, in the order that serves. Needs: settled ranges
Result<void> simplify(PlanGraph &graph, const kernels::Backend *backend, kernels::PlanCache &cache,
                      const Simplification &device = {});

/// The graph that a backend's plan begins with: built, its ranges settled, simplified.
/// backend  computes what depends on constants alone; may be null
/// bodies   and fails: as buildPlanGraph()
Result<PlanGraph> simplifiedGraph(const infer::TypedModel &model, const kernels::Backend *backend,
                                  kernels::PlanCache &cache, const Simplification &device = {},
                                  const kernels::BodyKernels &bodies = {});

} // namespace halftone::plan

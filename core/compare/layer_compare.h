#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/compare/class_agreement.h"
#include "core/graph/model.h"
#include "core/interpret/interpreter.h"
#include "core/kernels/join.h"
#include "core/rewrite/conversion.h"
#include "core/tensor/error_metrics.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::compare {

/// Two models whose layers are compared, and which node answers to which.
struct ComparedModels
{
    graph::Model reference;
    graph::Model other; ///< heads as in the reference: as many, in the same order
    /// By NodeId of the reference: the other's node that computes the same; rewrite::kNoNode for none.
    std::vector<graph::NodeId> counterpart;
    /// Of `other`; isolated effects need it. Empty: types are not known.
    infer::TypeMap types;
    /// As rewrite::Conversion::int8Group.
    std::vector<graph::NodeId> int8Group = {};
    /// The format that float16 stands for in `other` (interpret::Interpreter::create).
    tensor::DType float16As = tensor::DType::F16;
};

/// Lets float16 stand for `format` in the other model: its parameters are rounded to that from the reference's.
/// clamps  finite values beyond the range become its ends. fails: Cancelled
Result<void> replaceFloat16(ComparedModels &models, tensor::DType format, bool clamps,
                            const Progress &progress = {});

/// `source` against what a conversion made of it: nodes are matched by the conversion's own map, merged ones to those that
/// stand for them.
ComparedModels convertedPair(const graph::Model &source, const graph::Model &converted,
                             const rewrite::Conversion &conversion);

/// Two models matched by the names of their nodes. fails: BadInput when they have different numbers of heads.
Result<ComparedModels> pairByName(const graph::Model &reference, const graph::Model &other);

/// Names of nodes (no variables) that have no counterpart, in the reference and in the other one.
struct Unmatched
{
    std::vector<std::string> reference;
    std::vector<std::string> other; ///< casts that a conversion inserts are left out
};
Unmatched unmatchedNodes(const ComparedModels &models);

struct CompareSettings
{
    /// Beside the cumulative effect (every layer as the other model has it, measured at each layer's output): one layer at a time as the other model has it, with the casts that it needs, all else as the reference; the
    /// reference's values before it are used again.
    bool isolated = false;
    /// Only what the outputs lose: Comparison::layers is empty where that spares time (session::LiveComparison, by KeptOutputs).
    bool outputsOnly = false;
    std::size_t memoryLimit = std::size_t{1} << 30; ///< bytes of inputs and values of nodes held at a time
    /// Kernels, and the weights that they pack, stay from batch to batch. Else each is made when its node is computed and given
    /// free then: what is held is then no more than values and one layer's weights.
    bool keepsKernels = true;
    /// What computes the other model; empty: the same as the reference.
    kernels::BackendChain otherBackends = {};
    /// SQNR in dB below which a layer counts as diverged. Nothing: half of the significant bits of the narrowest
    /// type of real numbers among the other's values, 6.02 dB each (33 dB for float16, 24 for bfloat16 and int8, 72 for float32).
    std::optional<double> threshold;
};

/// One output of one node.
struct LayerErrors
{
    graph::NodeId node = 0; ///< in the reference
    std::uint32_t output = 0;
    tensor::DType dtype = tensor::DType::Unknown; ///< of the other's value
    std::optional<tensor::ErrorFigures> cumulative; ///< nothing for a layer without a counterpart
    std::optional<tensor::ErrorFigures> isolated; ///< nothing for a layer that nothing was lowered in
    std::optional<tensor::ErrorFigures>
        isolatedAtOutputs; ///< over all heads together, on the node's first row
    bool shapesDiffer = false; ///< in some batch; those values are not in the figures
    std::uint64_t notFinite = 0; ///< NaN and infinities in the reference's values
};

struct OutputErrors
{
    tensor::ErrorFigures figures;
    std::optional<Agreement> agreement; ///< of outputs that have one row of scores an example
    bool shapesDiffer = false;
};

struct Comparison
{
    std::vector<LayerErrors> layers; ///< in topological order
    std::vector<OutputErrors> outputs; ///< by head
    double threshold = 0; ///< dB
    /// The first layer whose cumulative SQNR lies below the threshold, or with NaN or infinities where the reference has
    /// none; an index into `layers`.
    std::optional<std::size_t> firstDivergence;
    /// The first layer with NaN or infinities in the reference itself, a mask for one.
    std::optional<std::size_t> firstUnclean;
    std::size_t peakBytes = 0; ///< of inputs and values held at a time
};

struct ComparedParts;

/// Did a batch find room?
enum class Room
{
    Enough,
    TooSmall ///< the batch was given up before memory went beyond the limit
};

/// Compares batch after batch. Both models are computed node by node in step; a value is dropped once both sides and the
/// comparison are done with it.
class LayerCompare
{
public:
    /// fails: what interpret::Interpreter::create refuses; Unsupported for isolated effects without types.
    static Result<LayerCompare> create(const ComparedModels &models, const kernels::BackendChain &backends,
                                       const CompareSettings &settings);
    LayerCompare(LayerCompare &&) noexcept;
    ~LayerCompare();

    /// The heads of the two models for one batch.
    struct Heads
    {
        std::vector<tensor::Tensor> reference;
        std::vector<tensor::Tensor> other;
    };

    /// Adds the errors of a batch. After TooSmall the figures hold a part of the batch: forget() them or stop.
    /// filling  of a batch that was filled up: its own rows are compared
    /// fails: what running refuses; Cancelled
    Result<Room> add(const interpret::Feed &feed, const Progress &progress = {},
                     const kernels::FilledBatch &filling = {});
    const Heads &heads() const; ///< of the batch added last
    void forget(); ///< all figures so far
    /// Where a head of the reference has NaN or infinities, so that no comparison means anything, as Comparison::firstUnclean, from the
    /// batches so far: the node, the output and how many values. Isolated effects are not looked for in a batch that has it.
    std::optional<LayerErrors> firstUnclean() const;

    Comparison result() const;
    ComparedParts parts() const; ///< what the figures so far are made of (compared_parts.h)

private:
    class Impl;
    explicit LayerCompare(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::compare

#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/compare/class_agreement.h"
#include "core/compare/whole_model.h"
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

/// Two models to compare, and which of their nodes correspond.
struct ComparedModels
{
    graph::Model reference;
    graph::Model other; ///< with the same number and order of heads as the reference
    /// By NodeId of the reference: the corresponding node of the other model; rewrite::kNoNode: none.
    std::vector<graph::NodeId> counterpart;
    /// Types of `other`, required for isolated errors; empty: unknown.
    infer::TypeMap types;
    /// As rewrite::Conversion::int8Group.
    std::vector<graph::NodeId> int8Group = {};
    /// The format to compute instead of float16 in `other` (interpret::Interpreter::create).
    tensor::DType float16As = tensor::DType::F16;
};

/// Replaces float16 by `format` in the other model: parameters are rounded to it from those of the reference.
/// clamps  clamp finite values to the range. fails: Cancelled
Result<void> replaceFloat16(ComparedModels &models, tensor::DType format, bool clamps,
                            const Progress &progress = {});

/// A model and its conversion, matched by the map of the conversion; merged nodes match the node that replaces them.
ComparedModels convertedPair(const graph::Model &source, const graph::Model &converted,
                             const rewrite::Conversion &conversion);

/// Two models, matched by the names of nodes. fails: BadInput if they have different numbers of heads.
Result<ComparedModels> pairByName(const graph::Model &reference, const graph::Model &other);

/// Names of nodes, except variables, without a counterpart.
struct Unmatched
{
    std::vector<std::string> reference;
    std::vector<std::string> other; ///< except casts that a conversion inserts
};
Unmatched unmatchedNodes(const ComparedModels &models);

struct CompareSettings
{
    /// Besides cumulative errors (all layers lowered, measured at each layer's output): isolated errors, with one layer at a time lowered between
    /// the casts that it needs, and everything else as in the reference, whose values before that layer are reused.
    bool isolated = false;
    /// Only errors of outputs are needed: Comparison::layers is empty if that saves time (session::LiveComparison, KeptOutputs).
    bool outputsOnly = false;
    std::size_t memoryLimit = std::size_t{1} << 30; ///< for inputs and values of nodes, in bytes
    /// Kernels and their packed weights are kept from batch to batch. Otherwise each is created when its node is computed and released after
    /// that, so that memory holds values and the weights of one layer only.
    bool keepsKernels = true;
    /// For the other model; empty: as for the reference.
    kernels::BackendChain otherBackends = {};
    /// Runs the other model in place of an interpreter; null: none. There are no isolated errors then.
    std::shared_ptr<WholeModel> whole = {};
    /// SQNR in dB below which a layer has diverged. Absent: 6.02 dB for each of half of the significant bits of the narrowest type of real
    /// numbers in the other model (33 dB for float16, 24 for bfloat16 and int8, 72 for float32).
    std::optional<double> threshold;
};

/// Errors of one output of a node.
struct LayerErrors
{
    graph::NodeId node = 0; ///< in the reference
    std::uint32_t output = 0;
    tensor::DType dtype = tensor::DType::Unknown; ///< in the other model
    std::optional<tensor::ErrorFigures> cumulative; ///< absent without a counterpart
    std::optional<tensor::ErrorFigures> isolated; ///< absent if nothing was lowered in the layer
    std::optional<tensor::ErrorFigures>
        isolatedAtOutputs; ///< over all heads; on the first output of the node
    bool shapesDiffer = false; ///< in some batch, whose values are not counted
    std::uint64_t notFinite = 0; ///< number of NaN and infinities in the reference
};

struct OutputErrors
{
    tensor::ErrorFigures figures;
    std::optional<Agreement> agreement; ///< for outputs with one row of scores per example
    bool shapesDiffer = false;
};

struct Comparison
{
    std::vector<LayerErrors> layers; ///< in topological order
    std::vector<OutputErrors> outputs; ///< by head
    double threshold = 0; ///< dB
    /// The first layer (an index into `layers`) with cumulative SQNR below the threshold, or with NaN or infinities that the reference lacks.
    std::optional<std::size_t> firstDivergence;
    /// The first layer with NaN or infinities in the reference itself, such as a mask.
    std::optional<std::size_t> firstUnclean;
    std::size_t peakBytes = 0; ///< peak of inputs and values
};

struct ComparedParts;

/// Did a batch fit into memory?
enum class Room
{
    Enough,
    TooSmall ///< the batch was abandoned before it exceeded the limit
};

/// Compares batch by batch. Both models run in step, node by node, and values are released as soon as they are no longer needed.
class LayerCompare
{
public:
    /// fails: as interpret::Interpreter::create; Unsupported for isolated errors without types, or of a model that is run whole
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

    /// Adds the errors of a batch. After TooSmall the figures are incomplete: call forget() or stop.
    /// filling  of a padded batch, of which only its own rows are compared
    /// fails: errors of running; Cancelled
    Result<Room> add(const interpret::Feed &feed, const Progress &progress = {},
                     const kernels::FilledBatch &filling = {});
    const Heads &heads() const; ///< of the last batch
    void forget(); ///< discards all figures
    /// Comparison::firstUnclean over the batches so far if a head of the reference has NaN or infinities, which makes the comparison
    /// meaningless: node, output and number of values. Isolated errors of such a batch are not computed.
    std::optional<LayerErrors> firstUnclean() const;

    Comparison result() const;
    ComparedParts parts() const; ///< the sums behind the figures (compared_parts.h)

private:
    class Impl;
    explicit LayerCompare(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::compare

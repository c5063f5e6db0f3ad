#pragma once

#include "core/profile/layer_compare.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halftone::profile {

/// LayerCompare for one reference and one set of batches, against a model that changes a little from time to time. Keeps the
/// values of all nodes of both models and computes only what lies behind a node whose operator, types, casts or parameters
/// are others than before; figures of all else are those of before. What an answer that was cancelled has computed is kept
/// too. For one thread at a time.
class KeptCompare
{
public:
    /// batches  the same for as long as this lives
    /// fails: what interpret::Interpreter::create refuses.
    static Result<KeptCompare> create(const graph::Model &reference, std::vector<interpret::Feed> batches,
                                      const kernels::BackendChain &backends);
    KeptCompare(KeptCompare &&) noexcept;
    KeptCompare &operator=(KeptCompare &&) noexcept;
    ~KeptCompare();

    struct Answer
    {
        /// Bit for bit what LayerCompare gives over the same batches, but for `peakBytes`, which counts what is kept.
        Comparison comparison;
        std::vector<LayerCompare::Heads> heads; ///< by batch
        /// As LayerCompare::firstUnclean, after the first batch that has it; all else is then empty.
        std::optional<LayerErrors> unclean;
    };

    /// Nothing when the values of all batches, or what LayerCompare would hold in the worst case, may go beyond the memory
    /// limit, or when shapes depend on values: before anything is computed.
    /// Needs: models.reference is what this was made for.
    /// fails: what running refuses; Unsupported for isolated effects without types; Cancelled
    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress = {});

    /// Nodes that the last compare() computed, of both models and of single layers, over all batches.
    std::size_t computedNodes() const;

private:
    class Impl;
    explicit KeptCompare(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::profile

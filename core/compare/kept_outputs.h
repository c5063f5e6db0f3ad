#pragma once

#include "core/compare/kept_compare.h"

#include <memory>
#include <optional>
#include <vector>

namespace halftone::compare {

/// Which batches are enough to tell what outputs lose.
struct Sample
{
    std::size_t first = 0; ///< to begin with, or all that there are; 0: all of them, this once
    double precision = 0; ///< relative standard error of each output's Σd² / Σr²
};

/// What the outputs lose, for one reference and one set of batches, of many models that differ a little: KeptCompare without layers.
/// Values of the reference in batches of a sample are kept when they are computed a second time, of as many batches as the memory limit
/// allows, and of another model only what lies behind a difference is computed. Batches are computed side by side, one a thread, with
/// kernels of one thread, so that values are the same with any number of threads. For one thread at a time.
class KeptOutputs
{
public:
    /// batches   the same for as long as this lives
    /// backends  that compute on one thread
    /// threads   batches in hand at a time, at most
    KeptOutputs(graph::Model reference, std::vector<interpret::Feed> batches,
                const kernels::BackendChain &backends, unsigned threads);
    KeptOutputs(KeptOutputs &&) noexcept;
    KeptOutputs &operator=(KeptOutputs &&) noexcept;
    ~KeptOutputs();

    /// sample  batches that lie evenly among all are taken, twice as many each time, until figures are as precise or an output is not
    ///         clean. Heads of the others are empty
    /// Comparison::layers is empty. Nothing when the values of the batches in hand may go beyond the memory limit, or when shapes depend on
    /// values: before anything is computed. Needs: models.reference is what this was made for.
    /// fails: what interpret::Interpreter::create and running refuse; Cancelled
    Result<std::optional<KeptCompare::Answer>> compare(const ComparedModels &models, std::size_t memoryLimit,
                                                       const Sample &sample = {},
                                                       const Progress &progress = {});

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::compare

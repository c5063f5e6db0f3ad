#pragma once

#include "core/compare/kept_compare.h"

#include <memory>
#include <optional>
#include <vector>

namespace halftone::compare {

/// How many batches suffice for the errors of outputs.
struct Sample
{
    std::size_t first = 0; ///< number to begin with, or all if there are fewer; 0: all
    double precision = 0; ///< relative standard error of each output's Σd² / Σr²
};

/// Errors of outputs for many similar models, with one reference and one set of batches: KeptCompare without layers. Values of the reference
/// are kept from their second use on, for as many batches of the sample as the memory limit allows, and of another model only the nodes after
/// a difference are computed. Batches run in parallel, each on one thread, so that values do not depend on the number of threads. For one
/// thread at a time.
class KeptOutputs
{
public:
    /// backends  that compute on one thread
    /// threads   maximum number of parallel batches
    KeptOutputs(graph::Model reference, std::vector<interpret::Feed> batches,
                const kernels::BackendChain &backends, unsigned threads);
    KeptOutputs(KeptOutputs &&) noexcept;
    KeptOutputs &operator=(KeptOutputs &&) noexcept;
    ~KeptOutputs();

    /// Comparison::layers is empty. Absent, before anything is computed, if the values of parallel batches may exceed the memory limit, or if
    /// shapes depend on values. Needs: models.reference is the reference given to the constructor.
    /// sample  evenly spaced batches are used, twice as many each time, until the figures are precise enough or an output is unclean; heads of
    ///         other batches are empty
    /// fails: errors of interpret::Interpreter::create and of running; Cancelled
    Result<std::optional<KeptCompare::Answer>> compare(const ComparedModels &models, std::size_t memoryLimit,
                                                       const Sample &sample = {},
                                                       const Progress &progress = {});

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace halftone::compare

#pragma once

#include "core/tensor/error_metrics.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halftone::compare {

/// An ErrorMetrics that nothing is added to just now, in about a kB instead of twelve: of each of many layers there is one, and only that of
/// the layer at hand is needed whole.
class StoredErrors
{
public:
    /// What it takes, about; counted against memory limits.
    static constexpr std::size_t kBytes = 1024;

    StoredErrors() = default; ///< nothing added yet
    StoredErrors(const tensor::ErrorParts &parts);
    explicit StoredErrors(const tensor::ErrorMetrics &metrics)
        : StoredErrors(metrics.parts())
    {
    }

    tensor::ErrorParts parts() const;
    tensor::ErrorMetrics metrics() const { return tensor::ErrorMetrics::ofParts(parts()); }

private:
    std::vector<std::uint64_t> m_words; ///< counts, sums one after the other, points; empty: of nothing
};

} // namespace halftone::compare

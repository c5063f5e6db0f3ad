#pragma once

#include "core/tensor/error_metrics.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halftone::compare {

/// A packed ErrorMetrics, about 1 kB instead of 12 kB. There is one for each layer, and only that of the current layer is unpacked.
class StoredErrors
{
public:
    /// Approximate size; counted against memory limits.
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
    std::vector<std::uint64_t> m_words; ///< counts, sums, points; empty: nothing added
};

} // namespace halftone::compare

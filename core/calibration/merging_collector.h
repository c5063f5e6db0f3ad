#pragma once

#include "core/calibration/collector.h"
#include "core/calibration/dyadic_histogram.h"
#include "core/tensor/exact_sum.h"

#include <array>
#include <span>

namespace halftone::calibration {

/// What a MergingCollector is made of, for files.
struct CollectedParts
{
    Tally counts; ///< without sums and moments
    DyadicHistogram::Parts histogram;
    /// Of both formats, float16 first: sums of relative errors, signal and noise.
    std::array<tensor::ExactSum, 6> losses;
    tensor::ExactSum sum; ///< of the values
    tensor::ExactSum squares; ///< around each example's own mean
    tensor::ExactSum meanSquares; ///< of the examples: count times squared mean
};

/// Statistics of one tensor that depend neither on the order of the examples nor on how these were grouped, threads and
/// processes included. Within an example sums are double; from one to the next they are exact.
class MergingCollector
{
public:
    explicit MergingCollector(Detail detail = Detail::Formats)
        : m_detail(detail)
    {
    }

    void addExample(std::span<const float> values);
    void add(const MergingCollector &other);
    TensorStatistics statistics() const;

    CollectedParts parts() const;
    /// False, and nothing changed, for what no collector has.
    bool takeParts(const CollectedParts &parts);

private:
    void addSums(const Tally &example);

    Detail m_detail;
    CollectedParts m_parts; ///< but for the histogram
    DyadicHistogram m_histogram;
};

} // namespace halftone::calibration

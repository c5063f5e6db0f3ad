#pragma once

#include "core/compare/class_agreement.h"
#include "core/tasks/accuracy_count.h"
#include "core/tasks/task_metric.h"
#include "core/tensor/class_overlap.h"
#include "core/tensor/exact_sum.h"

#include <array>
#include <cstdint>
#include <optional>

namespace halftone::tasks {

/// What a TaskScore is made of: parts over other examples of the same data add up, in any order, to what one count over all of
/// them gives, to the last bit.
struct TaskParts
{
    enum Side : std::uint8_t
    {
        Reference,
        Other,
        Agreement, ///< of the other with the reference
    };
    static constexpr std::size_t kSides = 3;

    /// Sums over the examples.
    struct Likeness
    {
        tensor::ExactSum value; ///< the cosine, or PSNR with a peak of 1
        tensor::ExactSum wide; ///< PSNR with a peak of 255
        std::uint64_t examples = 0;
    };

    std::optional<Metric> metric; ///< nothing: no example says one
    bool isGuessed = false; ///< the metric
    bool areMixed = false; ///< examples' shapes suggest different metrics: there is no score
    bool shapesDiffer = false; ///< the other's output from the reference's
    std::uint64_t examples = 0;
    std::uint64_t peaks = 0; ///< examples that say something of the pictures' peak,
    std::uint64_t widePeaks = 0; ///< and those with a number above 2
    std::array<AccuracyHits, 2> hits{}; ///< of Reference and Other
    std::array<Likeness, kSides> likeness{};
    std::array<tensor::ClassOverlap, kSides> overlaps{};
    compare::AgreementParts agreement{};

    void add(const TaskParts &more);
    std::optional<TaskScore>
    result() const; ///< nothing before an example, and where no metric suggests itself

private:
    std::optional<double> valueOf(Side side) const;
    bool isWide() const { return 2 * widePeaks > peaks; }
};

} // namespace halftone::tasks

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

/// The sums behind a TaskScore. Parts of disjoint examples of the same data, added in any order, equal those of one count over all of them, to
/// the last bit.
struct TaskParts
{
    enum Side : std::uint8_t
    {
        Reference,
        Other,
        Agreement, ///< between both models
    };
    static constexpr std::size_t kSides = 3;

    /// Sums over the examples.
    struct Likeness
    {
        tensor::ExactSum
            value; ///< the cosine, PSNR with a peak of 1, or -ln of the right classes' probabilities
        tensor::ExactSum wide; ///< PSNR with a peak of 255
        std::uint64_t examples = 0; ///< of perplexity: judged steps
    };

    std::optional<Metric> metric; ///< absent: no example determines one
    bool isGuessed = false; ///< the metric
    bool areMixed = false; ///< shapes of examples lead to different metrics: there is no score
    bool shapesDiffer = false; ///< the other's output from the reference's
    std::uint64_t examples = 0;
    std::uint64_t peaks = 0; ///< examples that indicate the peak of pictures,
    std::uint64_t widePeaks = 0; ///< and those with a number above 2
    std::array<AccuracyHits, 2> hits{}; ///< of Reference and Other
    std::array<Likeness, kSides> likeness{};
    std::array<tensor::ClassOverlap, kSides> overlaps{};
    compare::AgreementParts agreement{};

    void add(const TaskParts &more);
    std::optional<TaskScore> result() const; ///< absent without examples or metric

private:
    std::optional<double> valueOf(Side side) const;
    bool isWide() const { return 2 * widePeaks > peaks; }
};

} // namespace halftone::tasks

#include "core/tasks/task_parts.h"

#include <cmath>

namespace halftone::tasks {
namespace {

double shareOf(Metric metric, double top1, double top5)
{
    return metric == Metric::Top1 ? top1 : top5;
}

} // namespace

void TaskParts::add(const TaskParts &more)
{
    areMixed = areMixed || more.areMixed || (metric && more.metric && *metric != *more.metric);
    metric = metric ? metric : more.metric;
    isGuessed = isGuessed || more.isGuessed;
    shapesDiffer = shapesDiffer || more.shapesDiffer;
    examples += more.examples;
    peaks += more.peaks;
    widePeaks += more.widePeaks;
    for (std::size_t k = 0; k < hits.size(); ++k)
        hits[k].add(more.hits[k]);
    for (std::size_t k = 0; k < kSides; ++k) {
        likeness[k].value.add(more.likeness[k].value);
        likeness[k].wide.add(more.likeness[k].wide);
        likeness[k].examples += more.likeness[k].examples;
        overlaps[k].add(more.overlaps[k].classes());
    }
    agreement.add(more.agreement);
}

std::optional<double> TaskParts::valueOf(Side side) const
{
    if (isOfClasses(*metric) && side == Agreement) {
        const auto agreed = agreement.result();
        return agreed ? std::optional(shareOf(*metric, agreed->top1, agreed->top5)) : std::nullopt;
    }
    if (isOfClasses(*metric)) {
        const auto accuracy = accuracyOf(hits[side]);
        return accuracy ? std::optional(shareOf(*metric, accuracy->top1, accuracy->top5)) : std::nullopt;
    }
    if (*metric == Metric::MeanIou)
        return overlaps[side].meanIou();
    const Likeness &sums = likeness[side];
    if (sums.examples == 0)
        return std::nullopt;
    const bool takesWide = *metric == Metric::Psnr && isWide();
    const double mean = (takesWide ? sums.wide : sums.value).value() / static_cast<double>(sums.examples);
    return *metric == Metric::Perplexity ? std::exp(mean) : mean;
}

std::optional<TaskScore> TaskParts::result() const
{
    if (examples == 0 || !metric || areMixed)
        return std::nullopt;
    TaskScore score{*metric,
                    isGuessed,
                    valueOf(Reference),
                    valueOf(Other),
                    valueOf(Agreement),
                    static_cast<std::size_t>(examples),
                    {}};
    if (*metric == Metric::Psnr)
        score.peak = isWide() ? 255 : 1;
    if (shapesDiffer)
        score.other = score.agreement = std::nullopt;
    return score;
}

} // namespace halftone::tasks

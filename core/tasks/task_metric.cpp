#include "core/tasks/task_metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace halftone::tasks {
namespace {

struct MetricRow
{
    Metric metric;
    std::string_view name;
    std::string_view title;
    std::string_view agreement; ///< title of an agreement with float32
    std::string_view unit;
    double factor;
    const char *format;
};

constexpr std::array kRows{
    MetricRow{Metric::Top1, "top1", "top-1", "top-1 agreement", "%", 100, "%.1f"},
    MetricRow{Metric::Top5, "top5", "top-5", "top-5 agreement", "%", 100, "%.1f"},
    MetricRow{Metric::MeanIou, "miou", "mean IoU", "mean IoU to float32", "%", 100, "%.1f"},
    MetricRow{Metric::Psnr, "psnr", "PSNR", "PSNR to float32", "dB", 1, "%.2f"},
    MetricRow{Metric::Cosine, "cosine", "cosine", "cosine to float32", "", 1, "%.5f"},
    MetricRow{Metric::Perplexity, "perplexity", "perplexity", "", "", 1, "%.4g"},
};
constexpr std::array kMetrics{Metric::Top1, Metric::Top5,   Metric::MeanIou,
                              Metric::Psnr, Metric::Cosine, Metric::Perplexity};

const MetricRow &rowOf(Metric metric)
{
    return kRows[static_cast<std::size_t>(metric)];
}

std::string numberText(const MetricRow &row, double value)
{
    if (std::isinf(value))
        return "exact";
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), row.format, row.factor * value);
    return text.data();
}

std::string withUnit(const std::string &number, std::string_view unit)
{
    return unit.empty() || number == "exact" ? number : number + ' ' + std::string(unit);
}

} // namespace

std::span<const Metric> allMetrics()
{
    return kMetrics;
}

std::string_view nameOf(Metric metric)
{
    return rowOf(metric).name;
}

std::string_view titleOf(Metric metric)
{
    return rowOf(metric).title;
}

bool isOfClasses(Metric metric)
{
    return metric == Metric::Top1 || metric == Metric::Top5;
}

bool needsLabels(Metric metric)
{
    return metric == Metric::Perplexity;
}

std::optional<double> TaskScore::ratio() const
{
    if (metric != Metric::Perplexity || !reference || !other)
        return std::nullopt;
    return *other / *reference;
}

bool TaskScore::isWorse() const
{
    if (!reference || !other)
        return false;
    return metric == Metric::Perplexity ? *other > *reference : *other < *reference;
}

std::optional<Metric> metricNamed(std::string_view name)
{
    const auto found = std::ranges::find(kRows, name, &MetricRow::name);
    return found == kRows.end() ? std::nullopt : std::optional(found->metric);
}

std::string valueText(Metric metric, double value)
{
    return withUnit(numberText(rowOf(metric), value), rowOf(metric).unit);
}

std::string ScoreWords::values() const
{
    return withUnit((reference.empty() ? "" : reference + " \u2192 ") + other, other == "exact" ? "" : unit);
}

std::optional<ScoreWords> wordsOf(const TaskScore &score)
{
    const MetricRow &row = rowOf(score.metric);
    const std::string unit(row.unit);
    if (score.reference && score.other)
        return ScoreWords{std::string(row.title), numberText(row, *score.reference),
                          numberText(row, *score.other), unit};
    if (score.agreement)
        return ScoreWords{std::string(row.agreement), {}, numberText(row, *score.agreement), unit};
    return std::nullopt;
}

} // namespace halftone::tasks

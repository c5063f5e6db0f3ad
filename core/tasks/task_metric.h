#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halftone::tasks {

/// Metrics of a network's task (core/quantize/RULES.md, 6). Higher is better, but for perplexity.
enum class Metric : std::uint8_t
{
    Top1,
    Top5,
    MeanIou,
    Psnr,
    Cosine,
    Perplexity,
};

std::span<const Metric> allMetrics();
std::string_view
nameOf(Metric metric); ///< in files and options: "top1", "top5", "miou", "psnr", "cosine", "perplexity"
std::string_view titleOf(Metric metric); ///< "top-1", "top-5", "mean IoU", "PSNR", "cosine", "perplexity"
bool isOfClasses(Metric metric); ///< top-1 and top-5
bool needsLabels(Metric metric); ///< perplexity
std::optional<Metric> metricNamed(std::string_view name);

/// A score of the first output: in dB for PSNR, of at least 1 for perplexity, otherwise a share or cosine of at most 1.
struct TaskScore
{
    Metric metric = Metric::Top1;
    bool isGuessed = false; ///< the metric was not requested
    std::optional<double> reference; ///< float32 model against labels or targets
    std::optional<double> other; ///< other model, likewise
    std::optional<double> agreement; ///< other model against the output of the float32 model
    std::size_t examples = 0;
    std::optional<double> peak; ///< used for PSNR

    /// How often as large the other's perplexity is as the reference's; absent for other metrics.
    std::optional<double> ratio() const;
    bool isWorse() const; ///< the other's score than the reference's
    bool operator==(const TaskScore &) const = default;
};

/// A score for display.
struct ScoreWords
{
    std::string name; ///< "PSNR"; for an agreement "PSNR to float32"
    std::string reference; ///< "31.20"; empty for an agreement
    std::string other;
    std::string unit; ///< "dB", "%" or empty

    std::string values() const; ///< "31.20 → 31.18 dB"
};
/// The score against labels or targets, otherwise the agreement; absent if neither is known.
std::optional<ScoreWords> wordsOf(const TaskScore &score);
/// One value in the metric's unit: "71.2 %", "31.20 dB", "0.99998".
std::string valueText(Metric metric, double value);

} // namespace halftone::tasks

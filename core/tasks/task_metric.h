#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halftone::tasks {

/// What says in one number how well a network does its task (core/quantize/RULES.md, 6). More is better for each.
enum class Metric : std::uint8_t
{
    Top1,
    Top5,
    MeanIou,
    Psnr,
    Cosine,
};

std::span<const Metric> allMetrics();
std::string_view nameOf(Metric metric); ///< "top1", "top5", "miou", "psnr", "cosine": in files and calls
std::string_view titleOf(Metric metric); ///< "top-1", "top-5", "mean IoU", "PSNR", "cosine"
bool isOfClasses(Metric metric); ///< top-1 and top-5
std::optional<Metric> metricNamed(std::string_view name);

/// Of the first output: dB for PSNR, else shares and cosines, at most 1.
struct TaskScore
{
    Metric metric = Metric::Top1;
    bool isGuessed = false; ///< the metric: nobody named it
    std::optional<double> reference; ///< of the float32 model, by what is right
    std::optional<double> other; ///< of the other model likewise
    std::optional<double> agreement; ///< of the other model, with the float32 model's output taken as right
    std::size_t examples = 0;
    std::optional<double> peak; ///< that PSNR was computed with

    bool operator==(const TaskScore &) const = default;
};

/// A score as people read it.
struct ScoreWords
{
    std::string name; ///< "PSNR"; of an agreement "PSNR to float32"
    std::string reference; ///< "31.20"; empty for an agreement
    std::string other;
    std::string unit; ///< "dB", "%" or nothing

    std::string values() const; ///< "31.20 → 31.18 dB"
};
/// Of what is right, if that is known, else of the agreement. Nothing where neither is.
std::optional<ScoreWords> wordsOf(const TaskScore &score);
/// One value in the metric's unit: "71.2 %", "31.20 dB", "0.99998".
std::string valueText(Metric metric, double value);

} // namespace halftone::tasks

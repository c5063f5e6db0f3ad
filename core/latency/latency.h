#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/kernels/latency_plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::latency {

struct LatencySettings
{
    std::size_t warmup = 5; ///< untimed runs first
    std::size_t repeats = 30; ///< at least 1
    bool byDevice = false; ///< measureVersus() uses the clock of the device if both plans have one
    bool stepsOnly
        = false; ///< measureLatency() only times steps, not whole runs: half the runs, but no total
    /// Maximum number of measurements while other programs disturb them, with pauses; the least disturbed one counts.
    std::size_t attempts = 1;
};

/// A step of the plan, timed within the whole run.
struct LayerLatency
{
    kernels::PlanStep step;
    double medianUs = 0;
    double minUs = 0;
    std::optional<double> limitUs{}; ///< lower bound for its chip (report::addLimits()); absent: unknown
};

/// The latency of a plan.
struct Latency
{
    double medianMs = 0;
    double minMs = 0;
    double p95Ms = 0;
    std::vector<LayerLatency> layers; ///< in order of execution, including casts and reorders
    double castsUs = 0; ///< total of steps that only change a type or a layout
    double sumOfLayersMs = 0;
    std::optional<std::size_t> peakBytes{}; ///< arena and packed weights; absent: unknown
    std::optional<kernels::Launches> launches{}; ///< for devices that launch kernels
    std::optional<kernels::RuntimeFacts> runtime{}; ///< absent: this program ran it
    std::optional<double> deviceMs{}; ///< median by the clock of the device, without copies
    std::optional<double> limitMs{}; ///< sum over all layers with a limit
    bool wasBusy = false; ///< other programs were running, judged by all runs
    std::size_t attempts = 1; ///< number of measurements, of which this is the least disturbed
};

/// Were other programs running? On an idle machine most runs take about as long as the fastest. True if the median is more than twice
/// the fastest run, if one run in twenty is more than twice the median, or if in most runs the measuring thread waited for a processor
/// more than a tenth of the time. The figures are then unreliable.
bool isDisturbed(const Latency &latency);

/// Alternates whole runs and runs with timed steps, so that both see the same conditions.
/// fails: errors of a run; Cancelled
Result<Latency> measureLatency(kernels::LatencyPlan &plan, const LatencySettings &settings,
                               const Progress &progress = {});

/// The placement of buffers can make one of two equal plans this much faster in every run of a process, which repetition does not
/// reveal (Mytkowicz and others, "Producing Wrong Data Without Doing Anything Obviously Wrong!", ASPLOS 2009). Equal plans
/// were seen 0.1 to 0.7 % apart.
inline constexpr double kPlacement = 0.01;

/// A plan compared with another one.
struct Versus
{
    double medianMs = 0; ///< of the other plan
    double ratio = 0; ///< median of plan / other over pairs of alternating runs; below 1: the plan is faster
    /// 95 % interval of that median, from 2000 bootstrap samples of the pairs (Efron and Tibshirani, "An Introduction to
    /// the Bootstrap", section 13.3), widened by kPlacement on both sides.
    std::array<double, 2> ci95{};
    bool isDisturbed = false; ///< other programs were running, by the rule of isDisturbed()
    std::size_t attempts = 1; ///< as in Latency
    bool byDevice = false; ///< timed by the clock of the device, without copies
};

/// Alternates a few runs of each plan; which one starts changes from pair to pair. Each turn begins with an untimed run to warm the
/// caches.
/// seed   for the bootstrap
/// fails  errors of a run; Cancelled
Result<Versus> measureVersus(kernels::LatencyPlan &plan, kernels::LatencyPlan &other,
                             const LatencySettings &settings, std::uint64_t seed = 1,
                             const Progress &progress = {});

/// The q-quantile (0 to 1) by linear interpolation between order statistics; 0 for an empty list.
double quantile(std::vector<double> values, double q);

/// The 95 % interval of the median.
std::array<double, 2> medianInterval(std::span<const double> values, std::uint64_t seed);

/// Fills the plan's inputs with plausible values: floats uniform in [-1, 1), the same again from the 65,537th on, integers 0.
void fillInputs(kernels::LatencyPlan &plan, std::uint64_t seed);

} // namespace halftone::latency

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

namespace halftone::profile {

struct LatencySettings
{
    std::size_t warmup = 5; ///< runs that don't count
    std::size_t repeats = 30; ///< at least 1
    bool byDevice = false; ///< measureVersus() takes the device's own time where both plans have one
    bool stepsOnly
        = false; ///< measureLatency() times no run of the whole: half the runs, and nothing of the whole is known
    /// So often at most a measurement is taken while other work disturbs it, with a pause before the next; the least disturbed one counts.
    std::size_t attempts = 1;
};

/// A step of the plan as it ran inside the whole.
struct LayerLatency
{
    kernels::PlanStep step;
    double medianUs = 0;
    double minUs = 0;
    std::optional<double>
        limitUs{}; ///< the least time that its chip could take (report::addLimits()); nothing: not known
};

/// How long a plan takes.
struct Latency
{
    double medianMs = 0;
    double minMs = 0;
    double p95Ms = 0;
    std::vector<LayerLatency> layers; ///< in order of execution; casts and reorders are rows of their own
    double castsUs = 0; ///< of all steps that only change a type or a layout
    double sumOfLayersMs = 0;
    std::size_t peakBytes = 0; ///< arena and packed weights
    std::optional<kernels::Launches> launches{}; ///< of a device that is launched on
    std::optional<double> deviceMs{}; ///< median of that device's own time, without copies to and from it
    std::optional<double> limitMs{}; ///< of all layers that have one together
    bool wasBusy = false; ///< the machine had other work, as all runs told, those of steps alone too
    std::size_t attempts = 1; ///< measurements that were taken, of which this is the least disturbed
};

/// Was something else at work on this machine? With nothing else to do most runs take about as long as the fastest one. Here the median
/// takes more than twice as long as that, or one run in twenty more than twice as long as the median, or in most runs the measuring
/// thread waited for a processor more than a tenth of the time; the figures are not to be trusted.
bool isDisturbed(const Latency &latency);

/// Runs of the whole and runs with a clock between the steps take turns, so that both see the same machine.
/// fails: what a run refuses; Cancelled
Result<Latency> measureLatency(kernels::LatencyPlan &plan, const LatencySettings &settings,
                               const Progress &progress = {});

/// Where buffers happen to lie makes one of two equal plans this much faster in every run of a process, which no repetition
/// shows (Mytkowicz and others, "Producing Wrong Data Without Doing Anything Obviously Wrong!", ASPLOS 2009). Equal plans
/// were seen 0.1 to 0.7 % apart.
inline constexpr double kPlacement = 0.01;

/// One plan against another one.
struct Versus
{
    double medianMs = 0; ///< of the other
    double ratio
        = 0; ///< median of plan / other over pairs of runs of neighbouring turns: below 1 the plan is faster
    /// 95 % interval of that median, from 2000 bootstrap samples of the pairs (Efron and Tibshirani, "An Introduction to
    /// the Bootstrap", section 13.3), widened by kPlacement on both sides.
    std::array<double, 2> ci95{};
    bool isDisturbed = false; ///< these runs, of either plan, by the rule of isDisturbed()
    std::size_t attempts = 1; ///< as in Latency
    bool byDevice = false; ///< timed by the device's own clock, without copies to and from it
};

/// The two take turns of a few runs, the first one changing from pair to pair of turns; in each a run that is not timed comes first, as one
/// that runs by itself has run before.
/// seed   of the bootstrap's draws
/// fails  what a run refuses; Cancelled
Result<Versus> measureVersus(kernels::LatencyPlan &plan, kernels::LatencyPlan &other,
                             const LatencySettings &settings, std::uint64_t seed = 1,
                             const Progress &progress = {});

/// The q-quantile (0 to 1) by linear interpolation between order statistics; 0 of nothing.
double quantile(std::vector<double> values, double q);

/// The 95 % interval of the median.
std::array<double, 2> medianInterval(std::span<const double> values, std::uint64_t seed);

/// Fills the plan's inputs with plausible values: floats uniform in [-1, 1), the same again from the 65,537th on, integers 0.
void fillInputs(kernels::LatencyPlan &plan, std::uint64_t seed);

} // namespace halftone::profile

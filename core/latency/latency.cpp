#include "core/latency/latency.h"

#include "core/base/thread_share.h"
#include "core/tensor/bfloat16.h"
#include "core/tensor/float16.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

namespace halftone::latency {
namespace {

using tensor::DType;

Result<double> timeOnDevice(kernels::LatencyPlan &plan, const Progress &progress)
{
    HALFTONE_CHECK(progress.checkStop());
    HALFTONE_TRY(const std::optional<double> time, plan.runOnDevice());
    return time.value_or(0);
}

Result<void> warmUp(kernels::LatencyPlan &plan, std::size_t runs, const Progress &progress)
{
    for (std::size_t k = 0; k < runs; ++k)
        HALFTONE_CHECK(plan.run(progress));
    return {};
}

/// In [0, 1), the same on every system: std::uniform_real_distribution is not.
double unit(std::mt19937_64 &random)
{
    return std::ldexp(static_cast<double>(random() >> 11), -53);
}

constexpr double kMostOver = 2; ///< median against minimum, 95th percentile against median
constexpr double kMostWaited = 0.1; ///< of the time that a measurement takes
constexpr std::chrono::seconds kMostTime{10}; ///< after which no disturbed measurement is taken once more
constexpr std::chrono::milliseconds kPause{
    100}; ///< before a disturbed measurement is taken once more; longer each time
constexpr std::size_t kRunsATurn = 3; ///< of one plan before the other's
constexpr std::size_t kDrawn = 65536; ///< values of an input, which repeat then: drawing takes its time

bool isFarAbove(double above, double below)
{
    return below > 0 && above > kMostOver * below;
}

bool areDisturbed(const std::vector<double> &times)
{
    const double median = quantile(times, 0.5);
    return isFarAbove(median, quantile(times, 0)) || isFarAbove(quantile(times, 0.95), median);
}

/// Which share of each run this thread waits for a processor. One run that waits long is one that takes long, which its time tells; where all
/// runs wait, all take long.
class Waits
{
public:
    void begin()
    {
        m_before = timeWaited();
        m_begin = Clock::now();
    }
    /// The milliseconds since then.
    double end()
    {
        const std::chrono::duration<double, std::milli> took = Clock::now() - m_begin;
        const auto now = timeWaited();
        if (m_before && now && took.count() > 0)
            m_shares.push_back(std::chrono::duration<double, std::milli>(*now - *m_before) / took);
        return took.count();
    }
    bool areLong() const { return quantile(m_shares, 0.5) > kMostWaited; }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point m_begin;
    std::optional<std::chrono::nanoseconds> m_before;
    std::vector<double> m_shares;
};

Result<double> timeOf(kernels::LatencyPlan &plan, Waits &waits, const Progress &progress)
{
    waits.begin();
    HALFTONE_CHECK(plan.run(progress));
    const double here = waits.end();
    return plan.lastRunMs().value_or(here);
}

/// Of all runs at once, which a runtime tells of only when its session ends.
Result<std::vector<std::vector<double>>> timeSteps(kernels::LatencyPlan &plan, std::size_t runs, Waits &waits,
                                                   const Progress &progress)
{
    waits.begin();
    auto times = plan.timeSteps(runs, progress);
    waits.end();
    return times;
}

std::optional<std::size_t> bytesOf(const kernels::LatencyPlan &plan)
{
    const auto arena = plan.arenaBytes();
    const auto constants = plan.constantBytes();
    return arena && constants ? std::optional(*arena + *constants) : std::nullopt;
}

/// Other work may be over soon.
Result<void> pauseBefore(std::size_t attempt, const Progress &progress)
{
    progress.tell(0, "waiting for a quiet machine");
    constexpr std::chrono::milliseconds kStep{20};
    for (std::chrono::milliseconds left = kPause * static_cast<int>(attempt); left.count() > 0;
         left -= kStep) {
        HALFTONE_CHECK(progress.checkStop());
        std::this_thread::sleep_for(kStep);
    }
    return {};
}

/// `measure` until nothing disturbs it, as often as the settings allow; of disturbed ones that of the least `time`.
template <class Measure, class Disturbed, class Time>
auto leastDisturbed(const LatencySettings &settings, const Progress &progress, Measure measure,
                    Disturbed isBusy, Time timeOf) -> decltype(measure())
{
    const auto begin = std::chrono::steady_clock::now();
    auto best = measure();
    std::size_t attempts = 1;
    while (best.ok() && isBusy(best.value()) && attempts < settings.attempts
           && std::chrono::steady_clock::now() - begin < kMostTime) {
        HALFTONE_CHECK(pauseBefore(attempts, progress));
        auto next = measure();
        if (!next.ok())
            return next;
        ++attempts;
        if (!isBusy(next.value()) || timeOf(next.value()) < timeOf(best.value()))
            best = std::move(next);
    }
    if (best.ok())
        best.value().attempts = attempts;
    return best;
}

} // namespace

bool isDisturbed(const Latency &latency)
{
    return latency.wasBusy || isFarAbove(latency.medianMs, latency.minMs)
        || isFarAbove(latency.p95Ms, latency.medianMs);
}

double quantile(std::vector<double> values, double q)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    const double place = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::array<double, 2> medianInterval(std::span<const double> values, std::uint64_t seed)
{
    constexpr int kSamples = 2000;
    std::mt19937_64 random(seed);
    std::vector<double> medians;
    std::vector<double> sample(values.size());
    for (int k = 0; k < kSamples && !values.empty(); ++k) {
        for (double &value : sample)
            value = values[static_cast<std::size_t>(random() % values.size())];
        medians.push_back(quantile(sample, 0.5));
    }
    return {quantile(medians, 0.025), quantile(medians, 0.975)};
}

namespace {

Result<Latency> measureOnce(kernels::LatencyPlan &plan, const LatencySettings &settings,
                            const Progress &progress)
{
    HALFTONE_CHECK(warmUp(plan, settings.warmup, progress));
    Waits waits;
    const std::size_t steps = plan.steps().size();
    std::vector<double> wholes;
    std::vector<double> ofDevice;
    std::vector<double> sums; // of the steps of a run
    std::vector<std::vector<double>> ofStep(steps);
    const bool isApart = plan.runtime().has_value(); // a run whose steps are timed needs a session of its own
    const auto take = [&](const std::vector<std::vector<double>> &runs) {
        for (const std::vector<double> &microseconds : runs) {
            for (std::size_t step = 0; step < steps; ++step)
                ofStep[step].push_back(microseconds[step]);
            sums.push_back(std::accumulate(microseconds.begin(), microseconds.end(), 0.0));
        }
    };
    for (std::size_t k = 0; k < settings.repeats; ++k) {
        progress.tell(static_cast<double>(k) / static_cast<double>(settings.repeats), "measuring");
        HALFTONE_CHECK(progress.checkStop());
        if (!settings.stepsOnly) {
            HALFTONE_TRY(const double whole, timeOf(plan, waits, progress));
            wholes.push_back(whole);
            HALFTONE_TRY(const std::optional<double> onDevice, plan.runOnDevice());
            if (onDevice)
                ofDevice.push_back(*onDevice);
        }
        if (!isApart) {
            HALFTONE_TRY(const auto times, timeSteps(plan, 1, waits, progress));
            take(times);
        }
    }
    if (isApart) {
        HALFTONE_TRY(const auto times, timeSteps(plan, settings.repeats, waits, progress));
        take(times);
    }
    Latency latency;
    latency.wasBusy = waits.areLong() || areDisturbed(wholes) || areDisturbed(sums);
    latency.medianMs = quantile(wholes, 0.5);
    latency.minMs = quantile(wholes, 0);
    latency.p95Ms = quantile(wholes, 0.95);
    for (std::size_t step = 0; step < steps; ++step) {
        const LayerLatency layer{plan.steps()[step], quantile(ofStep[step], 0.5), quantile(ofStep[step], 0)};
        latency.sumOfLayersMs += layer.medianUs / 1e3;
        if (layer.step.kind != kernels::StepKind::Compute)
            latency.castsUs += layer.medianUs;
        latency.layers.push_back(layer);
    }
    latency.peakBytes = bytesOf(plan);
    latency.launches = plan.launches();
    latency.runtime = plan.runtime();
    if (!ofDevice.empty())
        latency.deviceMs = quantile(ofDevice, 0.5);
    return latency;
}

Result<Versus> versusOnce(kernels::LatencyPlan &plan, kernels::LatencyPlan &other,
                          const LatencySettings &settings, std::uint64_t seed, const Progress &progress)
{
    HALFTONE_CHECK(warmUp(plan, settings.warmup, progress));
    HALFTONE_CHECK(warmUp(other, settings.warmup, progress));
    bool byDevice = settings.byDevice;
    for (kernels::LatencyPlan *const one : {&plan, &other}) {
        if (byDevice) {
            HALFTONE_TRY(const std::optional<double> time, one->runOnDevice());
            byDevice = time.has_value();
        }
    }
    Waits waits;
    std::vector<double> own;
    std::vector<double> others;
    // Its own run before leaves in the caches what it finds there when it runs by itself, and not the other's weights.
    const auto takeTurn = [byDevice, &waits, &progress](kernels::LatencyPlan &one, std::size_t runs,
                                                        std::vector<double> &times) -> Result<void> {
        HALFTONE_CHECK(warmUp(one, 1, progress));
        for (std::size_t k = 0; k < runs; ++k) {
            HALFTONE_TRY(const double time,
                         byDevice ? timeOnDevice(one, progress) : timeOf(one, waits, progress));
            times.push_back(time);
        }
        return {};
    };
    for (std::size_t turn = 0; own.size() < settings.repeats; ++turn) {
        const std::size_t runs = std::min(kRunsATurn, settings.repeats - own.size());
        if (turn % 2 == 1)
            HALFTONE_CHECK(takeTurn(other, runs, others));
        HALFTONE_CHECK(takeTurn(plan, runs, own));
        if (turn % 2 == 0)
            HALFTONE_CHECK(takeTurn(other, runs, others));
    }
    std::vector<double> ratios;
    for (std::size_t k = 0; k < own.size(); ++k)
        ratios.push_back(own[k] / std::max(others[k], 1e-9));
    std::array<double, 2> interval = medianInterval(ratios, seed);
    interval[0] *= 1 - kPlacement;
    interval[1] *= 1 + kPlacement;
    const bool isDisturbed = areDisturbed(own) || areDisturbed(others) || waits.areLong();
    return Versus{quantile(others, 0.5), quantile(ratios, 0.5), interval, isDisturbed, 1, byDevice};
}

} // namespace

Result<Latency> measureLatency(kernels::LatencyPlan &plan, const LatencySettings &settings,
                               const Progress &progress)
{
    return leastDisturbed(
        settings, progress, [&] { return measureOnce(plan, settings, progress); },
        [](const Latency &latency) { return isDisturbed(latency); },
        [&settings](const Latency &latency) {
            return settings.stepsOnly ? latency.sumOfLayersMs : latency.medianMs;
        });
}

Result<Versus> measureVersus(kernels::LatencyPlan &plan, kernels::LatencyPlan &other,
                             const LatencySettings &settings, std::uint64_t seed, const Progress &progress)
{
    return leastDisturbed(
        settings, progress, [&] { return versusOnce(plan, other, settings, seed, progress); },
        [](const Versus &versus) { return versus.isDisturbed; },
        [](const Versus &versus) { return versus.medianMs * (1 + versus.ratio); });
}

void fillInputs(kernels::LatencyPlan &plan, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    for (std::size_t input = 0; input < plan.inputs().size(); ++input) {
        const std::span<std::byte> bytes = plan.input(input);
        const DType type = plan.inputs()[input].desc.dtype;
        const std::size_t size = std::max<std::size_t>(tensor::sizeOf(type), 1);
        std::ranges::fill(bytes, std::byte{0});
        const std::size_t drawn = tensor::isFloat(type) ? std::min(bytes.size() / size, kDrawn) * size : 0;
        for (std::size_t at = 0; at < drawn; at += size) {
            const double value = 2 * unit(random) - 1;
            const auto narrow = static_cast<float>(value);
            const std::uint16_t bits
                = type == DType::F16 ? tensor::float16FromFloat(narrow) : tensor::bfloat16FromFloat(narrow);
            if (type == DType::F64)
                std::memcpy(bytes.data() + at, &value, sizeof value);
            else if (type == DType::F32)
                std::memcpy(bytes.data() + at, &narrow, sizeof narrow);
            else
                std::memcpy(bytes.data() + at, &bits, sizeof bits);
        }
        for (std::size_t at = drawn; drawn > 0 && at < bytes.size(); at += drawn)
            std::memcpy(bytes.data() + at, bytes.data(), std::min(drawn, bytes.size() - at));
    }
}

} // namespace halftone::latency

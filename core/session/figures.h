#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/session/snapshot.h"
#include "core/walks/examples.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace halftone::session {

struct LatencyOptions
{
    std::string backend{backends::kDefaultBackend};
    unsigned threads = 0; ///< 0: as many as the machine has
    tensor::DType precision
        = tensor::DType::Unknown; ///< as backends::planningBackend(); Unknown: the backend's default
    latency::LatencySettings settings;
    bool keepsPlan = false; ///< of the converted model too, for another measurement of it
    std::optional<walks::ExampleOptions>
        examples{}; ///< the first is what models are timed with; nothing: what is guessed
};

/// Measures one model over and over: its packed weights and its float32 plan are kept, so that an edit costs only what it
/// changes. For one thread at a time.
class LatencyMeter
{
public:
    LatencyMeter();
    ~LatencyMeter();
    LatencyMeter(const LatencyMeter &) = delete;
    LatencyMeter &operator=(const LatencyMeter &) = delete;

    /// Makes the plans that the next measurement of this snapshot needs, and keeps them.
    /// beforeTiming  called before the first layout is timed: whatever else this process does can end first
    /// gives: whether the machine computes in the target type; else only float32's plan is made. fails: as measure()
    Result<bool> prepare(const Snapshot &snapshot, const LatencyOptions &options,
                         const std::function<void()> &beforeTiming, const Progress &progress = {});
    /// The converted model against the source, in turns. Where the target type is emulated only the source is measured, since
    /// times of an emulation say nothing: `native` is then false.
    /// fails: Unsupported for a backend without latency plans; BadInput when inputs' shapes are not known, naming one; Cancelled
    Result<LatencyFigures> measure(const Snapshot &snapshot, const LatencyOptions &options,
                                   const Progress &progress = {});
    /// The same without `versus`. Needs and fails: as measure()
    Result<LatencyFigures> layers(const Snapshot &snapshot, const LatencyOptions &options,
                                  const Progress &progress = {});
    /// The source's steps alone, in the layout that the converted model's plan has: not always its own plan's. Needs and fails: as versus()
    Result<latency::Latency> wideInLayoutOf(const Snapshot &snapshot, const LatencyOptions &options,
                                            const Progress &progress = {});
    /// Of the same only how the converted model stands to the source, which takes a third of the time. Needs: a target type that is not
    /// emulated. fails: as measure()
    Result<latency::Versus> versus(const Snapshot &snapshot, const LatencyOptions &options,
                                   const Progress &progress = {});
    /// Of the same only the converted model's steps. Needs and fails: as versus()
    Result<latency::Latency> steps(const Snapshot &snapshot, const LatencyOptions &options,
                                   const Progress &progress = {});

    /// The next measurement plans both models anew. Where a plan's memory lies decides some part of its time, which only
    /// another plan shows.
    void forgetPlans();

private:
    struct Kept;
    Result<void> keepWide(const Snapshot &snapshot, const LatencyOptions &options, const Progress &progress,
                          const std::function<void()> &beforeTiming = {});
    std::unique_ptr<Kept> m_kept;
};

/// What is known of each node, gathered from `comparison` and `latency` into `nodes`.
void gatherByNode(Figures &figures, const graph::Graph &source);

} // namespace halftone::session

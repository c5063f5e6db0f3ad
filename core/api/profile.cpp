#include "halftone/profile.h"

#include "core/api/inside.h"
#include "core/session/figures.h"

#include <algorithm>

namespace halftone::api {
namespace {

Latency latencyOf(const latency::Latency &measured)
{
    Latency latency{measured.medianMs, measured.minMs, measured.p95Ms, measured.peakBytes.value_or(0), {}};
    for (const latency::LayerLatency &layer : measured.layers)
        latency.layers.push_back(
            {layer.step.nodes, layer.step.op, typeOf(layer.step.dtype), layer.step.kernel, layer.medianUs});
    return latency;
}

session::Snapshot snapshotOf(const Conversion &conversion)
{
    const auto &content = Inside::of(conversion);
    session::Snapshot snapshot;
    snapshot.source = Inside::sessionOf(conversion.source()).sharedSource();
    snapshot.shapes = std::make_shared<const infer::ShapeMap>(content.shapes);
    snapshot.policy = std::make_shared<const policy::Policy>(content.derived.converted->policy);
    snapshot.rules = content.derived.rules;
    snapshot.converted = content.derived.converted;
    return snapshot;
}

} // namespace

Result<Profile> profile(const Conversion &conversion, const ProfileOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Profile> {
        session::LatencyOptions settings;
        settings.threads = options.threads;
        settings.settings = {options.warmup, std::max<std::size_t>(options.repeats, 1)};
        session::LatencyMeter meter;
        HALFTONE_TRY(const session::LatencyFigures figures,
                     meter.measure(snapshotOf(conversion), settings, progressOf(progress)));
        Profile profile{latencyOf(figures.fp32), std::nullopt, 0, {}};
        if (figures.native) {
            profile.converted = latencyOf(figures.mixed);
            profile.ratio = figures.versus.ratio;
            profile.ratio95 = figures.versus.ci95;
        }
        return profile;
    });
}

} // namespace halftone::api

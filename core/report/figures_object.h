#pragma once

#include "core/latency/latency.h"
#include "core/report/as_asked.h"
#include "core/report/json_values.h"
#include "core/tensor/error_metrics.h"

#include <optional>
#include <utility>

namespace halftone::report {

/// As `compare --json` names them; null for none.
inline OrderedJson figuresObject(const std::optional<tensor::ErrorFigures> &figures)
{
    if (!figures)
        return {};
    return {{"max_abs", jsonNumber(figures->maxAbs)},
            {"mean_abs", jsonNumber(figures->meanAbs)},
            {"rmse", jsonNumber(figures->rmse)},
            {"rel_l2", numberOrNull(figures->relativeL2)},
            {"cosine", jsonNumber(figures->cosine)},
            {"sqnr_db", jsonNumber(figures->sqnrDb)},
            {"max_rel", jsonNumber(figures->maxRelative)},
            {"overflow", figures->overflow},
            {"nan", figures->nan},
            {"count", figures->count}};
}

/// Does nothing but a reference kernel of oneDNN compute it, hundreds of times slower than others?
inline bool isReferenceKernel(const kernels::PlanStep &step)
{
    return step.kernel.starts_with("ref") && step.kernel != "reference"; // which is ours
}

/// The type that the model asks for; null for a step of a runtime's own.
inline OrderedJson askedName(const kernels::PlanStep &step)
{
    const tensor::DType asked = askedOf(step);
    return asked == tensor::DType::Unknown ? OrderedJson() : OrderedJson(tensor::nameOf(asked));
}

inline OrderedJson asAskedObject(const latency::Latency &latency)
{
    const AsAsked share = asAsked(latency);
    return {{"operators", share.operators},
            {"operators_share", share.operatorsShare},
            {"time_share", share.timeShare}};
}

inline OrderedJson runtimeObject(const kernels::RuntimeFacts &runtime)
{
    return {{"name", runtime.name}, {"version", runtime.version}, {"device", runtime.device}};
}

/// As `profile --json` names it; what only a device has stands there where it is known.
inline OrderedJson latencyObject(const latency::Latency &latency)
{
    auto layers = OrderedJson::array();
    for (const latency::LayerLatency &layer : latency.layers) {
        layers.push_back({{"names", layer.step.nodes},
                          {"op", layer.step.op},
                          {"dtype", tensor::nameOf(layer.step.dtype)},
                          {"asked", askedName(layer.step)},
                          {"kernel", layer.step.kernel},
                          {"kind", kernels::nameOf(layer.step.kind)},
                          {"reference", isReferenceKernel(layer.step)},
                          {"median_us", layer.medianUs},
                          {"min_us", layer.minUs}});
        if (!layer.step.told.empty())
            layers.back()["told"] = layer.step.told;
        if (layer.limitUs)
            layers.back()["limit_us"] = *layer.limitUs;
    }
    OrderedJson object{{"median_ms", latency.medianMs},
                       {"min_ms", latency.minMs},
                       {"p95_ms", latency.p95Ms},
                       {"layers", std::move(layers)},
                       {"casts_us", latency.castsUs},
                       {"sum_of_layers_ms", latency.sumOfLayersMs},
                       {"peak_bytes", latency.peakBytes ? OrderedJson(*latency.peakBytes) : OrderedJson()},
                       {"disturbed", latency::isDisturbed(latency)},
                       {"attempts", latency.attempts}};
    object["as_asked"] = asAskedObject(latency);
    if (latency.runtime)
        object["runtime"] = runtimeObject(*latency.runtime);
    if (latency.limitMs)
        object["limit_ms"] = *latency.limitMs;
    if (latency.deviceMs)
        object["device_ms"] = *latency.deviceMs;
    if (const auto &launches = latency.launches)
        object["launches"]
            = {{"planned", launches->planned},
               {"measured", launches->measured ? OrderedJson(*launches->measured) : OrderedJson()}};
    return object;
}

} // namespace halftone::report

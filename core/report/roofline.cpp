#include "core/report/roofline.h"

#include <algorithm>

namespace halftone::report {

std::optional<double> limitUs(const latency::LayerLatency &layer, const hardware::Description &chip)
{
    const auto &step = layer.step;
    if (step.bytes <= 0 || !chip.bandwidth || !chip.gigaflops)
        return std::nullopt;
    const hardware::Unit unit = step.multiplies ? hardware::Unit::Gemm : hardware::Unit::Elementwise;
    const double peak = *chip.gigaflops * std::max(chip.rate(unit, step.dtype), 1.0);
    return std::max(step.bytes / *chip.bandwidth, step.flops / peak) / 1e3; // of 10^9 a second
}

void addLimits(latency::Latency &latency, const hardware::Description &chip)
{
    latency.limitMs.reset();
    for (latency::LayerLatency &layer : latency.layers) {
        layer.limitUs = limitUs(layer, chip);
        if (layer.limitUs)
            latency.limitMs = latency.limitMs.value_or(0) + *layer.limitUs / 1e3;
    }
}

} // namespace halftone::report

#pragma once

#include "core/hardware/description.h"
#include "core/latency/latency.h"

#include <optional>

namespace halftone::report {

/// The least time that a layer can take on a chip, µs: its bytes at the memory's speed or its operations at the peak of its type,
/// whichever takes longer (Williams, Waterman and Patterson, "Roofline", 2009). Nothing where the layer or the description does not
/// say enough.
std::optional<double> limitUs(const latency::LayerLatency &layer, const hardware::Description &chip);

/// Writes it into each layer, and their sum.
void addLimits(latency::Latency &latency, const hardware::Description &chip);

} // namespace halftone::report

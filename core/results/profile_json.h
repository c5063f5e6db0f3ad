#pragma once

#include "core/backends/backends.h"
#include "core/base/json.h"
#include "core/latency/latency.h"
#include "core/tensor/shape.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::results {

/// What was measured, and of what.
struct ProfileFacts
{
    std::string backendName; ///< as it was asked for
    backends::BackendInfo backend;
    latency::Latency latency;
    std::optional<latency::Versus> versus;
    std::vector<std::pair<std::string, tensor::Shape>> inputs; ///< in the graph's order
};

/// `profile --json`.
OrderedJson profileJson(const ProfileFacts &facts);

} // namespace halftone::results

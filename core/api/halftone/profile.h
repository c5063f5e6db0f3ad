#pragma once

#include "halftone/convert.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

struct ProfileOptions
{
    unsigned threads = 0; ///< 0: one per core
    std::size_t repeats = 30; ///< number of timed runs
    std::size_t warmup = 5; ///< number of warm-up runs
};

/// Time of one step: a node or several fused ones.
struct LayerTime
{
    std::vector<std::string> nodes; ///< of the source
    std::string op;
    Type type = Type::Unknown;
    std::string kernel;
    double medianUs = 0;
};

struct Latency
{
    double medianMs = 0;
    double minMs = 0;
    double p95Ms = 0;
    std::size_t peakBytes = 0; ///< 0: unknown
    std::vector<LayerTime> layers; ///< in the order of computation, including casts and reorders
};

struct Profile
{
    Latency float32; ///< of the source
    /// Of the converted model. Absent if the machine only emulates the target type, since times would be meaningless.
    std::optional<Latency> converted;
    double ratio = 0; ///< converted / float32 over pairs of alternating runs; below 1: faster
    std::array<double, 2> ratio95{}; ///< its 95 % interval
};

/// Measures the latency of both models with alternating runs. Needs: known input shapes (OpenOptions::shapes).
/// fails: BadInput if a shape is unknown; Unsupported in a build without oneDNN; Cancelled
Result<Profile> profile(const Conversion &conversion, const ProfileOptions &options = {},
                        const Progress &progress = {});

} // namespace halftone::api

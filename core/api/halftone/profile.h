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
    unsigned threads = 0; ///< 0: as many as the machine has
    std::size_t repeats = 30; ///< runs that count
    std::size_t warmup = 5; ///< runs before
};

/// What is computed as one.
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
    std::size_t peakBytes = 0;
    std::vector<LayerTime> layers; ///< in the order of computation, casts and reorders among them
};

struct Profile
{
    Latency float32; ///< of the source
    /// Of the conversion. Nothing where the machine only emulates the target type: its times would say nothing.
    std::optional<Latency> converted;
    double ratio = 0; ///< converted / float32 over pairs of neighbouring runs: below 1 it is faster
    std::array<double, 2> ratio95{}; ///< its 95 % interval
};

/// Measures both models, prepared to be fast, in turns. Needs: a model whose inputs' shapes are known (OpenOptions::shapes).
/// fails: BadInput where they are not; Unsupported in a build without oneDNN; Cancelled
Result<Profile> profile(const Conversion &conversion, const ProfileOptions &options = {},
                        const Progress &progress = {});

} // namespace halftone::api

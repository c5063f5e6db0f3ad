#pragma once

#include "halftone/convert.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::api {

struct ProfileOptions
{
    std::string backend = "cpu"; ///< one with latency plans
    std::optional<Type> precision = {}; ///< as Compute::precision
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< in place of the first axis of every input; 0: as the shapes say
    std::optional<std::uint64_t> randomParameters = {}; ///< seed for drawing missing parameters
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

/// A model compared with another one, by pairs of alternating runs.
struct Versus
{
    double medianMs = 0; ///< of the other model
    double ratio = 0; ///< model / other; below 1: faster
    std::array<double, 2> ratio95{}; ///< its 95 % interval
};

struct Profile
{
    Latency latency;
    std::string device;
    /// Number of layers by emulated type, whose times do not carry over to a machine with native support. Empty: all are native.
    std::vector<std::pair<Type, std::size_t>> emulated;
    bool isDisturbed = false; ///< other programs were running: the times are unreliable
    std::optional<Versus> versus; ///< of a conversion, if asked for
    std::string report; ///< as JSON: what `profile --json` prints
};

/// Measures the latency of a model. Needs: known input shapes (OpenOptions::shapes, or those of the file).
/// other  a model with the same inputs to alternate with; absent: none
/// fails: BadInput if a shape is unknown; BadCall for an unknown backend; Unsupported for one without latency plans; Cancelled
Result<Profile> profile(const Model &model, const ProfileOptions &options = {},
                        const std::optional<Model> &other = {}, const Progress &progress = {});

/// The same for a converted model. versusSource  also alternates with its source
Result<Profile> profile(const Conversion &conversion, const ProfileOptions &options = {},
                        bool versusSource = true, const Progress &progress = {});

} // namespace halftone::api

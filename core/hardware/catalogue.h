#pragma once

#include "core/base/result.h"
#include "core/hardware/description.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace halftone::hardware {

/// The descriptions that come with the program (resources/hardware), by name. Parsed on first use; safe from any thread.
std::span<const std::shared_ptr<const Description>> builtIn();

inline constexpr std::string_view kThis = "this"; ///< the processor that this runs on
inline constexpr std::string_view kThisGpu = "this-gpu"; ///< the GPU of this machine

/// The description with a name: one of builtIn(), kThis, kThisGpu, or a file (the name contains a '/' or ends in ".json"). For this
/// machine it includes the stored measurement (kept_measurement.h), which for the processor decides (decidedBy() in processor.h).
/// fails: BadCall (Field::Hardware) for an unknown name, with the nearest; BadInput with the file's name and the JSON path;
/// Unsupported if this machine has no GPU
Result<std::shared_ptr<const Description>> findDescription(std::string_view nameOrFile);

/// The description of this processor, put together once from its flags (describe() in processor.h). Never null.
const std::shared_ptr<const Description> &thisMachine();

/// A GPU as reported by its driver.
struct GpuAtHand
{
    std::string device; ///< name and other identification; the key of stored measurements
    std::string architecture; ///< "sm_90"
    std::optional<double> bandwidth; ///< of memory, GB per second; absent: not reported
};

/// Sets the GPU that kThisGpu means. This room uses no driver; machines::lookForGpu() does. Safe from any thread.
void tellGpu(const GpuAtHand &gpu);
/// The description of that GPU, with its own bandwidth; null: no GPU was set, or it reports no compute capability.
std::shared_ptr<const Description> thisGpu();

/// The key of stored measurements of the processor or GPU; empty: another name, or no description.
std::string machineOf(std::string_view name);

/// The description of a GPU with that compute capability; without one, that of the nearest below, with a note, no peak and no
/// bandwidth; below all, float32 only. Null: the architecture names no compute capability.
/// architecture  "sm_90" of capability 9.0
std::shared_ptr<const Description>
describedBy(std::span<const std::shared_ptr<const Description>> descriptions, std::string_view architecture);

/// describedBy() of the built-in ones, with the bandwidth of the board, in which boards of one architecture differ most.
/// bandwidth  GB per second; absent: that of the description
std::shared_ptr<const Description> boardOf(std::string_view architecture, std::optional<double> bandwidth);

} // namespace halftone::hardware

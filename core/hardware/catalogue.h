#pragma once

#include "core/base/result.h"
#include "core/hardware/description.h"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace halftone::hardware {

/// The descriptions that come with the program (resources/hardware), by name. Parsed on first use; safe from any thread.
std::span<const std::shared_ptr<const Description>> builtIn();

inline constexpr std::string_view kThis = "this"; ///< the processor that this runs on
inline constexpr std::string_view kThisGpu = "this-gpu"; ///< the GPU beside it

/// The description that a person names: one of builtIn(), kThis, kThisGpu, or a file, which is one as soon as its name holds a '/' or
/// ends in ".json". What is at hand has the measurement of it that is kept (kept_measurement.h).
/// fails: BadCall (Field::Hardware) for an unknown name, with the nearest; BadInput with the file's name and the JSON path;
/// Unsupported where what is at hand is none that is described, or is not there
Result<std::shared_ptr<const Description>> findDescription(std::string_view nameOrFile);

/// The one that the processor at hand has, recognised once; null: none.
const std::shared_ptr<const Description> &thisMachine();

/// What a driver says of a GPU.
struct GpuAtHand
{
    std::string device; ///< its name and what else tells it from others: measurements are kept under it
    std::string architecture; ///< "sm_90"
    std::optional<double> bandwidth; ///< of memory, GB a second; nothing: the driver does not say
};

/// Tells which GPU kThisGpu is: this room knows no driver (jobs::lookForGpu() asks one). Safe from any thread.
void tellGpu(const GpuAtHand &gpu);
/// The description of the GPU that was told, with its own bandwidth; null: none was told, or it is none that is described.
std::shared_ptr<const Description> thisGpu();

/// What measurements of the processor or of the GPU are kept under; empty: the name is that of neither, or it is not described.
std::string machineOf(std::string_view name);

/// What a CPU says of itself: the flags of /proc/cpuinfo; empty where there is no such file.
std::set<std::string, std::less<>> cpuFlags();

/// Of those descriptions whose flags are there and whose `without` are not, the one that needs most flags; null: none.
std::shared_ptr<const Description>
describedBy(std::span<const std::shared_ptr<const Description>> descriptions,
            const std::set<std::string, std::less<>> &flags);

/// The one of a GPU with the compute capability; null: none.
/// architecture  "sm_90" of capability 9.0
std::shared_ptr<const Description>
describedBy(std::span<const std::shared_ptr<const Description>> descriptions, std::string_view architecture);

/// The built-in one of a board with that capability, and the board's own bandwidth: boards of one architecture differ in their memory most.
/// bandwidth  GB a second; nothing: the description's
std::shared_ptr<const Description> boardOf(std::string_view architecture, std::optional<double> bandwidth);

} // namespace halftone::hardware

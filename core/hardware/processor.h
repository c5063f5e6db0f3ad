#pragma once

#include "core/hardware/description.h"

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace halftone::hardware {

using Flags = std::set<std::string, std::less<>>;

/// A processor as Linux reports it.
struct Processor
{
    std::string model; ///< "model name"; empty on most Arm processors
    Flags flags; ///< instruction sets, names as in /proc/cpuinfo: "avx512_vnni", "asimddp"
};

/// Reads the text of /proc/cpuinfo (`flags` of x86, `Features` of Arm). Of several processors, the flags that all of them have: a thread
/// may run on any. Any text is accepted; flags are empty if it has none.
Processor readProcessor(std::string_view cpuinfo);

/// The processor that this runs on. Adds to what Linux reports the one unit that it does not list, AMX-FP16 ("amx_fp16", by CPUID).
Processor processorAtHand();

/// The description of any processor, put together from the units that its flags show; without known flags, that of a processor that
/// computes in float32 only. A description of `known` that its flags match and that says the same gives its name, title and sources.
Description describe(const Processor &processor, std::span<const std::shared_ptr<const Description>> known);

/// Measured faster or slower by more than this factor is a difference; less is noise.
inline constexpr double kClearFactor = 1.05;

/// The description after a measurement of the same machine, which decides where both differ: a convolution or product that was clearly
/// faster than in float32 is native in that type, and any native unit that was clearly slower counts as emulated. The note lists what
/// changed. What was not measured stays.
Description decidedBy(Description description, const Measurement &found);

} // namespace halftone::hardware

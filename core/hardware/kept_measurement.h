#pragma once

#include "core/hardware/description.h"

#include <optional>
#include <string>

namespace halftone::hardware {

/// The measurement of a machine (machineOf()) that is kept in the person's cache folder (XDG_CACHE_HOME, else ~/.cache), or was made
/// since the program started; nothing: there is none. Safe from any thread.
std::optional<Measurement> keptMeasurement(const std::string &machine);

/// Keeps it under Measurement::machine, in a file that is a description like any other. Where none can be written it is kept as long as
/// the program runs. Safe from any thread.
void keepMeasurement(const Description &chip, const Measurement &measurement);

} // namespace halftone::hardware

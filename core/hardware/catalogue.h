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

/// The description that a person names: one of builtIn(), "this" (the machine that this runs on), or a file, which is one as soon as
/// its name holds a '/' or ends in ".json".
/// fails: BadCall (Field::Hardware) for an unknown name, with the nearest; BadInput with the file's name and the JSON path;
/// Unsupported where "this" is none that is described
Result<std::shared_ptr<const Description>> findDescription(std::string_view nameOrFile);

/// The one that the machine at hand has, recognised once; null: none.
const std::shared_ptr<const Description> &thisMachine();

/// The measurement of this machine that is kept in the person's cache folder (XDG_CACHE_HOME, else ~/.cache), or was made since the program
/// started; nothing: none, or of another processor. findDescription("this") has it.
std::optional<Measurement> keptMeasurement();
/// Needs: thisMachine(). Where no file can be written it is kept as long as the program runs.
void keepMeasurement(Measurement measurement);

/// What a CPU says of itself: the flags of /proc/cpuinfo; empty where there is no such file.
std::set<std::string, std::less<>> cpuFlags();

/// Of those descriptions whose flags are there and whose `without` are not, the one that needs most flags; null: none.
std::shared_ptr<const Description>
describedBy(std::span<const std::shared_ptr<const Description>> descriptions,
            const std::set<std::string, std::less<>> &flags);

} // namespace halftone::hardware

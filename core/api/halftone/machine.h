#pragma once

#include "halftone/result.h"

#include <string>

namespace halftone::api {

/// The backends of this build and what this machine supports, as JSON: what `backends --json` prints.
Result<std::string> backendsReport();

/// The described chips as JSON, or one: what `hardware --json` prints.
/// name  one of them, "this" (this machine's processor), "this-gpu" or a file; empty: all
/// fails: BadCall for an unknown name; BadInput for an invalid file; Unsupported without a GPU. The first call for hardware of this machine
///        measures it, which takes about two seconds
Result<std::string> hardwareReport(const std::string &name = {}, const Progress &progress = {});

} // namespace halftone::api

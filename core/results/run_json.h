#pragma once

#include "core/base/json.h"
#include "core/walks/run.h"

#include <string>

namespace halftone::results {

/// `run --json`. backend  as it was asked for
OrderedJson runJson(const walks::RunOutcome &outcome, const std::string &backend);

} // namespace halftone::results

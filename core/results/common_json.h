#pragma once

#include "core/base/json.h"
#include "core/policy/rules.h"
#include "core/tasks/task_metric.h"

#include <optional>
#include <span>

namespace halftone::results {

OrderedJson
warningsJson(std::span<const policy::Warning> warnings); ///< [{entry, text, code where there is one}]

/// `task` of several commands: metric, guessed, fp32, mixed, agree, examples, peak; null for none.
OrderedJson taskJson(const std::optional<tasks::TaskScore> &task);

} // namespace halftone::results

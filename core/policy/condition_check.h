#pragma once

#include "core/base/result.h"
#include "core/dialect/dialect.h"
#include "core/policy/rules.h"

#include <string>
#include <vector>

namespace halftone::policy {

/// Can this rule ever hold for that operator? Warns of values that the attribute cannot have, and of a rule
/// without values. fails: Errc::BadInput when the operator has no such attribute (the error names those it
/// has). `where` is the rule's place.
Result<void> checkCondition(const dialect::Dialect &dialect, const dialect::OpInfo &op,
                            const ConditionalRule &rule, const std::string &where,
                            std::vector<Warning> &warnings);

} // namespace halftone::policy

#pragma once

#include "core/base/json.h"
#include "core/policy/import_lists.h"
#include "core/policy/op_lists.h"

#include <array>
#include <string>

namespace halftone::results {

inline constexpr std::array kNameLists{policy::List::Target, policy::List::Fp32, policy::List::Widest,
                                       policy::List::Neutral}; ///< that name operators

/// `lists --json`.
OrderedJson listsJson(const policy::OpLists &lists);

/// `policy --json`. written  path; empty: not written
OrderedJson importedJson(const policy::ImportedLists &lists, const std::string &from,
                         const std::string &written);

} // namespace halftone::results

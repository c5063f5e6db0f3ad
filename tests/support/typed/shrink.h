#pragma once

#include "tests/support/typed/random_graph.h"

#include <functional>
#include <string>

namespace halftone::test {

/// A small case that still fails: heads dropped, nodes replaced by data or by one of their inputs, entries of the
/// policy taken away, as long as `fails` says yes. A case whose arrays do not matter comes back without them. Tries at most a few thousand cases.
TypedCase shrunk(TypedCase given, const std::function<bool(const TypedCase &)> &fails);

/// Writes `<prefix>-symbol.json` and `<prefix>.policy.json`. The arrays of the model are not written.
void writeCase(const TypedCase &given, const std::string &prefix);
TypedCase readCase(const std::string &prefix);

} // namespace halftone::test

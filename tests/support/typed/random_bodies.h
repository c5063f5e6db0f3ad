#pragma once

#include "tests/support/typed/random_builder.h"

namespace halftone::test {

/// Adds a loop over the first axis of some tensor, with states and values from around it; others lie in its body now and then. False
/// where no tensor suits.
bool foreachLoop(RandomBuilder &g);

/// Adds a node that runs one of two bodies. False where no tensor suits.
bool branches(RandomBuilder &g);

} // namespace halftone::test

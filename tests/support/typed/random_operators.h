#pragma once

#include "tests/support/typed/random_builder.h"

namespace halftone::test {

/// Adds one operator of a random kind, or nothing when the tensors there are do not suit the kind drawn.
bool addRandomOperator(RandomBuilder &g);

} // namespace halftone::test

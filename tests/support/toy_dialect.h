#pragma once

#include "core/dialect/dialect.h"

namespace halftone::test {

/// A format of four operators, to see that nothing in the core takes a graph for one of a real format:
///
///     Toy.Input             a variable; attribute type
///     Toy.Dense(x, w)       a matrix product; attribute units
///     Toy.Add(x, y)         of equal shapes
///     Toy.Exp(x)
///     Toy.Cast(x)           attribute to
///
/// Arrays of variables are called "p/NAME". It has lists (version "toy") that name none of its operators, and no int8.
const dialect::Dialect &toyDialect();

} // namespace halftone::test

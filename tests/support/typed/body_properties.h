#pragma once

#include "tests/support/typed/properties.h"

#include <cstddef>
#include <string>

/// What mode typed promises of bodies of control flow; properties of their own, and what the others need of bodies.
namespace halftone::test {

/// Of a graph and the bodies in it; a multicast counts as inputs - 1.
std::size_t castsIn(const graph::Graph &graph);

/// Of the bodies of the source, each converted as a model of its own that is fed and gives what it was before; what is the same in every
/// step is a parameter. Conversion graph by graph would need so many.
std::size_t castsOfBodiesAlone(const Outcome &outcome);

std::string castsInBodiesAreNeeded(const Outcome &outcome);
std::string bodiesNeedNoMoreCastsThanAlone(const Outcome &outcome);

} // namespace halftone::test

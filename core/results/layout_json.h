#pragma once

#include "core/base/json.h"
#include "core/layout/first_view.h"

#include <string>

namespace halftone::results {

/// The name of a node, or the title of a block.
std::string nameOf(const graph::Graph &graph, const layout::BlockTree &tree, const layout::ItemRef &item);

/// `layout --json`. seconds  that laying out took
OrderedJson layoutJson(const graph::Graph &graph, const layout::FirstView &view, double seconds);

} // namespace halftone::results

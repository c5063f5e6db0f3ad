#pragma once

#include "core/graph/graph.h"

#include <memory>
#include <vector>

class QMimeData;
class QWidget;

namespace halftone::widgets {

/// What a drag of nodes carries: "application/x-halftone-nodes", their names in UTF-8, one a line; also as plain text.
std::unique_ptr<QMimeData> nodesMime(const graph::Graph &graph, const std::vector<graph::NodeId> &nodes);

/// Drags nodes out of `source` until they are dropped; none: nothing happens.
void dragNodes(QWidget *source, const graph::Graph &graph, const std::vector<graph::NodeId> &nodes);

} // namespace halftone::widgets

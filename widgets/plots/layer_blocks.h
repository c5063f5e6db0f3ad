#pragma once

#include "core/graph/model.h"
#include "core/session/snapshot.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace halftone::widgets {

/// The parts of a model that a plot of its layers tells apart: blocks as the graph folds and names them, and nodes between these.
struct LayerBlocks
{
    QStringList names; ///< by part: "layers.17 · Attention + MLP"; of a node empty
    std::vector<std::size_t> partOf; ///< by NodeId

    bool isEmpty() const { return partOf.empty(); }
};

/// Of some layers each on average. Takes as long as folding the graph.
LayerBlocks layerBlocks(const graph::Model &model, std::size_t layers);

/// Does rounding change what the node gives? Integers are exact. True where its type is not known.
bool givesReals(const session::Snapshot &snapshot, graph::NodeId node);

} // namespace halftone::widgets

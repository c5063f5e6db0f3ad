#pragma once

#include "core/layout/block_tree.h"

#include <cstdint>

namespace halftone::layout {

/// How much of a graph has a box of its own.
enum class Detail : std::uint8_t
{
    /// What is computed: constants stand in the boxes of their readers, and pairs that make codes of a value and reals of these on
    /// the edge that it takes.
    Computed,
    Everything, ///< every operator
};

/// Which nodes have a box, and what is told of the others where they stand.
struct ShownGraph
{
    std::vector<char> drawn; ///< by NodeId
    Asides asides;
};

/// At Detail::Computed these have none:
/// - constants, and parameters of a few elements, whoever reads them; those of more where one node does;
/// - what reshapes, casts or decodes such a constant for one reader;
/// - a node that makes codes with a constant scale where nothing but nodes that decode them so reads these, and those nodes.
/// No output of the model is among them. At Detail::Everything: drawnNodes().
ShownGraph shownGraph(const graph::Model &model, Detail detail);

/// A number, or a list of a few integers, that a node holds: "0.125", "[0, 2]"; empty for more, or for one that computes.
std::string heldText(const graph::Model &model, graph::NodeId id);

/// The blocks of what is shown; without isFolded none. At Detail::Computed what computes a shape together is one
/// (shape_chains.h), and values that are read all along the graph have a port at each reader (far_reads.h).
BlockTree shownTree(const graph::Model &model, Detail detail, bool isFolded = true);

} // namespace halftone::layout

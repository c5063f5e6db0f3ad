#pragma once

#include "core/graph/graph.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::layout {

/// The names of nodes that stand in one order, and what stretches [first, last) of them share. Parts of a name: name_parts.h.
class OrderedNames
{
public:
    OrderedNames(const graph::Graph &graph, std::vector<graph::NodeId> order);

    /// Of the node whose name counts: exporters call constants by number wherever they stand, so that they go by the name of who reads them.
    const std::string &at(std::size_t position) const { return m_graph.node(m_named[position]).name; }
    /// How many characters the operators' names share from `length` on, in whole parts.
    std::size_t commonPrefix(std::size_t first, std::size_t last, std::size_t length) const;
    /// What three of four operators' names begin with, in whole parts: a constant or a cast that an exporter named otherwise hides
    /// no block's name. At least the first `prefix` characters of the first one.
    std::string_view mostlyShared(std::size_t first, std::size_t last, std::size_t prefix) const;
    /// The part behind `prefix`, with all before it; empty where the name ends there.
    std::string_view keyAt(std::size_t position, std::size_t prefix) const;
    /// The end of the run of equal keys that begins at `first`; up to two others within it are taken along. A run of one
    /// operator alone ("relu_1, relu_2") is none: such names count, they do not group.
    std::size_t endOfRun(std::size_t first, std::size_t last, std::size_t prefix) const;

    std::size_t rootPrefix() const
    {
        return m_rootPrefix;
    } ///< characters that all operators' names begin with
    std::size_t untoldPrefix() const { return m_untoldPrefix; } ///< of them, what no block's name tells
    /// A name, or what several begin with, without the untold prefix and separators at its ends.
    std::string labelOf(std::string_view prefix) const;

private:
    void nameConstants();
    /// Without its last part where a number follows: "layers.17" tells more than "17".
    std::size_t untoldOf(std::size_t prefix) const;

    const graph::Graph &m_graph;
    std::vector<graph::NodeId> m_order;
    std::vector<graph::NodeId> m_named; ///< by position: the node whose name counts
    std::size_t m_rootPrefix = 0;
    std::size_t m_untoldPrefix = 0;
};

} // namespace halftone::layout

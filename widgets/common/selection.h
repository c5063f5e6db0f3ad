#pragma once

#include "core/graph/graph.h"

#include <QObject>

#include <optional>
#include <vector>

namespace halftone::widgets {

/// The nodes of the source graph that are chosen, one for the whole window: graph, tables, plots and inspector show it
/// and set it.
class Selection : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    const std::vector<graph::NodeId> &nodes() const { return m_nodes; } ///< sorted
    /// The one that details are shown of: the last one chosen.
    std::optional<graph::NodeId> current() const { return m_current; }
    bool contains(graph::NodeId node) const;

    /// The node under the mouse in whichever panel that is: all of them mark it.
    std::optional<graph::NodeId> hovered() const { return m_hovered; }
    void hover(std::optional<graph::NodeId> node);

    void set(std::vector<graph::NodeId> nodes, std::optional<graph::NodeId> current);
    void set(graph::NodeId node) { set({node}, node); }
    void clear() { set({}, std::nullopt); }

Q_SIGNALS:
    void changed();
    void hoveredChanged();
    /// Somebody wants the node shown in the middle, as after a double click in a table.
    void shownRequested(graph::NodeId node);

private:
    std::vector<graph::NodeId> m_nodes;
    std::optional<graph::NodeId> m_current;
    std::optional<graph::NodeId> m_hovered;
};

} // namespace halftone::widgets

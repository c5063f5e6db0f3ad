#include "widgets/common/drag_label.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/graph_view.h"

#include <QDrag>
#include <QMimeData>

#include <algorithm>

/// What is chosen, told and dragged away.
namespace halftone::widgets {

std::unique_ptr<QMimeData> nodesMime(const graph::Graph &graph, const std::vector<graph::NodeId> &nodes)
{
    QByteArray names;
    for (const graph::NodeId node : nodes) {
        if (!names.isEmpty())
            names += '\n';
        names += QByteArray::fromStdString(graph.node(node).name);
    }
    auto mime = std::make_unique<QMimeData>();
    mime->setData(QStringLiteral("application/x-halftone-nodes"), names);
    mime->setText(QString::fromUtf8(names));
    return mime;
}

void GraphView::clickItem(ItemIndex item, Qt::KeyboardModifiers modifiers)
{
    Selection &selection = m_controller->selection();
    const auto nodes = m_scene->nodesOf(item);
    if ((modifiers & (Qt::ControlModifier | Qt::ShiftModifier)) == 0) {
        selection.set({nodes.begin(), nodes.end()}, nodes.front());
        return;
    }
    std::vector<graph::NodeId> chosen = selection.nodes();
    const bool removes = (modifiers & Qt::ControlModifier) != 0
        && std::ranges::all_of(nodes, [&](graph::NodeId node) { return selection.contains(node); });
    if (removes)
        std::erase_if(chosen,
                      [&](graph::NodeId node) { return std::ranges::find(nodes, node) != nodes.end(); });
    else
        chosen.insert(chosen.end(), nodes.begin(), nodes.end());
    std::optional<graph::NodeId> current = nodes.front();
    if (removes)
        current = chosen.empty() ? std::nullopt : std::optional(chosen.back());
    selection.set(std::move(chosen), current);
}

void GraphView::selectArea(const QRectF &area, bool adds)
{
    if (!m_scene)
        return;
    std::vector<ItemIndex> items;
    m_scene->itemsIn(area, items);
    std::vector<graph::NodeId> nodes
        = adds ? m_controller->selection().nodes() : std::vector<graph::NodeId>();
    for (const ItemIndex item : items) {
        if (!m_scene->items()[item].isFrame) {
            const auto own = m_scene->nodesOf(item);
            nodes.insert(nodes.end(), own.begin(), own.end());
        }
    }
    const auto current = nodes.empty() ? std::nullopt : std::optional(nodes.back());
    m_controller->selection().set(std::move(nodes), current);
}

ItemIndex GraphView::currentItem() const
{
    const auto current = m_controller->selection().current();
    return m_scene && current && *current < m_scene->graph().nodeCount() ? m_scene->itemOf(*current)
                                                                         : kNoItem;
}

void GraphView::describeCurrent()
{
    const ItemIndex item = currentItem();
    QString text;
    if (item != kNoItem && item < m_looks->items.size()) {
        const SceneItem &current = m_scene->items()[item];
        text = current.name + QStringLiteral(", ") + current.detail;
        if (const tensor::DType type = m_looks->items[item].type;
            type != tensor::DType::Unknown && !current.ref.isBlock)
            text += tr(", computes in %1").arg(shortType(type));
    }
    m_right->setAccessibleDescription(text);
}

void GraphView::dragItem(ItemIndex item)
{
    if (!m_emphasis->isSelected(item))
        clickItem(item, Qt::NoModifier);
    std::vector<graph::NodeId> nodes;
    for (const graph::NodeId node : m_controller->selection().nodes()) {
        if (!m_scene->graph().isVariable(node))
            nodes.push_back(node);
    }
    if (nodes.empty())
        return;
    const QString text = nodes.size() == 1 ? plain(m_scene->graph().node(nodes.front()).name)
                                           : tr("%1 nodes").arg(nodes.size());
    auto *drag = new QDrag(this); // Qt deletes it when the drag is over
    drag->setMimeData(nodesMime(m_scene->graph(), nodes).release());
    drag->setPixmap(dragLabel(text, *this));
    drag->setHotSpot(kBesidePointer);
    drag->exec(Qt::CopyAction | Qt::MoveAction, Qt::CopyAction);
}

} // namespace halftone::widgets

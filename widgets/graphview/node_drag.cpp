#include "widgets/graphview/node_drag.h"

#include "widgets/common/drag_label.h"
#include "widgets/common/formatters.h"

#include <QCoreApplication>
#include <QDrag>
#include <QMimeData>
#include <QWidget>

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

void dragNodes(QWidget *source, const graph::Graph &graph, const std::vector<graph::NodeId> &nodes)
{
    if (nodes.empty())
        return;
    const QString text = nodes.size() == 1
        ? plain(graph.node(nodes.front()).name)
        : QCoreApplication::translate("dragNodes", "%1 nodes").arg(nodes.size());
    auto *const drag = new QDrag(source); // Qt deletes it when the drag is over
    drag->setMimeData(nodesMime(graph, nodes).release());
    drag->setPixmap(dragLabel(text, *source));
    drag->setHotSpot(kBesidePointer);
    drag->exec(Qt::CopyAction | Qt::MoveAction, Qt::CopyAction);
}

} // namespace halftone::widgets

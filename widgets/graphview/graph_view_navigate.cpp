#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/graphview/view_bar.h"
#include "widgets/graphview/walk.h"

#include <QDrag>
#include <QMimeData>
#include <QPainter>

#include <algorithm>

/// How a person moves about: camera, history, keys, selection.
namespace halftone::widgets {
namespace {

constexpr double kZoomStep = 1.25;
constexpr double kMargin = 28;
constexpr double kLegible = 0.8; ///< least scale of a node that is shown, and of a first view
constexpr double kFitAtMost = 1; ///< small graphs are not blown up

} // namespace

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

void GraphView::setCamera(const Camera &camera)
{
    m_camera = camera;
    m_left->setCamera(camera);
    m_right->setCamera(camera);
    m_bar->showScale(camera.scale);
    Q_EMIT cameraChanged();
}

void GraphView::fit()
{
    rememberView();
    fitCamera();
}

void GraphView::fitCamera()
{
    if (!m_scene || m_scene->size().isEmpty())
        return;
    const QSizeF room(std::max(40.0, m_right->width() - 2 * kMargin),
                      std::max(40.0, m_right->height() - 2 * kMargin));
    Camera camera;
    camera.scale = std::clamp(std::min({room.width() / m_scene->size().width(),
                                        room.height() / m_scene->size().height(), kFitAtMost}),
                              Camera::kLeast, Camera::kMost);
    camera.centreOn({m_scene->size().width() / 2, m_scene->size().height() / 2}, m_right->size());
    setCamera(camera);
    m_keep = Keep::Fitted;
}

/// All of it, or what is too much for one glance from the top.
void GraphView::showFirst()
{
    fitCamera();
    if (m_scene && m_camera.scale < kLegible) {
        Camera camera;
        camera.scale = kLegible;
        camera.centreOn({m_scene->size().width() / 2, 0}, m_right->size());
        camera.origin.setY(-kMargin / kLegible);
        setCamera(camera);
    }
    m_keep = Keep::First;
}

void GraphView::zoomBy(double factor)
{
    Camera camera = m_camera;
    camera.zoomAt(QRectF(m_right->rect()).center(), camera.scale * factor);
    m_keep = Keep::Nothing;
    setCamera(camera);
}

void GraphView::zoomIn()
{
    zoomBy(kZoomStep);
}

void GraphView::zoomOut()
{
    zoomBy(1 / kZoomStep);
}

void GraphView::zoomToFull()
{
    zoomBy(1 / m_camera.scale);
}

void GraphView::rememberView()
{
    if (m_scene)
        m_history.leave({m_scene->open(), m_camera});
}

void GraphView::back()
{
    if (m_scene && m_history.canGoBack())
        goTo(m_history.goBack({m_scene->open(), m_camera}));
}

void GraphView::forward()
{
    if (m_scene && m_history.canGoForward())
        goTo(m_history.goForward({m_scene->open(), m_camera}));
}

void GraphView::goTo(const View &view)
{
    m_keep = Keep::Nothing;
    if (view.open == m_scene->open()) {
        setCamera(view.camera);
        return;
    }
    m_cameraAfter = view.camera;
    startLayout(m_scene->sharedTree(), view.open, std::nullopt, false);
}

void GraphView::showNode(graph::NodeId node)
{
    if (!m_scene || node >= m_scene->graph().nodeCount())
        return;
    std::vector<char> open = m_scene->open();
    layout::BlockId block = m_scene->tree().blockOf[m_scene->tree().boxOf[node]];
    for (; block != layout::kNoBlock && block != layout::kRoot; block = m_scene->tree().blocks[block].parent)
        open[block] = 1;
    rememberView();
    if (open == m_scene->open()) {
        centreOn(m_scene->itemOf(node));
        return;
    }
    m_showAfter = node;
    startLayout(m_scene->sharedTree(), std::move(open), std::nullopt, false);
}

void GraphView::centreOn(ItemIndex item)
{
    if (item == kNoItem)
        return;
    m_keep = Keep::Nothing;
    Camera camera = m_camera;
    camera.scale = std::max(camera.scale, kLegible);
    camera.centreOn(m_scene->items()[item].rect.center(), m_right->size());
    setCamera(camera);
}

void GraphView::reveal(ItemIndex item)
{
    if (item == kNoItem)
        return;
    const QRectF rect = m_camera.toView(m_scene->items()[item].rect);
    const QRectF room = QRectF(m_right->rect()).adjusted(kMargin, kMargin, -kMargin, -kMargin);
    const QPointF shift(rect.right() > room.right() ? rect.right() - room.right()
                                                    : std::min(0.0, rect.left() - room.left()),
                        rect.bottom() > room.bottom() ? rect.bottom() - room.bottom()
                                                      : std::min(0.0, rect.top() - room.top()));
    if (shift.isNull())
        return;
    Camera camera = m_camera;
    camera.origin += shift / camera.scale;
    setCamera(camera);
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

void GraphView::openOrClose(ItemIndex item)
{
    const SceneItem &chosen = m_scene->items()[item];
    if (chosen.ref.isBlock)
        setBlockOpen(chosen.ref.id, !chosen.isFrame);
    else
        showNode(chosen.ref.id);
}

void GraphView::goUp()
{
    const ItemIndex item = currentItem();
    if (item == kNoItem)
        return;
    const SceneItem &current = m_scene->items()[item];
    const layout::BlockId block = current.ref.isBlock ? m_scene->tree().blocks[current.ref.id].parent
                                                      : m_scene->tree().blockOf[current.ref.id];
    if (block == layout::kRoot || block == layout::kNoBlock)
        return;
    const std::vector<graph::NodeId> nodes = layout::nodesIn(m_scene->tree(), block);
    m_controller->selection().set(nodes, nodes.front());
    setBlockOpen(block, false);
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

void GraphView::dragItem(ItemIndex item)
{
    if (!m_emphasis.isSelected(item))
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
    QPixmap label(QSize(fontMetrics().horizontalAdvance(text) + 16, fontMetrics().height() + 8)
                  * devicePixelRatioF());
    label.setDevicePixelRatio(devicePixelRatioF());
    label.fill(palette().color(QPalette::Highlight));
    QPainter painter(&label);
    painter.setPen(palette().color(QPalette::HighlightedText));
    painter.drawText(QRectF(QPointF(), label.deviceIndependentSize()), Qt::AlignCenter, text);
    painter.end();
    auto *drag = new QDrag(this); // Qt deletes it when the drag is over
    drag->setMimeData(nodesMime(m_scene->graph(), nodes).release());
    drag->setPixmap(label);
    drag->exec(Qt::CopyAction | Qt::MoveAction, Qt::CopyAction);
}

ItemIndex GraphView::currentItem() const
{
    const auto current = m_controller->selection().current();
    return m_scene && current && *current < m_scene->graph().nodeCount() ? m_scene->itemOf(*current)
                                                                         : kNoItem;
}

void GraphView::walk(int key, bool extends)
{
    ItemIndex item = currentItem();
    if (item == kNoItem || key == Qt::Key_Home || key == Qt::Key_End) {
        const auto &items = m_scene->items();
        const auto isReal = [](const SceneItem &one) { return !one.isFrame; };
        if (key == Qt::Key_End)
            item = static_cast<ItemIndex>(std::ranges::find_if(items.rbegin(), items.rend(), isReal).base()
                                          - items.begin() - 1);
        else
            item = static_cast<ItemIndex>(std::ranges::find_if(items, isReal) - items.begin());
    } else {
        const Direction direction = key == Qt::Key_Up ? Direction::Up
            : key == Qt::Key_Down                     ? Direction::Down
            : key == Qt::Key_Left                     ? Direction::Left
                                                      : Direction::Right;
        item = neighbourOf(*m_scene, item, direction);
    }
    clickItem(item, extends ? Qt::ShiftModifier : Qt::NoModifier);
    reveal(item);
}

bool GraphView::handleCommandKey(int key, Qt::KeyboardModifiers modifiers)
{
    const bool isControl = (modifiers & Qt::ControlModifier) != 0;
    const bool isAlt = (modifiers & Qt::AltModifier) != 0;
    if (isControl && (key == Qt::Key_Plus || key == Qt::Key_Equal))
        zoomIn();
    else if (isControl && key == Qt::Key_Minus)
        zoomOut();
    else if (isControl && key == Qt::Key_0)
        zoomToFull();
    else if (isControl && key == Qt::Key_F)
        showFind();
    else if (isControl && key == Qt::Key_A)
        selectArea(QRectF(QPointF(), m_scene->size()), false);
    else if (isAlt && key == Qt::Key_Left)
        back();
    else if (isAlt && key == Qt::Key_Right)
        forward();
    else
        return false;
    return true;
}

void GraphView::handleKey(int key, Qt::KeyboardModifiers modifiers)
{
    if (!m_scene || m_scene->items().empty() || handleCommandKey(key, modifiers))
        return;
    switch (key) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Home:
    case Qt::Key_End:
        walk(key, (modifiers & Qt::ShiftModifier) != 0);
        break;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown: {
        Camera camera = m_camera;
        camera.origin.ry() += (key == Qt::Key_PageUp ? -0.8 : 0.8) * m_right->height() / camera.scale;
        setCamera(camera);
        break;
    }
    case Qt::Key_Space:
        fit();
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const ItemIndex item = currentItem(); item != kNoItem)
            openOrClose(item);
        break;
    case Qt::Key_Backspace:
        goUp();
        break;
    case Qt::Key_F3:
        step((modifiers & Qt::ShiftModifier) != 0);
        break;
    case Qt::Key_Escape:
        if (m_find->isVisible())
            hideFind();
        else
            m_controller->selection().clear();
        break;
    default:
        break;
    }
}

void GraphView::showFind()
{
    m_find->open();
}

void GraphView::hideFind()
{
    m_find->hide();
    m_right->setFocus();
    emphasise();
}

void GraphView::step(bool backward)
{
    if (const auto node = m_find->next(backward)) {
        m_controller->selection().set(*node);
        showNode(*node);
    }
}

void GraphView::findNext()
{
    step(false);
}

void GraphView::findPrevious()
{
    step(true);
}

void GraphView::describeCurrent()
{
    const ItemIndex item = currentItem();
    QString text;
    if (item != kNoItem && item < m_looks.items.size()) {
        const SceneItem &current = m_scene->items()[item];
        text = current.name + QStringLiteral(", ") + current.detail;
        if (const tensor::DType type = m_looks.items[item].type;
            type != tensor::DType::Unknown && !current.ref.isBlock)
            text += tr(", computes in %1").arg(shortType(type));
    }
    m_right->setAccessibleDescription(text);
}

} // namespace halftone::widgets

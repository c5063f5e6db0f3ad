#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/graphview/view_bar.h"
#include "widgets/graphview/walk.h"

#include <QLayout>

#include <algorithm>

/// How a person moves about: camera, history, keys.
namespace halftone::widgets {
namespace {

constexpr double kZoomStep = 1.25;
constexpr double kMargin = 28;
constexpr double kLegible = 0.8; ///< least scale of a node that is shown, and of a first view
constexpr double kFitAtMost = 1; ///< small graphs are not blown up

} // namespace

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
    revealIn(*m_right, item);
}

void GraphView::revealIn(const Canvas &canvas, ItemIndex item)
{
    if (item == kNoItem)
        return;
    const QRectF rect = m_camera.toView(m_scene->items()[item].rect);
    const QRectF room = QRectF(canvas.rect()).adjusted(kMargin, kMargin, -kMargin, -kMargin);
    const QPointF shift(rect.right() > room.right() ? rect.right() - room.right()
                                                    : std::min(0.0, rect.left() - room.left()),
                        rect.bottom() > room.bottom() ? rect.bottom() - room.bottom()
                                                      : std::min(0.0, rect.top() - room.top()));
    if (shift.isNull())
        return;
    m_keep = Keep::Nothing;
    Camera camera = m_camera;
    camera.origin += shift / camera.scale;
    setCamera(camera);
}

/// Both sides show the same places: the counterpart of a node is the node itself in the other canvas, as far as that one is
/// wide enough.
void GraphView::showCounterpartOf(ItemIndex item, const Canvas *clicked)
{
    if (item == kNoItem)
        return;
    clickItem(item, Qt::NoModifier);
    const bool isOriginal = clicked == m_left || m_sides == Sides::Original;
    setSides(Sides::Both);
    layout()->activate(); // the canvases have their sizes
    Canvas *const other = isOriginal ? m_right : m_left;
    revealIn(*other, item);
    other->mark(item);
    const SceneItem &shown = m_scene->items()[item];
    if (shown.ref.isBlock || item >= m_originalLooks->items.size()) // no colours yet
        Q_EMIT counterpartShown(tr("%1, in both graphs").arg(shown.name));
    else
        Q_EMIT counterpartShown(tr("%1: %2 in the original, %3 in the converted graph")
                                    .arg(shown.name, shortType(m_originalLooks->items[item].type),
                                         shortType(m_looks->items[item].type)));
}

void GraphView::showCounterpart()
{
    showCounterpartOf(currentItem(), m_left->hasFocus() ? m_left : m_right);
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
        camera.keepInSight(m_scene->size(), m_right->size());
        setCamera(camera);
        break;
    }
    case Qt::Key_Space:
        fit();
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if ((modifiers & Qt::AltModifier) != 0)
            showCounterpart();
        else if (const ItemIndex item = currentItem(); item != kNoItem)
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

} // namespace halftone::widgets

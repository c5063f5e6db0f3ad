#include "widgets/graphview/canvas.h"

#include "widgets/common/formatters.h"
#include "widgets/graphview/item_tip.h"
#include "widgets/graphview/minimap.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QFontMetrics>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPainter>
#include <QTimer>
#include <QToolTip>
#include <QVariantAnimation>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

constexpr double kZoomStep = 1.2; ///< for one notch of a wheel
constexpr int kCanvasMargin = 12;
constexpr int kMarkMs = 1500;
constexpr int kZoomingMs = 150; ///< from one step of zooming to another
constexpr int kMarkWidth = 4;
constexpr int kHoverWidth = 2;
constexpr double kMarkGap = 6; ///< between an item and the ring around it
constexpr double kTitle = 30; ///< height of a frame's title, in the scene

} // namespace

Canvas::Canvas(QWidget *parent)
    : QWidget(parent)
    , m_minimap(new Minimap(this))
    , m_fading(new QVariantAnimation(this))
    , m_marking(new QTimer(this))
    , m_zooming(new QTimer(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(120, 120);
    connect(m_minimap, &Minimap::placeWanted, this, [this](const QPointF &scene) {
        Camera camera = m_camera;
        camera.centreOn(scene, size());
        moveCamera(camera);
    });
    connect(m_fading, &QVariantAnimation::valueChanged, this, [this](const QVariant &value) {
        m_beforeShare = value.toDouble();
        update();
    });
    m_marking->setSingleShot(true);
    m_marking->setInterval(kMarkMs);
    connect(m_marking, &QTimer::timeout, this, [this] {
        m_marked = kNoItem;
        update();
    });
    m_zooming->setSingleShot(true);
    m_zooming->setInterval(kZoomingMs);
    connect(m_zooming, &QTimer::timeout, this, [this] {
        scenePainter().setZooming(false);
        if (m_picture.isPlain())
            redraw();
    });
    connect(m_fading, &QVariantAnimation::finished, this, [this] { m_before = {}; });
}

Canvas::~Canvas() = default;

void Canvas::setInput(const PaintInput &input)
{
    if (input.scene != m_input.scene)
        m_marked = m_hovered = kNoItem;
    const bool isOther
        = input.scene != m_input.scene || input.looks != m_input.looks || input.colourBy != m_input.colourBy;
    m_input = input;
    if (isOther) // what is selected does not show in it
        m_minimap->refresh();
    redraw();
}

void Canvas::setMessage(const QString &text)
{
    m_message = text;
    update();
}

void Canvas::setCaption(const QString &text)
{
    m_caption = text;
    update();
}

void Canvas::setCamera(const Camera &camera)
{
    if (m_camera == camera)
        return;
    if (m_camera.scale != camera.scale)
        noteZoom();
    m_camera = camera;
    m_minimap->follow();
    update(); // what is in the picture already is moved
}

/// One step alone, such as to a node that is shown, is drawn with all details at once.
void Canvas::noteZoom()
{
    if (m_sinceZoom.isValid() && m_sinceZoom.elapsed() < kZoomingMs) {
        scenePainter().setZooming(true);
        m_zooming->start();
    }
    m_sinceZoom.start();
}

void Canvas::moveCamera(Camera camera)
{
    if (m_input.scene)
        camera.keepInSight(m_input.scene->size(), size());
    setCamera(camera);
    Q_EMIT cameraMoved(camera);
}

void Canvas::fadeFromPresent(int ms)
{
    if (ms <= 0 || !isVisible() || !m_input.scene)
        return;
    m_before = QPixmap(size() * devicePixelRatioF());
    m_before.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&m_before);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    paintOn(painter, rect(), m_camera);
    m_fading->stop();
    m_fading->setStartValue(1.0);
    m_fading->setEndValue(0.0);
    m_fading->setDuration(ms);
    m_fading->start();
}

void Canvas::paintOn(QPainter &painter, const QRectF &area, const Camera &camera)
{
    if (!m_input.scene)
        return;
    scenePainter().paint(painter, area, area, camera, m_input);
    scenePainter().paintTitlesAbove(painter, belowCaption(area), camera, m_input);
}

ScenePainter &Canvas::scenePainter()
{
    if (!m_painter)
        m_painter = std::make_unique<ScenePainter>(palette(), font());
    return *m_painter;
}

QRectF Canvas::captionBox() const
{
    if (m_caption.isEmpty())
        return {};
    QFont bold = font();
    bold.setBold(true);
    const QFontMetrics metrics(bold);
    return {kCanvasMargin, kCanvasMargin, metrics.horizontalAdvance(m_caption) + 16.0,
            metrics.height() + 8.0};
}

/// Where titles do not lie over it.
QRectF Canvas::belowCaption(QRectF area) const
{
    area.setTop(std::max(area.top(), captionBox().bottom()));
    return area;
}

void Canvas::paintCaption(QPainter &painter)
{
    if (m_caption.isEmpty())
        return;
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    const QRectF box = captionBox();
    QColor ground = palette().color(QPalette::Window);
    ground.setAlpha(230);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ground);
    painter.drawRoundedRect(box, 3, 3);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(box, Qt::AlignCenter, m_caption);
}

void Canvas::mark(ItemIndex item)
{
    m_marked = item;
    m_marking->start();
    update();
}

void Canvas::setHovered(ItemIndex item)
{
    if (item == m_hovered)
        return;
    m_hovered = item;
    update();
}

void Canvas::paintRing(QPainter &painter, ItemIndex item, int width)
{
    if (item == kNoItem || item >= m_input.scene->items().size())
        return;
    const QRectF ring = m_camera.toView(m_input.scene->items()[item].rect)
                            .adjusted(-kMarkGap, -kMarkGap, kMarkGap, kMarkGap);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Highlight), width));
    painter.drawRoundedRect(ring, kMarkGap, kMarkGap);
}

void Canvas::redraw()
{
    m_picture.forget();
    update();
}

void Canvas::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    if (!m_input.scene || !m_message.isEmpty()) {
        painter.fillRect(rect(), palette().color(QPalette::Base));
        painter.setPen(blended(palette().color(QPalette::Text), palette().color(QPalette::Base), 0.35));
        painter.drawText(rect().adjusted(kCanvasMargin, kCanvasMargin, -kCanvasMargin, -kCanvasMargin),
                         Qt::AlignCenter | Qt::TextWordWrap, m_message);
        return;
    }
    if (!m_picture.update(*this, scenePainter(), m_input, m_camera))
        QTimer::singleShot(0, this, &Canvas::redraw);
    painter.drawPixmap(0, 0, m_picture.pixels()); // covers all
    scenePainter().paintTitlesAbove(painter, belowCaption(rect()), m_picture.camera(), m_input);
    painter.setRenderHint(QPainter::Antialiasing);
    paintRing(painter, m_hovered, kHoverWidth);
    paintRing(painter, m_marked, kMarkWidth);
    paintCaption(painter);
    if (m_gesture == Gesture::Band) {
        QColor accent = palette().color(QPalette::Highlight);
        painter.setPen(QPen(accent, 1));
        accent.setAlpha(40);
        painter.setBrush(accent);
        painter.drawRect(QRectF(m_pressed, m_last).normalized());
    }
    if (!m_before.isNull()) {
        painter.setOpacity(m_beforeShare);
        painter.drawPixmap(0, 0, m_before);
    }
}

void Canvas::resizeEvent(QResizeEvent *)
{
    m_minimap->place();
}

ItemIndex Canvas::itemAt(const QPointF &view) const
{
    return m_input.scene ? m_input.scene->itemAt(m_camera.toScene(view)) : kNoItem;
}

ItemIndex Canvas::portsAt(const QPointF &view) const
{
    return m_input.scene ? m_input.scene->portsAt(m_camera.toScene(view)) : kNoItem;
}

void Canvas::mousePressEvent(QMouseEvent *event)
{
    m_pressed = m_last = event->position();
    m_pressedItem = itemAt(m_pressed);
    if (event->button() == Qt::MiddleButton) {
        m_gesture = Gesture::Panning;
        setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        const bool isOnItem = m_pressedItem != kNoItem && !m_input.scene->items()[m_pressedItem].isFrame;
        const bool isBand
            = !isOnItem && (event->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier)) != 0;
        m_bandAdds = (event->modifiers() & Qt::ControlModifier) != 0;
        m_gesture = isBand ? Gesture::Band : Gesture::Pressed;
    }
    event->accept();
}

void Canvas::mouseMoveEvent(QMouseEvent *event)
{
    const QPointF here = event->position();
    if (m_gesture == Gesture::None) {
        Q_EMIT itemHovered(itemAt(here));
        portsAt(here) == kNoItem ? unsetCursor() : setCursor(Qt::PointingHandCursor);
        return;
    }
    const bool isDrag = (here - m_pressed).manhattanLength() >= QApplication::startDragDistance();
    if (m_gesture == Gesture::Pressed && isDrag) {
        if (m_pressedItem != kNoItem && !m_input.scene->items()[m_pressedItem].isFrame) {
            m_gesture = Gesture::None;
            Q_EMIT dragWanted(m_pressedItem);
            return;
        }
        m_gesture = Gesture::Panning;
        setCursor(Qt::ClosedHandCursor);
    }
    if (m_gesture == Gesture::Panning) {
        Camera camera = m_camera;
        camera.origin -= (here - m_last) / camera.scale;
        m_last = here;
        moveCamera(camera);
    } else if (m_gesture == Gesture::Band) {
        m_last = here;
        update();
    }
}

void Canvas::mouseReleaseEvent(QMouseEvent *event)
{
    const Gesture gesture = std::exchange(m_gesture, Gesture::None);
    unsetCursor();
    if (gesture == Gesture::Band) {
        Q_EMIT bandSelected(m_camera.toScene(QRectF(m_pressed, event->position()).normalized()), m_bandAdds);
        update();
    } else if (gesture == Gesture::Pressed && event->button() == Qt::LeftButton) {
        // The ground of a frame is ground; its title stands for what is in it.
        const bool isGround = m_pressedItem == kNoItem
            || (m_input.scene->items()[m_pressedItem].isFrame
                && m_camera.toScene(m_pressed).y()
                    > m_input.scene->items()[m_pressedItem].rect.top() + kTitle);
        if (const ItemIndex reader = portsAt(m_pressed); reader != kNoItem)
            Q_EMIT portsClicked(reader, event->globalPosition().toPoint());
        else if (!isGround)
            Q_EMIT itemClicked(m_pressedItem, event->modifiers());
        else
            Q_EMIT groundClicked();
    }
}

void Canvas::mouseDoubleClickEvent(QMouseEvent *event)
{
    const ItemIndex item = itemAt(event->position());
    if (event->button() == Qt::LeftButton && item != kNoItem)
        Q_EMIT itemDoubleClicked(item);
}

void Canvas::leaveEvent(QEvent *)
{
    Q_EMIT itemHovered(kNoItem);
}

void Canvas::wheelEvent(QWheelEvent *event)
{
    Camera camera = m_camera;
    const QPoint pixels = event->pixelDelta();
    const QPointF angle = event->angleDelta();
    if ((event->modifiers() & Qt::ControlModifier) != 0) {
        camera.zoomAt(event->position(), camera.scale * std::pow(kZoomStep, angle.y() / 120));
    } else {
        QPointF step = pixels.isNull() ? angle * 0.75 : QPointF(pixels);
        if ((event->modifiers() & Qt::ShiftModifier) != 0)
            step = {step.y(), step.x()};
        camera.origin -= step / camera.scale;
    }
    moveCamera(camera);
    event->accept();
}

void Canvas::keyPressEvent(QKeyEvent *event)
{
    Q_EMIT keyWanted(event->key(), event->modifiers() & ~Qt::KeypadModifier);
}

void Canvas::contextMenuEvent(QContextMenuEvent *event)
{
    const bool isKey = event->reason() == QContextMenuEvent::Keyboard;
    Q_EMIT menuWanted(event->globalPos(), isKey ? kNoItem : itemAt(event->pos()));
}

void Canvas::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange
        || event->type() == QEvent::StyleChange) {
        m_painter.reset();
        m_minimap->refresh();
        redraw();
    }
    QWidget::changeEvent(event);
}

bool Canvas::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const ItemIndex item = itemAt(help->pos());
        if (item != kNoItem && m_input.looks)
            QToolTip::showText(help->globalPos(),
                               tipOf(m_input.scene->items()[item], m_input.looks->items[item],
                                     m_input.colourBy, m_input.scene->pathOf(item)),
                               this);
        else
            QToolTip::hideText();
        return true;
    }
    if (event->type() == QEvent::NativeGesture) {
        const auto *gesture = static_cast<QNativeGestureEvent *>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            Camera camera = m_camera;
            camera.zoomAt(gesture->position(), camera.scale * (1 + gesture->value()));
            moveCamera(camera);
            return true;
        }
    }
    return QWidget::event(event);
}

} // namespace halftone::widgets

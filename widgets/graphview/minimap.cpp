#include "widgets/graphview/minimap.h"

#include "widgets/graphview/canvas.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kMapMargin = 12;
constexpr int kFoot = 32; ///< where the legend lies
constexpr double kFaint = 0.3;
constexpr int kMapPadding = 5;

} // namespace

Minimap::Minimap(Canvas *canvas)
    : QWidget(canvas)
    , m_canvas(canvas)
{
    setAccessibleName(tr("Overview of the graph"));
    setCursor(Qt::PointingHandCursor);
    setAttribute(Qt::WA_Hover); // painted anew when the mouse comes and goes
    hide();
}

void Minimap::refresh()
{
    m_picture = {};
    place();
}

void Minimap::place()
{
    const Scene *const scene = m_canvas->input().scene.get();
    if (!scene || scene->size().isEmpty()) {
        hide();
        return;
    }
    const int line = fontMetrics().height();
    const double most = std::clamp(m_canvas->height() * 0.45, 4.0 * line, 18.0 * line);
    const double aspect = scene->size().width() / scene->size().height();
    const double height = aspect < 1 ? most : std::max(3.0 * line, most / aspect);
    const double width = std::clamp(height * aspect, 4.0 * line, 0.8 * most);
    const QSize size(static_cast<int>(width) + 2 * kMapPadding, static_cast<int>(height) + 2 * kMapPadding);
    if (size != this->size())
        m_picture = {};
    resize(size);
    move(placeIn(Qt::BottomRightCorner));
    follow();
}

QPoint Minimap::placeIn(Qt::Corner corner) const
{
    const bool isLeft = corner == Qt::BottomLeftCorner || corner == Qt::TopLeftCorner;
    const bool isTop = corner == Qt::TopLeftCorner || corner == Qt::TopRightCorner;
    return {isLeft ? kMapMargin : m_canvas->width() - width() - kMapMargin,
            isTop ? kMapMargin : m_canvas->height() - height() - kFoot};
}

bool Minimap::findsFreePlace()
{
    if (m_isHeld || !liesOverNodes())
        return true;
    for (const Qt::Corner corner : {Qt::BottomRightCorner, Qt::BottomLeftCorner, Qt::TopRightCorner}) {
        move(placeIn(corner));
        if (!liesOverNodes())
            return true;
    }
    return false;
}

void Minimap::follow()
{
    const Scene *const scene = m_canvas->input().scene.get();
    if (!scene)
        return;
    const QRectF seen = m_canvas->camera().toScene(QRectF(m_canvas->rect()));
    const bool isWanted = !m_isRetired && !seen.contains(QRectF(QPointF(), scene->size()));
    setVisible(isWanted && (!m_avoidsNodes || findsFreePlace()));
    m_coversNodes = isVisibleTo(m_canvas) && liesOverNodes();
    update();
}

void Minimap::retire()
{
    m_isRetired = true;
    hide();
}

void Minimap::setAvoidsNodes(bool avoids)
{
    m_avoidsNodes = avoids;
    place();
}

bool Minimap::liesOverNodes() const
{
    const Scene &scene = *m_canvas->input().scene;
    const QRectF under = m_canvas->camera().toScene(QRectF(geometry()));
    std::vector<ItemIndex> found;
    scene.itemsIn(under, found);
    return std::ranges::any_of(found, [&](ItemIndex k) {
        return !scene.items()[k].isFrame && scene.items()[k].rect.intersects(under);
    });
}

QRectF Minimap::inner() const
{
    return QRectF(rect()).adjusted(kMapPadding, kMapPadding, -kMapPadding, -kMapPadding);
}

QPointF Minimap::toScene(const QPointF &map) const
{
    const QSizeF size = m_canvas->input().scene->size();
    return {(map.x() - inner().left()) / inner().width() * size.width(),
            (map.y() - inner().top()) / inner().height() * size.height()};
}

void Minimap::render()
{
    m_picture = QPixmap(size() * devicePixelRatioF());
    m_picture.setDevicePixelRatio(devicePixelRatioF());
    const PaintInput &input = m_canvas->input();
    const Tones tones(palette());
    QPainter painter(&m_picture);
    painter.fillRect(rect(), tones.frame(1));
    const QRectF field = inner();
    const double x = field.width() / input.scene->size().width();
    const double y = field.height() / input.scene->size().height();
    for (ItemIndex k = 0; k < input.scene->items().size(); ++k) {
        const SceneItem &item = input.scene->items()[k];
        const ItemLook &look = input.looks->items[k];
        if (item.isFrame)
            continue;
        const QRectF box(field.left() + item.rect.left() * x, field.top() + item.rect.top() * y,
                         std::max(1.5, item.rect.width() * x), std::max(1.0, item.rect.height() * y));
        const Tone &tone = tones.of(look);
        QColor colour = tone.isOutlined || item.isVariable ? tone.border : tone.band;
        if (input.colourBy != ColourBy::Precision)
            colour = look.share < 0 ? tones.frame(4) : tones.scale(look.share);
        if (item.ref.isBlock && input.colourBy == ColourBy::Precision) {
            double total = 0;
            for (const std::uint32_t count : look.mix)
                total += count;
            double left = box.left();
            for (std::size_t m = 0; m < look.mix.size() && total > 0; ++m) {
                const double width = box.width() * look.mix[m] / total;
                painter.fillRect(QRectF(left, box.top(), width, box.height()), tones.of(kMixTypes[m]).band);
                left += width;
            }
        } else {
            painter.fillRect(box, colour);
        }
    }
}

void Minimap::paintEvent(QPaintEvent *)
{
    const Scene *const scene = m_canvas->input().scene.get();
    if (!scene || !m_canvas->input().looks)
        return;
    if (m_picture.isNull())
        render();
    QPainter painter(this);
    painter.setOpacity(m_coversNodes && !underMouse() ? kFaint : 1);
    painter.drawPixmap(0, 0, m_picture);
    const QRectF seen = m_canvas->camera().toScene(QRectF(m_canvas->rect()));
    const QRectF field = inner();
    const double x = field.width() / scene->size().width();
    const double y = field.height() / scene->size().height();
    QRectF frame(field.left() + seen.left() * x, field.top() + seen.top() * y, seen.width() * x,
                 seen.height() * y);
    frame = frame.intersected(QRectF(rect()).adjusted(1, 1, -1, -1));
    if (frame.height() < 4)
        frame.adjust(0, -2, 0, 2);
    QColor accent = palette().color(QPalette::Highlight);
    painter.setPen(QPen(accent, 1.5));
    accent.setAlpha(36);
    painter.setBrush(accent);
    painter.drawRect(frame);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Mid), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

void Minimap::mousePressEvent(QMouseEvent *event)
{
    m_isHeld = true;
    if (event->button() == Qt::LeftButton && m_canvas->input().scene)
        Q_EMIT placeWanted(toScene(event->position()));
}

void Minimap::mouseReleaseEvent(QMouseEvent *event)
{
    m_isHeld = event->buttons() != Qt::NoButton;
    follow();
}

void Minimap::mouseMoveEvent(QMouseEvent *event)
{
    if ((event->buttons() & Qt::LeftButton) != 0 && m_canvas->input().scene)
        Q_EMIT placeWanted(toScene(event->position()));
}

} // namespace halftone::widgets

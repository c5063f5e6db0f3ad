#include "widgets/graphview/scene_painter.h"
#include "widgets/graphview/title_place.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

/// Frames around open blocks, and their titles.
namespace halftone::widgets {
namespace {

constexpr std::size_t kMostAbove = 8; ///< titles, one below the other

} // namespace

std::vector<ScenePainter::TitleAbove> ScenePainter::titlesAbove(const QRectF &area, const Camera &camera,
                                                                const PaintInput &input)
{
    m_camera = camera;
    m_titles.clear();
    m_frameTitles.clear();
    if (!isReadable(1))
        return {};
    takeLabels(input);
    see(area, *input.scene);
    QFont bold = scaledFont(1);
    bold.setBold(true);
    const QFontMetricsF metrics(bold);
    const double high = metrics.height() + 6;
    std::vector<QRectF> taken;
    for (const ItemIndex index : m_items) {
        const SceneItem &item = input.scene->items()[index];
        const QRectF rect = m_camera.toView(item.rect);
        if (!item.isFrame)
            taken.push_back(rect);
        else if (rect.top() > area.top() - high && rect.top() < area.top() + kMostAbove * high)
            placeFrameTitle(input, index, rect);
    }
    taken.insert(taken.end(), m_titles.begin(), m_titles.end());
    std::vector<TitleAbove> titles;
    double y = area.top();
    for (const ItemIndex index : m_items) {
        const SceneItem &item = input.scene->items()[index];
        const QRectF rect = m_camera.toView(item.rect);
        if (!item.isFrame || rect.top() + metrics.height() > y || rect.bottom() < y + 3 * metrics.height())
            continue;
        const double room = std::min(rect.right(), area.right()) - std::max(rect.left(), area.left()) - 16;
        const QString title = titleWithin(item.name, room, metrics);
        const QRectF inside = rect.intersected(area);
        const auto pill = placeOfTitle({inside.left(), y, inside.width(), high},
                                       {metrics.horizontalAdvance(title) + 16, high}, taken);
        if (!pill)
            continue; // what is there tells more
        titles.push_back({index, title, *pill});
        y = pill->bottom();
        if (titles.size() == kMostAbove)
            break;
    }
    return titles;
}

void ScenePainter::paintTitlesAbove(QPainter &painter, const QRectF &area, const Camera &camera,
                                    const PaintInput &input)
{
    const std::vector<TitleAbove> titles = titlesAbove(area, camera, input);
    if (titles.empty())
        return;
    QFont bold = scaledFont(1);
    bold.setBold(true);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(bold);
    for (const TitleAbove &title : titles) {
        QColor ground = m_tones.frame(input.scene->items()[title.item].depth);
        ground.setAlpha(235);
        painter.setPen(Qt::NoPen);
        painter.setBrush(ground);
        painter.drawRoundedRect(title.place, 3, 3);
        painter.setPen(m_tones.text());
        painter.drawText(title.place, Qt::AlignCenter, title.text);
    }
}

void ScenePainter::paintFrames(QPainter &painter, const PaintInput &input)
{
    const bool hasText = isReadable(1);
    m_titles.clear();
    m_frameTitles.clear();
    for (const ItemIndex index : m_items) {
        const SceneItem &item = input.scene->items()[index];
        if (!item.isFrame)
            continue;
        const QRectF rect = m_camera.toView(item.rect);
        const bool isFaded = input.emphasis->isFaded(index);
        if (m_isPlain) {
            painter.fillRect(rect, m_tones.frame(item.depth));
            continue;
        }
        const QColor border = blended(m_tones.ground(), m_tones.text(), 0.28);
        paintFrame(painter, rect, m_tones.frame(item.depth), isFaded ? m_tones.faded(border) : border);
        if (hasText)
            placeFrameTitle(input, index, rect);
        if (input.emphasis->isFound(index))
            paintRings(painter, input, index, rect);
    }
}

/// A ground of whole pixels, which takes a fraction of the time of a smooth one, within a smooth border.
void ScenePainter::paintFrame(QPainter &painter, const QRectF &rect, const QColor &ground,
                              const QColor &border) const
{
    const double radius = 5 * std::min(1.0, m_camera.scale);
    const QRect whole(rect.topLeft().toPoint(), rect.bottomRight().toPoint() - QPoint(1, 1));
    const int corner = std::min(static_cast<int>(std::lround(0.3 * radius)), whole.height() / 2);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.fillRect(whole.adjusted(0, corner, 0, -corner), ground);
    painter.fillRect(QRect(whole.left() + corner, whole.top(), whole.width() - 2 * corner, corner), ground);
    painter.fillRect(
        QRect(whole.left() + corner, whole.bottom() + 1 - corner, whole.width() - 2 * corner, corner),
        ground);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(border, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(rect, radius, radius);
}

/// Beside the lines that lead into the frame, as long as there is room.
void ScenePainter::placeFrameTitle(const PaintInput &input, ItemIndex index, const QRectF &rect)
{
    const SceneItem &item = input.scene->items()[index];
    const double line = m_pixels * m_camera.scale;
    QFont bold = scaledFont(1);
    bold.setBold(true);
    const qreal room = rect.width() - 1.4 * line;
    const qreal count = advanceOf(index, 3, item.detail, scaledFont(kDetailShare)) + 2;
    const qreal most = room - count - 3 * line;
    const QString mark = QChar(0x25be) + QStringLiteral(" ");
    FrameTitle title{index, mark + item.name, rect.top() + 1.1 * line, {}};
    qreal width = advanceOf(index, 2, title.text, bold);
    if (width > most) {
        const QFontMetricsF metrics(bold);
        title.text = mark + titleWithin(item.name, most, metrics);
        width = metrics.horizontalAdvance(title.text);
    }
    const QRectF row(rect.left() + 0.7 * line, title.y - 0.7 * line, room, 1.4 * line);
    std::vector<layout::Span> crossed = input.scene->linesThrough(m_camera.toScene(row));
    for (layout::Span &span : crossed)
        span = {m_camera.toView(QPointF(span.from, 0)).x(), m_camera.toView(QPointF(span.to, 0)).x()};
    title.places
        = layout::placeTitle({row.left(), row.right()}, std::move(crossed), width + 2, count, 0.6 * line);
    for (const layout::Span &span : {title.places.title, title.places.detail})
        m_titles.emplace_back(span.from, row.top(), span.width(), row.height());
    m_frameTitles.push_back(std::move(title));
}

/// Over the lines: one that no text could keep clear of ends before the text and goes on behind it.
void ScenePainter::paintFrameTitles(QPainter &painter, const PaintInput &input)
{
    const double line = m_pixels * m_camera.scale;
    QFont bold = scaledFont(1);
    bold.setBold(true);
    for (const FrameTitle &title : m_frameTitles) {
        const SceneItem &item = input.scene->items()[title.item];
        const bool isFaded = input.emphasis->isFaded(title.item);
        const layout::Span &name = title.places.title;
        const layout::Span &detail = title.places.detail;
        const auto clear = [&](const layout::Span &span) {
            painter.fillRect(
                QRectF(span.from - 0.2 * line, title.y - 0.7 * line, span.width() + 0.4 * line, 1.4 * line),
                m_tones.frame(item.depth));
        };
        if (title.places.isTitleCrossed)
            clear(name);
        if (title.places.isDetailCrossed)
            clear(detail);
        painter.setPen(isFaded ? m_tones.faded(m_tones.text()) : m_tones.text());
        drawLabel(painter, title.item, 0, title.text, bold, {name.from, title.y}, name.width());
        painter.setPen(isFaded ? m_tones.faded(m_tones.secondText()) : m_tones.secondText());
        drawLabel(painter, title.item, 1, item.detail, scaledFont(kDetailShare), {detail.from, title.y},
                  detail.width());
    }
}

} // namespace halftone::widgets

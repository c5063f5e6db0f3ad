#include "widgets/common/formatters.h"
#include "widgets/common/short_names.h"
#include "widgets/graphview/scene_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>

/// Edges, the casts on them, and what they carry.
namespace halftone::widgets {
namespace {

constexpr double kDiamond = 10;

/// From the middle of a cast's mark to its corners.
double halfDiamond(double scale)
{
    return kDiamond / 2 * std::clamp(scale, 0.5, 1.4);
}

/// All but perhaps the number of examples is known.
bool isTelling(const tensor::Shape &shape)
{
    if (!shape.hasRank())
        return false;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
        if (shape[axis] < 0)
            return false;
    }
    return shape.rank() > 1 || shape.isComplete();
}

} // namespace

QPointF alongLine(const QPolygonF &line, double share)
{
    double length = 0;
    for (qsizetype k = 1; k < line.size(); ++k)
        length += QLineF(line[k - 1], line[k]).length();
    double left = length * share;
    for (qsizetype k = 1; k < line.size(); ++k) {
        const QLineF part(line[k - 1], line[k]);
        if (part.length() >= left && part.length() > 0)
            return part.pointAt(left / part.length());
        left -= part.length();
    }
    return line.isEmpty() ? QPointF() : line.back();
}

QString edgeText(const PaintInput &input, const SceneEdge &edge)
{
    if (!input.snapshot || edge.wires.empty())
        return {};
    const layout::Wire &wire = edge.wires.front();
    const tensor::DType type = typeOnWire(*input.snapshot, wire, input.converted);
    QString text = type == tensor::DType::Unknown ? QString() : shortType(type);
    if (input.snapshot->shapes && isTelling(input.snapshot->shapes->of(wire.from)))
        text += (text.isEmpty() ? QString() : QStringLiteral(" "))
            + shapeText(input.snapshot->shapes->of(wire.from));
    const auto others = std::ranges::count_if(
        edge.wires, [&](const layout::Wire &other) { return other.from != wire.from; });
    if (others > 0) // further tensors go the same way
        text += QStringLiteral(" +%1").arg(others);
    return text;
}

void ScenePainter::paintFarEdges(QPainter &painter, const PaintInput &input)
{
    // Single lines without joins, all in two calls: what is a pixel long does not show.
    std::vector<QLineF> plain;
    std::vector<QLineF> onPath;
    for (const std::uint32_t index : m_edges) {
        const SceneEdge &edge = input.scene->edges()[index];
        if (edge.line.size() < 2 || edge.bounds.height() * m_camera.scale < 1.5)
            continue;
        std::vector<QLineF> &lines = input.emphasis->isEdgeOnPath(index) ? onPath : plain;
        for (qsizetype k = 1; k < edge.line.size(); ++k)
            lines.emplace_back(m_camera.toView(edge.line[k - 1]), m_camera.toView(edge.line[k]));
    }
    const bool isFaded = !input.emphasis->edgeOnPath.empty();
    painter.setPen(QPen(isFaded ? m_tones.faded(m_tones.line()) : m_tones.line(), 0));
    painter.drawLines(plain.data(), static_cast<int>(plain.size()));
    painter.setPen(QPen(m_tones.text(), 0));
    painter.drawLines(onPath.data(), static_cast<int>(onPath.size()));
}

/// Many lines of one colour are one path: painted one by one, each would cost as much as a box. Not flat ones: what paints paths takes time
/// that grows with the square of how many pixels of a row they cross.
void ScenePainter::paintEdges(QPainter &painter, const PaintInput &input)
{
    constexpr std::size_t kLinesAPath = 64;
    constexpr double kFlat = 4; ///< width against height
    const double head = 6 * std::min(1.0, m_camera.scale);
    std::array<std::vector<std::uint32_t>, 3> layers; // those on top last
    for (const std::uint32_t index : m_edges)
        layers[input.emphasis->isEdgeOnPath(index)      ? 2
                   : input.emphasis->isEdgeFaded(index) ? 0
                                                        : 1]
            .push_back(index);
    const std::array colours{m_tones.faded(m_tones.line()), m_tones.line(), m_tones.text()};
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const QPen pen(colours[layer], layer == 2 ? 1.6 : 1.1);
        for (std::size_t begin = 0; begin < layers[layer].size(); begin += kLinesAPath) {
            QPainterPath lines;
            std::vector<QLineF> flat;
            QPainterPath heads;
            heads.setFillRule(Qt::WindingFill);
            const std::size_t end = std::min(begin + kLinesAPath, layers[layer].size());
            for (std::size_t k = begin; k < end; ++k) {
                const QPolygonF &line = input.scene->edges()[layers[layer][k]].line;
                if (line.size() < 2)
                    continue;
                const QRectF &bounds = input.scene->edges()[layers[layer][k]].bounds;
                const bool isFlat = bounds.width() > kFlat * bounds.height();
                if (!isFlat)
                    lines.moveTo(m_camera.toView(line.front()));
                for (qsizetype point = 1; point < line.size(); ++point) {
                    if (isFlat)
                        flat.emplace_back(m_camera.toView(line[point - 1]), m_camera.toView(line[point]));
                    else
                        lines.lineTo(m_camera.toView(line[point]));
                }
                const QPointF tip = m_camera.toView(line.back());
                heads.addPolygon(
                    QPolygonF{tip, tip + QPointF(-head / 2, -head), tip + QPointF(head / 2, -head)});
                heads.closeSubpath();
            }
            painter.strokePath(lines, pen);
            painter.setPen(pen);
            painter.drawLines(flat.data(), static_cast<int>(flat.size()));
            if (m_camera.scale >= 0.4)
                painter.fillPath(heads, colours[layer]);
        }
    }
}

void ScenePainter::diamond(QPainter &painter, const QPointF &centre, const Tone &tone, bool isHollow,
                           bool isFaded)
{
    const double half = halfDiamond(m_camera.scale);
    const QPointF corners[] = {centre + QPointF(0, -half), centre + QPointF(half, 0),
                               centre + QPointF(0, half), centre + QPointF(-half, 0)};
    const QColor fill = isFaded ? m_tones.faded(tone.band) : tone.band;
    painter.setPen(QPen(isHollow ? fill : m_tones.ground(), 1.6));
    painter.setBrush(isHollow ? m_tones.ground() : fill);
    painter.drawPolygon(corners, 4);
}

void ScenePainter::paintCasts(QPainter &painter, const PaintInput &input)
{
    for (const std::uint32_t index : m_edges) {
        const CastMark &mark = input.looks->casts[index];
        if (mark.count == 0)
            continue;
        const SceneEdge &edge = input.scene->edges()[index];
        const QPointF centre = m_camera.toView(alongLine(edge.line, 0.5));
        const bool isFaded = input.emphasis->isEdgeFaded(index);
        diamond(painter, centre, m_tones.of(mark.type), mark.isShared, isFaded);
        if (mark.count > 1 && isReadable(kDetailShare)) {
            painter.setFont(scaledFont(kDetailShare));
            painter.setPen(isFaded ? m_tones.faded(m_tones.text()) : m_tones.text());
            painter.drawText(centre + QPointF(kDiamond * 0.8, 4) * m_camera.scale,
                             QString::number(mark.count));
        }
    }
}

/// Where a value becomes codes and reals again: its text on the line, as far as it can be read, else a square.
void ScenePainter::paintPairs(QPainter &painter, const PaintInput &input)
{
    const Tone &tone = m_tones.of(tensor::DType::I8);
    const bool hasText = isReadable(kDetailShare);
    const QFont font = scaledFont(kDetailShare * 0.92);
    const QFontMetricsF metrics(font);
    for (const std::uint32_t index : m_edges) {
        const SceneEdge &edge = input.scene->edges()[index];
        if (edge.badge.isEmpty())
            continue;
        const bool isCast = input.converted && input.looks->casts[index].count > 0; // has the middle
        const QPointF centre = m_camera.toView(alongLine(edge.line, isCast ? 0.25 : 0.5));
        const bool isFaded = input.emphasis->isEdgeFaded(index);
        const QColor colour = isFaded ? m_tones.faded(tone.band) : tone.band;
        if (!hasText) {
            const double half = halfDiamond(m_camera.scale) * 0.8;
            painter.fillRect(QRectF(centre - QPointF(half, half), centre + QPointF(half, half)), colour);
            continue;
        }
        const double pad = 3 * m_camera.scale;
        QRectF box(QPointF(), QSizeF(metrics.horizontalAdvance(edge.badge) + 2 * pad, metrics.height()));
        box.moveCenter(centre);
        painter.setPen(QPen(colour, 1));
        painter.setBrush(m_tones.ground());
        painter.drawRoundedRect(box, pad, pad);
        painter.setFont(font);
        painter.setPen(isFaded ? m_tones.faded(m_tones.text()) : m_tones.text());
        painter.drawText(box, Qt::AlignCenter | Qt::TextDontClip, edge.badge);
        m_titles.push_back(box);
    }
}

/// What items read without an edge: its name above the left half of the box, which lines leave free, with a short line into it; below
/// the box that gives it likewise.
void ScenePainter::paintPorts(QPainter &painter, const PaintInput &input)
{
    const bool hasText = isReadable(kDetailShare);
    const QFont font = scaledFont(kDetailShare * 0.92);
    const QFontMetricsF metrics(font);
    const double scale = m_camera.scale;
    const double stub = 4 * scale;
    const auto paintOne = [&](const QRectF &rect, const QString &names, bool isAbove, bool isFaded) {
        const QColor colour = isFaded ? m_tones.faded(m_tones.line()) : m_tones.line();
        const QPointF end(rect.left() + 12 * scale, isAbove ? rect.top() : rect.bottom());
        const QPointF begin = end + QPointF(0, isAbove ? -stub : stub);
        painter.setPen(QPen(colour, 1.1));
        painter.drawLine(begin, end);
        if (!hasText)
            return;
        const double pad = 3 * scale;
        const QString text = cutInMiddle(names, rect.width() / 2 - 20 * scale, metrics);
        QRectF box(QPointF(rect.left() + 4 * scale, 0),
                   QSizeF(metrics.horizontalAdvance(text) + 2 * pad, metrics.height() * 0.9));
        isAbove ? box.moveBottom(begin.y()) : box.moveTop(begin.y());
        painter.setBrush(m_tones.ground());
        painter.drawRoundedRect(box, pad, pad);
        painter.setFont(font);
        painter.setPen(isFaded ? m_tones.faded(m_tones.secondText()) : m_tones.secondText());
        painter.drawText(box, Qt::AlignCenter | Qt::TextDontClip, text);
        m_titles.push_back(box);
    };
    for (const ItemIndex index : m_items) {
        const SceneItem &item = input.scene->items()[index];
        if (item.isFrame || (item.reads.isEmpty() && item.gives.isEmpty()))
            continue;
        const bool isFaded = input.emphasis->isFaded(index);
        if (!item.reads.isEmpty())
            paintOne(m_camera.toView(item.rect), item.reads, true, isFaded);
        if (!item.gives.isEmpty())
            paintOne(m_camera.toView(item.rect), item.gives, false, isFaded);
    }
}

/// The diamond and the number beside it, as paintCasts() draws them.
QRectF ScenePainter::castBox(const SceneEdge &edge, const CastMark &mark) const
{
    const double half = halfDiamond(m_camera.scale);
    const QPointF centre = m_camera.toView(alongLine(edge.line, 0.5));
    QRectF box(centre - QPointF(half, half), centre + QPointF(half, half));
    if (mark.count > 1 && isReadable(kDetailShare))
        box.setRight(
            centre.x() + kDiamond * 0.8 * m_camera.scale
            + QFontMetricsF(scaledFont(kDetailShare)).horizontalAdvance(QString::number(mark.count)));
    return box;
}

void ScenePainter::paintEdgeLabels(QPainter &painter, const PaintInput &input)
{
    if (!input.snapshot)
        return;
    const QFont font = scaledFont(kDetailShare * 0.92);
    painter.setFont(font);
    const QFontMetricsF metrics(font);
    std::vector<QRectF> written = m_titles;
    const auto isTaken = [&written](const QRectF &box) {
        return std::ranges::any_of(written, [&box](const QRectF &one) { return one.intersects(box); });
    };
    for (const std::uint32_t index : m_edges) {
        const SceneEdge &edge = input.scene->edges()[index];
        const QRectF bounds = m_camera.toView(edge.bounds);
        if (bounds.height() < 1.5 * metrics.height())
            continue;
        const QString text = edgeText(input, edge);
        if (text.isEmpty())
            continue;
        // Beside the line just above its end, where lines of one source have parted and frames have no title; on the left of a
        // line that comes from the right.
        const QPointF tip = m_camera.toView(edge.line.back());
        const qreal above = tip.y() - 0.3 * m_pixels * m_camera.scale - metrics.height();
        QRectF box(QPointF(tip.x() + 6 * m_camera.scale, above),
                   QSizeF(metrics.horizontalAdvance(text), metrics.height()));
        const auto before = std::find_if(edge.line.crbegin(), edge.line.crend(), [&](const QPointF &point) {
            return m_camera.toView(point).y() <= above;
        });
        if (before != edge.line.crend() && m_camera.toView(*before).x() > box.left())
            box.moveRight(tip.x() - 6 * m_camera.scale);
        // A mark of casts on a short line, with its count, has the place beside the line.
        if (const CastMark &mark = input.looks->casts[index]; mark.count > 0) {
            const QRectF taken = castBox(edge, mark);
            if (taken.intersects(box))
                box.moveLeft(taken.right() + 2 * m_camera.scale);
        }
        // Lines that meet would write over one another: the first one's text stays. A title on one side leaves the other.
        if (isTaken(box))
            box.moveLeft(2 * tip.x() - box.right());
        if (isTaken(box))
            continue;
        written.push_back(box);
        const bool isFaded = input.emphasis->isEdgeFaded(index);
        painter.setPen(isFaded ? m_tones.faded(m_tones.secondText()) : m_tones.secondText());
        painter.drawText(box, Qt::AlignVCenter | Qt::TextDontClip, text);
    }
}

} // namespace halftone::widgets

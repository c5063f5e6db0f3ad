#include "widgets/graphview/scene_painter.h"

#include "widgets/common/formatters.h"
#include "widgets/common/short_names.h"

#include <QFontInfo>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::widgets {
namespace {

constexpr double kSmallest = 6.5; ///< pixels of text that is still drawn
constexpr double kFar = 0.22; ///< scale below which items are plain fields
constexpr double kEdgeText = 0.75; ///< scale from which edges say what they carry: a first view's does
constexpr std::size_t kMany = 300; ///< items from which on fields without text are plain ones
constexpr std::size_t kManyWithText = 120; ///< items that are drawn with all their texts in a frame's time
constexpr double kReach = 20; ///< in the scene: that an item may be drawn beside its rectangle
constexpr double kLabelReach = 160; ///< pixels between edges whose labels may be in each other's way

} // namespace
QString figureText(ColourBy colourBy, double value)
{
    switch (colourBy) {
    case ColourBy::Error:
        return std::isfinite(value) || value > 0 ? decibels(value) + QStringLiteral(" dB") : decibels(value);
    case ColourBy::Latency:
        return microseconds(value) + QStringLiteral(" µs");
    case ColourBy::Overflow:
        return QStringLiteral("≤ ") + significant(value);
    case ColourBy::Asked:
        return value == 0 ? QObject::tr("as requested")
            : value == 1  ? QObject::tr("not as requested")
                          : QObject::tr("%1 not as requested").arg(value);
    case ColourBy::Precision:
    case ColourBy::RanIn:
        break;
    }
    return {};
}

QString badgeText(const ItemLook &look, const Tone &tone)
{
    return look.asked == tensor::DType::Unknown
        ? tone.badge
        : shortType(look.asked) + QChar(0x2192) + shortType(look.ranIn);
}

ScenePainter::ScenePainter(const QPalette &palette, const QFont &font)
    : m_tones(palette)
    , m_font(font)
    , m_pixels(QFontInfo(font).pixelSize())
{
}

QFont ScenePainter::scaledFont(double share) const
{
    QFont font = m_font;
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(m_pixels * share * m_camera.scale))));
    return font;
}

bool ScenePainter::isReadable(double share) const
{
    return m_pixels * share * m_camera.scale >= kSmallest;
}

std::uint64_t ScenePainter::keyOf(ItemIndex item, int part) const
{
    return static_cast<std::uint64_t>(m_labelPixels) << 40 | std::uint64_t{item} << 3
        | static_cast<std::uint64_t>(part);
}

qreal ScenePainter::advanceOf(ItemIndex item, int part, const QString &text, const QFont &font)
{
    const auto [place, isNew] = m_advances.try_emplace(keyOf(item, part), 0);
    if (isNew)
        place->second = QFontMetricsF(font).horizontalAdvance(text);
    return place->second;
}

void ScenePainter::drawLabel(QPainter &painter, ItemIndex item, int part, const QString &text,
                             const QFont &font, const QPointF &where, qreal room)
{
    if (room < 8 || text.isEmpty())
        return;
    Label &label = m_labels[keyOf(item, part)];
    const bool isAsBefore = label.source == text
        && (std::abs(label.room - room) <= 0.5 || (label.whole > 0 && label.whole <= room));
    if (!isAsBefore) {
        if (m_labelsLeft == 0) {
            m_isComplete = false;
            return;
        }
        --m_labelsLeft;
        label.source = text;
        label.room = room;
        label.text.setTextFormat(Qt::PlainText);
        label.text.setPerformanceHint(QStaticText::AggressiveCaching);
        const QFontMetricsF metrics(font);
        const QString shown
            = part == 0 ? titleWithin(text, room, metrics) : metrics.elidedText(text, Qt::ElideRight, room);
        label.whole = shown == text ? metrics.horizontalAdvance(text) : 0;
        label.text.setText(shown);
        label.text.prepare(QTransform(), font);
    }
    painter.setFont(font);
    painter.drawStaticText(QPointF(where.x(), where.y() - label.text.size().height() / 2), label.text);
}

void ScenePainter::see(const QRectF &part, const Scene &scene)
{
    const double reach
        = m_camera.scale >= kEdgeText ? std::max(kReach, kLabelReach / m_camera.scale) : kReach;
    const QRectF seen = m_camera.toScene(part);
    scene.itemsIn(seen.adjusted(-kReach, -kReach, kReach, kReach), m_items);
    scene.edgesIn(seen.adjusted(-reach, -reach, reach, reach), m_edges);
}

bool ScenePainter::isPlainIn(const QRectF &area, const Camera &camera, const Scene &scene)
{
    m_camera = camera;
    const bool hasText = isReadable(1);
    if (camera.scale < kFar || (hasText && !m_isZooming))
        return camera.scale < kFar;
    scene.itemsIn(camera.toScene(area).adjusted(-kReach, -kReach, kReach, kReach), m_items);
    return m_items.size() > (hasText ? kManyWithText : kMany);
}

/// Those laid out for the scene and the size of text, as far as there are such.
void ScenePainter::takeLabels(const PaintInput &input)
{
    m_labelPixels = scaledFont(1).pixelSize();
    if (m_labelled != input.scene || m_labels.size() > 20'000) {
        m_labels.clear();
        m_advances.clear();
        m_labelled = input.scene;
    }
}

void ScenePainter::paint(QPainter &painter, const QRectF &area, const QRectF &part, const Camera &camera,
                         const PaintInput &input, std::size_t mostLabels)
{
    m_camera = camera;
    m_labelsLeft = m_labelled == input.scene ? mostLabels : std::numeric_limits<std::size_t>::max();
    m_isComplete = true;
    takeLabels(input);
    m_isPlain = isPlainIn(area, camera, *input.scene);
    see(part, *input.scene);
    const bool isFar = camera.scale < kFar;
    // Patterns lie on the scene, so that they go on where a part that was drawn before ends.
    const QPointF begin = camera.toView(QPointF(0, 0));
    painter.setBrushOrigin(QPointF(std::round(begin.x()), std::round(begin.y())));
    painter.setRenderHint(QPainter::Antialiasing, !m_isPlain);
    paintFrames(painter, input);
    if (m_isPlain) {
        paintFarEdges(painter, input);
        const auto paintOne = isFar ? &ScenePainter::paintFarItem : &ScenePainter::paintPlainItem;
        for (const ItemIndex item : m_items)
            (this->*paintOne)(painter, input, item);
        return;
    }
    paintEdges(painter, input);
    paintFrameTitles(painter, input);
    for (const ItemIndex item : m_items) {
        if (!input.scene->items()[item].isFrame)
            paintItem(painter, input, item);
    }
    if (input.converted)
        paintCasts(painter, input);
    paintPairs(painter, input);
    paintPorts(painter, input);
    if (camera.scale >= kEdgeText)
        paintEdgeLabels(painter, input);
}

QColor ScenePainter::bodyOf(const PaintInput &input, const ItemLook &look, bool isFaded) const
{
    QColor body = m_tones.of(look).body;
    if (input.colourBy != ColourBy::Precision) {
        body = look.share < 0 ? m_tones.ground() : m_tones.scale(look.share);
        if (look.isStale)
            body = blended(m_tones.ground(), body, 0.35);
    }
    return isFaded ? m_tones.faded(body) : body;
}

void ScenePainter::paintMix(QPainter &painter, const QRectF &bar, const ItemLook &look, bool isFaded)
{
    double total = 0;
    for (const std::uint32_t count : look.mix)
        total += count;
    if (total == 0)
        return;
    double left = bar.left();
    for (std::size_t k = 0; k < look.mix.size(); ++k) {
        if (look.mix[k] == 0)
            continue;
        const Tone &tone = m_tones.of(kMixTypes[k]);
        const QRectF part(left, bar.top(), bar.width() * look.mix[k] / total, bar.height());
        const QColor fill = tone.isOutlined ? tone.border : tone.band;
        painter.fillRect(part, isFaded ? m_tones.faded(fill) : fill);
        if (tone.pattern != Qt::SolidPattern && bar.height() >= 5)
            painter.fillRect(part,
                             QBrush(blended(fill, m_tones.ground(), isFaded ? 0.7 : 0.45), tone.pattern));
        left += part.width();
    }
}

void ScenePainter::paintBadge(QPainter &painter, qreal middle, const ItemLook &look, bool isFaded,
                              qreal &right)
{
    const Tone &tone = m_tones.of(look);
    const QString text = badgeText(look, tone);
    const QFont font = scaledFont(kDetailShare * 0.92);
    const QFontMetricsF metrics(font);
    const qreal pad = 4 * m_camera.scale;
    const QSizeF size(metrics.horizontalAdvance(text) + 2 * pad, metrics.height() + pad / 2);
    const QRectF box(QPointF(right - size.width(), middle - size.height() / 2), size);
    const QColor fill = isFaded ? m_tones.faded(tone.band) : tone.band;
    painter.setFont(font);
    if (tone.isOutlined) {
        painter.setPen(QPen(fill, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box, pad, pad);
        painter.setPen(isFaded ? m_tones.faded(m_tones.secondText()) : m_tones.secondText());
    } else {
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(box, pad, pad);
        painter.setPen(readableOn(fill));
    }
    painter.drawText(box, Qt::AlignCenter, text);
    right = box.left() - pad;
}

QString ScenePainter::detailOf(const PaintInput &input, const SceneItem &item, const ItemLook &look) const
{
    QString text = item.detail;
    if (input.converted && look.castsInside > 0 && item.ref.isBlock)
        text += (look.castsInside == 1 ? QStringLiteral(" · %1 cast") : QStringLiteral(" · %1 casts"))
                    .arg(look.castsInside);
    if (input.converted && look.isStoredNarrow && !item.ref.isBlock)
        text += QStringLiteral(" · 16-bit weights");
    return text;
}

void ScenePainter::paintStub(QPainter &painter, const QRectF &rect, const ItemLook &look, bool isFaded)
{
    const double length = 14 * m_camera.scale;
    const QColor colour = isFaded ? m_tones.faded(m_tones.line()) : m_tones.line();
    const QPointF from(rect.center().x(), rect.bottom());
    painter.setPen(QPen(colour, 1.1));
    painter.drawLine(from, from + QPointF(0, length));
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawEllipse(from + QPointF(0, length), 3 * m_camera.scale, 3 * m_camera.scale);
    if (look.castsAtHeads > 0)
        diamond(painter, from + QPointF(0, length / 2), m_tones.of(tensor::DType::F32), false, isFaded);
}

void ScenePainter::paintWarning(QPainter &painter, const QPointF &centre)
{
    const double half = 7 * std::clamp(m_camera.scale, 0.6, 1.4);
    const QPointF corners[] = {centre + QPointF(0, -half), centre + QPointF(half, half * 0.75),
                               centre + QPointF(-half, half * 0.75)};
    painter.setPen(QPen(m_tones.ground(), 1));
    painter.setBrush(m_tones.isDark() ? m_tones.amber() : QColor(0xff, 0xb0, 0x00));
    painter.drawPolygon(corners, 3);
    painter.setPen(QPen(QColor(0x20, 0x18, 0x00), std::max(1.0, half / 4)));
    painter.drawLine(centre + QPointF(0, -half * 0.35), centre + QPointF(0, half * 0.2));
    painter.drawPoint(centre + QPointF(0, half * 0.52));
}

void ScenePainter::paintRings(QPainter &painter, const PaintInput &input, ItemIndex index, const QRectF &rect)
{
    constexpr double kGap = 2.5; ///< so that ground, on which it is seen, lies on both sides of a ring
    const double radius = 4 * std::min(1.0, m_camera.scale);
    painter.setBrush(Qt::NoBrush);
    if (input.emphasis->isFound(index)) {
        painter.setPen(QPen(m_tones.amber(), 2, Qt::DashLine));
        painter.drawRoundedRect(rect.adjusted(-5.5, -5.5, 5.5, 5.5), radius + 3, radius + 3);
    }
    if (input.emphasis->isSelected(index)) {
        painter.setPen(QPen(m_tones.accent(), 2));
        painter.drawRoundedRect(rect.adjusted(-kGap, -kGap, kGap, kGap), radius, radius);
    }
}

void ScenePainter::paintItem(QPainter &painter, const PaintInput &input, ItemIndex index)
{
    const SceneItem &item = input.scene->items()[index];
    const ItemLook &look = input.looks->items[index];
    const Tone &tone = m_tones.of(look);
    const bool isFaded = item.isFaint || input.emphasis->isFaded(index);
    const auto shown = [&](const QColor &colour) { return isFaded ? m_tones.faded(colour) : colour; };
    const QRectF rect = m_camera.toView(item.rect);
    const double scale = m_camera.scale;
    const double radius = item.isVariable ? rect.height() / 2 : 3 * std::min(1.0, scale);
    const bool isBlock = item.ref.isBlock;
    const bool isSmall = isBlock && item.isFaint;
    const bool isByPrecision = input.colourBy == ColourBy::Precision;
    const QColor body
        = isByPrecision && (isBlock || item.isVariable) ? m_tones.ground() : bodyOf(input, look, isFaded);
    const QColor border = shown(isBlock || item.isVariable ? m_tones.line() : tone.border);

    if (item.isHead)
        paintStub(painter, rect, look, isFaded);
    if (isBlock) { // a second sheet behind the first one
        painter.setPen(QPen(border, 1));
        painter.setBrush(m_tones.frame(0));
        painter.drawRoundedRect(rect.translated(3 * scale, 3 * scale), radius, radius);
    }
    painter.setPen(QPen(border, 1, look.follows ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(body);
    painter.drawRoundedRect(rect, radius, radius);

    double left = rect.left() + 8 * scale;
    if (!isBlock && !item.isVariable) {
        const QRectF band(rect.left() + 0.5, rect.top() + 0.5, 8 * scale, rect.height() - 1);
        if (!tone.isOutlined) {
            painter.fillRect(band, shown(tone.band));
            if (tone.pattern != Qt::SolidPattern)
                painter.fillRect(band,
                                 QBrush(blended(shown(tone.band), m_tones.ground(), 0.55), tone.pattern));
        }
        left = band.right() + 6 * scale;
    }
    const qreal end = rect.right() - 6 * scale;
    qreal right = end; // of the name
    const double line = m_pixels * scale;
    const QColor first = body == m_tones.ground() || isByPrecision ? m_tones.text() : readableOn(body);
    const QColor second
        = body == m_tones.ground() || isByPrecision ? m_tones.secondText() : m_tones.secondOn(body);
    double nameY = rect.center().y() - 0.62 * line;
    double detailY = rect.center().y() + 0.62 * line;
    if (isBlock && !isSmall) {
        nameY = rect.top() + 0.85 * line;
        detailY = rect.top() + 2 * line;
        paintMix(painter,
                 QRectF(rect.left() + 1, rect.bottom() - 0.75 * line, rect.width() - 2, 0.75 * line - 1),
                 look, isFaded);
    }
    if (item.isVariable || isSmall)
        nameY = rect.center().y();
    if (isReadable(kDetailShare) && !isBlock && (!item.isVariable || look.type != tensor::DType::Unknown)) {
        if (isByPrecision || look.share < 0) {
            paintBadge(painter, nameY, look, isFaded, right);
        } else {
            const QFont font = scaledFont(1);
            const QString figure = figureText(input.colourBy, look.value);
            const qreal width = QFontMetricsF(font).horizontalAdvance(figure);
            painter.setFont(font);
            painter.setPen(shown(look.isStale ? second : first));
            painter.drawText(QRectF(right - width, nameY - line, width, 2 * line),
                             Qt::AlignVCenter | Qt::TextDontClip, figure);
            right -= width + 6 * scale;
        }
    }
    if (isReadable(1)) {
        QFont font = scaledFont(1);
        font.setBold(isBlock && !isSmall);
        painter.setPen(item.isFaint ? m_tones.secondText() : shown(first));
        drawLabel(painter, index, 0, item.label, font, {left, nameY}, right - left);
    }
    if (isReadable(kDetailShare) && !item.isVariable && !isSmall) {
        const bool tellsWarning = look.warns && !isBlock;
        QString detail = tellsWarning ? QStringLiteral("overflows in ") + shortType(look.type)
                                      : detailOf(input, item, look);
        if (isBlock && !isByPrecision && look.share >= 0)
            detail += QStringLiteral(" · ") + figureText(input.colourBy, look.value);
        painter.setPen(shown(tellsWarning && isByPrecision ? m_tones.warningText() : second));
        drawLabel(painter, index, 1, detail, scaledFont(kDetailShare), {left, detailY}, end - left);
    }
    if (input.converted && look.castsInside > 0 && !isBlock)
        diamond(painter, {rect.left(), rect.bottom() - 6 * scale}, m_tones.of(look.type), false, isFaded);
    if (look.warns)
        paintWarning(painter, rect.topRight());
    paintRings(painter, input, index, rect);
}

} // namespace halftone::widgets

#include "widgets/graphview/legend.h"

#include "widgets/common/constant_nodes.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/scene_painter.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <set>

namespace halftone::widgets {
namespace {

constexpr int kLegendMargin = 4;
constexpr int kLegendPadding = 8;
constexpr int kLowCanvas = 20; ///< lines of text: names are left out below

QString typeName(tensor::DType type)
{
    if (type == tensor::DType::Unknown)
        return Legend::tr("other");
    const std::string_view name = tensor::nameOf(type);
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

/// As ScenePainter colours them: those on edges by what they cast to, others by their node, those of outputs as float32.
std::vector<tensor::DType> castTypesOf(const Scene &scene, const Looks &looks)
{
    std::set<tensor::DType> types;
    for (const CastMark &mark : looks.casts)
        if (mark.count > 0)
            types.insert(mark.type);
    for (ItemIndex k = 0; k < looks.items.size(); ++k) {
        const SceneItem &item = scene.items()[k];
        if (looks.items[k].castsAtHeads > 0)
            types.insert(tensor::DType::F32);
        if (looks.items[k].castsInside > 0 && !item.ref.isBlock)
            types.insert(looks.items[k].type);
    }
    return {types.begin(), types.end()};
}

QString scaleTitle(ColourBy colourBy, tensor::DType target)
{
    switch (colourBy) {
    case ColourBy::Error:
        return Legend::tr("SQNR against float32");
    case ColourBy::Latency:
        return Legend::tr("time of one node");
    case ColourBy::Asked:
        return Legend::tr("requested and resulting type");
    default:
        return Legend::tr("largest magnitude (limit of %1: %2)").arg(typeName(target), largestText(target));
    }
}

QString missing(ColourBy colourBy)
{
    switch (colourBy) {
    case ColourBy::Error:
        return Legend::tr("No errors yet: attach data (Ctrl+D).");
    case ColourBy::Latency:
        return Legend::tr("No times yet: turn on \u201clatency\u201d in the tool bar.");
    case ColourBy::Asked:
        return Legend::tr("No operator has a requested type.");
    case ColourBy::RanIn:
        return Legend::tr("No runtime has run the model: choose one as the backend and turn on "
                          "\u201clatency\u201d in the tool bar.");
    default:
        return Legend::tr("No ranges yet: attach data (Ctrl+D).");
    }
}

} // namespace

Legend::Legend(Canvas *canvas)
    : QWidget(canvas)
    , m_canvas(canvas)
{
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("Click to fold or unfold the legend"));
    setAccessibleName(tr("Legend of the graph's colours"));
    hide();
}

int Legend::lineHeight() const
{
    return fontMetrics().height() + 4;
}

QString Legend::castsText() const
{
    return m_casts == 1 ? tr("1 cast inserted") : tr("%1 casts inserted").arg(m_casts.value_or(0));
}

QString Legend::precisionsText() const
{
    QStringList parts;
    for (const Row &row : m_rows)
        parts << typeName(row.type) + ' ' + QString::number(row.count);
    if (m_casts)
        parts << castsText();
    return parts.join(QStringLiteral(" \u00b7 "));
}

void Legend::show(const Scene &scene, const Looks &looks, ColourBy colourBy,
                  const session::Snapshot *converted)
{
    m_colourBy = colourBy;
    m_casts = converted ? std::optional(converted->castCount()) : std::nullopt;
    m_castTypes = castTypesOf(scene, looks);
    m_isStale = std::ranges::any_of(looks.items,
                                    [](const ItemLook &look) { return look.isStale && look.share >= 0; });
    countOperators(scene, looks, converted);
    m_hasFigures = looks.hasFigures;
    m_low = looks.low;
    m_high = looks.high;
    m_target = looks.target;
    setAccessibleDescription(paintedBy(colourBy) == ColourBy::Precision ? precisionsText() : QString());
    place();
    setVisible(true);
    update();
}

/// Of a conversion all, as the status line does, whether they have boxes or not: pairs of quantization are told on edges. Where a runtime
/// ran them is known of what has a box.
void Legend::countOperators(const Scene &scene, const Looks &looks, const session::Snapshot *converted)
{
    std::array<std::size_t, kMixTypes.size()> counts{};
    if (converted && m_colourBy != ColourBy::RanIn) {
        for (const graph::NodeId node : computingNodes(converted->graph()))
            ++counts[mixIndex(converted->precisionOf(node))];
    } else {
        for (ItemIndex k = 0; k < looks.items.size(); ++k)
            for (std::size_t m = 0; m < counts.size(); ++m)
                counts[m] += scene.items()[k].isFrame ? 0 : looks.items[k].mix[m];
    }
    if (converted)
        for (const auto &[type, operators] : converted->operatorsInBodies())
            for (const auto &[op, count] : operators)
                counts[mixIndex(type)] += count;
    m_rows.clear();
    for (std::size_t m = 0; m < counts.size(); ++m) {
        if (counts[m] > 0)
            m_rows.push_back({kMixTypes[m], counts[m]});
    }
}

int Legend::partGap() const
{
    return lineHeight();
}

/// Places a text at `left`, and draws it where there is a painter. Its right end.
int Legend::putText(QPainter *painter, int left, const QString &text, const QColor &colour) const
{
    const int width = fontMetrics().horizontalAdvance(text);
    if (painter) {
        painter->setPen(colour);
        painter->drawText(QRect(left, 0, width + 1, height()), Qt::AlignVCenter, text);
    }
    return left + width;
}

int Legend::putBadge(QPainter *painter, int left, tensor::DType type, const Tones &tones) const
{
    const int line = lineHeight();
    const QRectF badge(left, (height() - line) / 2.0 + 2, 2.2 * line, line - 4);
    if (painter) {
        const Tone &tone = tones.of(type);
        painter->setPen(tone.isOutlined ? QPen(tone.band, 1) : QPen(Qt::NoPen));
        painter->setBrush(tone.isOutlined ? QBrush(Qt::NoBrush) : QBrush(tone.band));
        painter->drawRoundedRect(badge, 3, 3);
        const double edge = tone.pattern == Qt::SolidPattern ? 0 : 0.5 * line;
        if (edge > 0)
            painter->fillRect(QRectF(badge.left(), badge.top(), edge, badge.height()),
                              QBrush(blended(tone.band, tones.ground(), 0.55), tone.pattern));
        painter->setPen(tone.isOutlined ? tones.secondText() : readableOn(tone.band));
        painter->drawText(badge.adjusted(edge, 0, 0, 0), Qt::AlignCenter, tone.badge);
    }
    return static_cast<int>(badge.right());
}

int Legend::putDiamond(QPainter *painter, int left, const QColor &colour) const
{
    constexpr int kHalf = 5;
    if (painter) {
        const QPointF centre(left + kHalf, height() / 2.0);
        const QPointF corners[] = {centre + QPointF(0, -kHalf), centre + QPointF(kHalf, 0),
                                   centre + QPointF(0, kHalf), centre + QPointF(-kHalf, 0)};
        painter->setPen(Qt::NoPen);
        painter->setBrush(colour);
        painter->drawPolygon(corners, 4);
    }
    return left + 2 * kHalf;
}

int Legend::putDiamonds(QPainter *painter, int left, const Tones &tones) const
{
    constexpr int kBetween = 2;
    if (m_castTypes.empty()) // all lie within folded blocks
        return putDiamond(painter, left, tones.line());
    for (const tensor::DType type : m_castTypes)
        left = putDiamond(painter, left, tones.of(type).band) + kBetween;
    return left - kBetween;
}

int Legend::putPrecisions(QPainter *painter, const Tones &tones, bool isShort) const
{
    const int space = fontMetrics().horizontalAdvance(QLatin1Char(' '));
    int at = kLegendPadding;
    for (const Row &row : m_rows) {
        at = putBadge(painter, at, row.type, tones) + space;
        const QString count = QString::number(row.count);
        at = putText(painter, at, isShort ? count : typeName(row.type) + ' ' + count, tones.text());
        at += partGap();
    }
    if (m_casts) {
        at = putDiamonds(painter, at, tones) + space;
        at = putText(painter, at, isShort ? QString::number(*m_casts) : castsText(), tones.text())
            + partGap();
    }
    return at - partGap() + kLegendPadding;
}

int Legend::putScale(QPainter *painter, const Tones &tones, bool isShort) const
{
    if (!m_hasFigures)
        return putText(painter, kLegendPadding, missing(m_colourBy), tones.text()) + kLegendPadding;
    const auto endText
        = [this](double value) { return figureText(m_colourBy, value).remove(QStringLiteral("\u2264 ")); };
    const int space = 2 * fontMetrics().horizontalAdvance(QLatin1Char(' '));
    int at = kLegendPadding;
    if (!isShort)
        at = putText(painter, at, scaleTitle(m_colourBy, m_target), tones.text()) + partGap();
    at = putText(painter, at, endText(m_low), tones.text()) + space;
    const QRectF bar(at, (height() - lineHeight()) / 2.0 + 3, 8 * lineHeight(), lineHeight() - 6);
    if (painter) {
        QLinearGradient gradient(bar.topLeft(), bar.topRight());
        for (int k = 0; k <= 8; ++k)
            gradient.setColorAt(k / 8.0, tones.scale(static_cast<float>(k) / 8));
        painter->fillRect(bar, gradient);
    }
    at = putText(painter, static_cast<int>(bar.right()) + space, endText(m_high), tones.text());
    if (m_isStale)
        at = putText(painter, at + partGap(), tr("of an earlier state"), tones.secondText());
    return at + kLegendPadding;
}

/// A triangle that points to where the rest goes to or comes from.
int Legend::putFoldMark(QPainter *painter, int left, const Tones &tones) const
{
    constexpr int kHalf = 4;
    if (painter) {
        const int from = m_isFolded ? left : left + kHalf;
        const int to = m_isFolded ? left + kHalf : left;
        const QPointF corners[] = {QPointF(from, height() / 2.0 - kHalf), QPointF(to, height() / 2.0),
                                   QPointF(from, height() / 2.0 + kHalf)};
        painter->setPen(Qt::NoPen);
        painter->setBrush(tones.secondText());
        painter->drawPolygon(corners, 3);
    }
    return left + kHalf;
}

void Legend::setFolded(bool isFolded)
{
    m_isFolded = isFolded;
    place();
    update();
}

void Legend::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    setFolded(!m_isFolded);
    Q_EMIT foldedChanged(m_isFolded);
}

int Legend::put(QPainter *painter, const Tones &tones, bool isShort) const
{
    if (m_isFolded)
        return putFoldMark(painter, kLegendPadding, tones) + kLegendPadding;
    const bool hasTypes
        = m_colourBy == ColourBy::Precision || (m_colourBy == ColourBy::RanIn && m_hasFigures);
    const int end = hasTypes ? putPrecisions(painter, tones, isShort) : putScale(painter, tones, isShort);
    return putFoldMark(painter, end, tones) + kLegendPadding;
}

/// One line at the foot of the canvas, where it hides least of the graph; without the types' names where there is little room.
void Legend::place()
{
    const Tones tones(palette());
    const int room = m_canvas->width() - 2 * kLegendMargin;
    const int whole = put(nullptr, tones, false);
    m_isShort = whole > room || m_canvas->height() < kLowCanvas * fontMetrics().lineSpacing();
    const int height = lineHeight() + 4;
    setGeometry(kLegendMargin, m_canvas->height() - height - kLegendMargin,
                std::min(room, m_isShort ? put(nullptr, tones, true) : whole), height);
}

void Legend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Tones tones(palette());
    painter.setPen(QPen(blended(tones.ground(), tones.text(), 0.2), 1));
    painter.setBrush(palette().color(QPalette::Window));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    put(&painter, tones, m_isShort);
}

} // namespace halftone::widgets

#include "widgets/graphview/legend.h"

#include "widgets/graphview/canvas.h"
#include "widgets/graphview/scene_painter.h"

#include <QPainter>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kMargin = 12;
constexpr int kPadding = 8;

QString typeName(tensor::DType type)
{
    if (type == tensor::DType::Unknown)
        return Legend::tr("other");
    const std::string_view name = tensor::nameOf(type);
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

QString scaleTitle(ColourBy colourBy)
{
    switch (colourBy) {
    case ColourBy::Error:
        return Legend::tr("signal to noise against float32");
    case ColourBy::Latency:
        return Legend::tr("time of one node");
    default:
        return Legend::tr("largest value (float16 ends at 65504)");
    }
}

QString missing(ColourBy colourBy)
{
    switch (colourBy) {
    case ColourBy::Error:
        return Legend::tr("No errors yet: attach data and compare.");
    case ColourBy::Latency:
        return Legend::tr("No times yet: switch latency on.");
    default:
        return Legend::tr("No ranges yet: calibrate with data.");
    }
}

} // namespace

Legend::Legend(Canvas *canvas)
    : QWidget(canvas)
    , m_canvas(canvas)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Legend of the graph's colours"));
    hide();
}

int Legend::lineHeight() const
{
    return fontMetrics().height() + 4;
}

QString Legend::castsText() const
{
    return m_casts == 1 ? tr("1 inserted cast") : tr("%1 inserted casts").arg(m_casts.value_or(0));
}

void Legend::show(const Scene &scene, const Looks &looks, ColourBy colourBy, std::optional<std::size_t> casts)
{
    m_colourBy = colourBy;
    m_casts = casts;
    m_castType = tensor::DType::F32;
    m_rows.clear();
    std::array<std::size_t, kMixTypes.size()> counts{};
    m_isStale = false;
    for (ItemIndex k = 0; k < looks.items.size(); ++k) {
        if (scene.items()[k].isFrame)
            continue;
        const ItemLook &look = looks.items[k];
        for (std::size_t m = 0; m < counts.size(); ++m)
            counts[m] += look.mix[m];
        m_isStale = m_isStale || (look.isStale && look.share >= 0);
    }
    for (std::size_t m = 0; m < counts.size(); ++m) {
        if (counts[m] > 0)
            m_rows.push_back({kMixTypes[m], counts[m]});
        if (counts[m] > 0 && tensor::isHalf(kMixTypes[m]))
            m_castType = kMixTypes[m];
    }
    m_hasFigures = looks.hasFigures;
    m_low = looks.low;
    m_high = looks.high;
    place();
    setVisible(true);
    update();
}

QSize Legend::wantedSize() const
{
    const QFontMetrics metrics = fontMetrics();
    const int line = lineHeight();
    if (m_colourBy != ColourBy::Precision) {
        const QString text = m_hasFigures ? scaleTitle(m_colourBy) : missing(m_colourBy);
        const int rows = m_hasFigures ? 3 : 1;
        return {std::max(metrics.horizontalAdvance(text), 14 * line) + 2 * kPadding,
                rows * line + 2 * kPadding};
    }
    int width = 0;
    for (const Row &row : m_rows)
        width = std::max(
            width, metrics.horizontalAdvance(typeName(row.type) + QString::number(row.count)) + 5 * line);
    int rows = static_cast<int>(m_rows.size());
    if (m_casts) {
        ++rows;
        width = std::max(width, metrics.horizontalAdvance(castsText()) + 3 * line);
    }
    return {width + 2 * kPadding, std::max(1, rows) * line + 2 * kPadding};
}

void Legend::place()
{
    const QSize size = wantedSize();
    setGeometry(kMargin, m_canvas->height() - size.height() - kMargin, size.width(), size.height());
}

void Legend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Tones tones(palette());
    QColor ground = palette().color(QPalette::Window);
    ground.setAlpha(235);
    painter.setPen(QPen(blended(tones.ground(), tones.text(), 0.2), 1));
    painter.setBrush(ground);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    const int line = lineHeight();
    QRectF row(kPadding, kPadding, width() - 2 * kPadding, line);
    if (m_colourBy != ColourBy::Precision) {
        painter.setPen(tones.text());
        painter.drawText(row, Qt::AlignVCenter, m_hasFigures ? scaleTitle(m_colourBy) : missing(m_colourBy));
        if (!m_hasFigures)
            return;
        row.translate(0, line);
        QLinearGradient gradient(row.topLeft(), row.topRight());
        for (int k = 0; k <= 8; ++k)
            gradient.setColorAt(k / 8.0, tones.scale(static_cast<float>(k) / 8));
        painter.fillRect(row.adjusted(0, 3, 0, -3), gradient);
        row.translate(0, line);
        painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft,
                         figureText(m_colourBy, m_low).remove(QStringLiteral("≤ ")));
        painter.drawText(row, Qt::AlignVCenter | Qt::AlignRight,
                         figureText(m_colourBy, m_high).remove(QStringLiteral("≤ ")));
        if (m_isStale) {
            painter.setPen(tones.secondText());
            painter.drawText(row, Qt::AlignCenter, tr("of an earlier state"));
        }
        return;
    }
    for (const Row &entry : m_rows) {
        const Tone &tone = tones.of(entry.type);
        const QRectF badge(row.left(), row.top() + 2, 2.2 * line, line - 4);
        painter.setPen(tone.isOutlined ? QPen(tone.band, 1) : QPen(Qt::NoPen));
        painter.setBrush(tone.isOutlined ? QBrush(Qt::NoBrush) : QBrush(tone.band));
        painter.drawRoundedRect(badge, 3, 3);
        if (tone.pattern != Qt::SolidPattern) {
            const QRectF edge(badge.left(), badge.top(), 0.5 * line, badge.height());
            painter.fillRect(edge, QBrush(blended(tone.band, tones.ground(), 0.55), tone.pattern));
        }
        painter.setPen(tone.isOutlined ? tones.secondText() : readableOn(tone.band));
        painter.drawText(badge.adjusted(tone.pattern == Qt::SolidPattern ? 0 : 0.5 * line, 0, 0, 0),
                         Qt::AlignCenter, tone.badge);
        painter.setPen(tones.text());
        painter.drawText(row.adjusted(2.7 * line, 0, 0, 0), Qt::AlignVCenter, typeName(entry.type));
        painter.drawText(row, Qt::AlignVCenter | Qt::AlignRight, QString::number(entry.count));
        row.translate(0, line);
    }
    if (m_casts) {
        const QPointF centre(row.left() + 1.1 * line, row.center().y());
        const QPointF corners[] = {centre + QPointF(0, -5), centre + QPointF(5, 0), centre + QPointF(0, 5),
                                   centre + QPointF(-5, 0)};
        painter.setPen(Qt::NoPen);
        painter.setBrush(tones.of(m_castType).band);
        painter.drawPolygon(corners, 4);
        painter.setPen(tones.text());
        painter.drawText(row.adjusted(2.7 * line, 0, 0, 0), Qt::AlignVCenter, castsText());
    }
}

} // namespace halftone::widgets

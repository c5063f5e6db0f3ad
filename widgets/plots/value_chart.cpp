#include "widgets/plots/value_chart.h"

#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/threshold_words.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/histogram_bins.h"

#include <QFontMetrics>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

constexpr std::size_t kMostBins = 400;
constexpr double kLeastCount = 0.5;

} // namespace

ValueChart::ValueChart(QCPAxisRect *rect)
    : m_rect(rect)
    , m_bars(new QCPBars(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft)))
    , m_marks(rect)
    , m_clipped(new QCPItemText(rect->parentPlot()))
{
    m_bars->setBaseValue(kLeastCount);
    m_bars->setPen(Qt::NoPen);
    for (std::size_t side = 0; side < m_shades.size(); ++side) {
        m_shades[side] = new QCPItemRect(rect->parentPlot());
        m_lines[side] = new QCPItemStraightLine(rect->parentPlot());
        for (QCPAbstractItem *item :
             {static_cast<QCPAbstractItem *>(m_shades[side]), static_cast<QCPAbstractItem *>(m_lines[side])})
            anchor(item, rect, Place::Coords, Place::Share);
        m_shades[side]->setPen(Qt::NoPen);
    }
    anchor(m_clipped, rect, Place::Coords, Place::Share);
    m_clipped->setPadding(QMargins(4, 1, 4, 1));
    clear();
}

void ValueChart::clear()
{
    m_tensor = nullptr;
    m_marks.clear();
    m_bars->data()->clear();
    setThreshold(0, 0);
}

void ValueChart::show(const calibration::CalibratedTensor &tensor, const calibration::ThresholdStudy *study,
                      const ChartLook &look)
{
    m_tensor = &tensor;
    m_bars->setBrush(look.bars);
    for (std::size_t side = 0; side < m_shades.size(); ++side) {
        QColor fill = look.warning;
        fill.setAlphaF(look.isDark ? 0.3F : 0.22F);
        m_shades[side]->setBrush(fill);
        m_lines[side]->setPen(QPen(look.accent, 2));
    }
    m_clipped->setFont(look.font);
    m_clipped->setColor(look.text);
    QColor ground = look.ground;
    ground.setAlpha(225);
    m_clipped->setBrush(ground);
    m_clipped->setPen(Qt::NoPen);
    addMarks(study, look);
}

void ValueChart::addMarks(const calibration::ThresholdStudy *study, const ChartLook &look)
{
    m_marks.clear();
    m_end = tensor::rangeOf(look.target).largest;
    const QPen end(precisionLook(look.target, look.isDark).colour, 1.5, Qt::DashLine);
    m_marks.add(-m_end, QChar(0x2212) + significant(m_end), end, look);
    m_marks.add(m_end, significant(m_end), end, look);
    if (!study)
        return;
    QColor faint = look.text;
    faint.setAlphaF(0.55F);
    const double side = wordSide();
    for (const calibration::ThresholdMark &mark : study->marks())
        m_marks.add(side * mark.threshold.value, markText(mark), QPen(faint, 1, Qt::DotLine), look);
}

bool ValueChart::hasSide(int sign) const
{
    if (!m_tensor)
        return false;
    return sign > 0 ? m_tensor->statistics.max > 0 : m_tensor->statistics.min < 0;
}

/// Where the values reach further, so that every threshold is in sight there.
int ValueChart::wordSide() const
{
    return m_tensor && -m_tensor->statistics.min > m_tensor->statistics.max ? -1 : 1;
}

void ValueChart::setThreshold(double threshold, double clipped)
{
    m_threshold = threshold;
    const double far = m_tensor ? 4 * std::max(m_tensor->statistics.absMax, threshold) : 1;
    for (std::size_t side = 0; side < m_shades.size(); ++side) {
        const int sign = side == 0 ? -1 : 1;
        const bool isShown = threshold > 0 && hasSide(sign);
        m_lines[side]->setVisible(isShown);
        m_shades[side]->setVisible(isShown);
        m_lines[side]->point1->setCoords(sign * threshold, 0);
        m_lines[side]->point2->setCoords(sign * threshold, 1);
        m_shades[side]->topLeft->setCoords(sign > 0 ? threshold : -far, 0);
        m_shades[side]->bottomRight->setCoords(sign > 0 ? far : -threshold, 1);
    }
    const double at = wordSide() * threshold;
    const QCPAxis *const axis = m_rect->axis(QCPAxis::atBottom);
    m_clipped->setVisible(threshold > 0 && m_tensor && axis->range().contains(at));
    if (!m_clipped->visible())
        return;
    m_clipped->setText(clippedText(clipped));
    const int width = QFontMetrics(m_clipped->font()).horizontalAdvance(m_clipped->text()) + 12;
    const double x = axis->coordToPixel(at);
    const bool fitsRight = x + width < m_rect->right();
    const bool fitsLeft = x - width >= m_rect->left();
    m_clipped->setVisible(fitsRight || fitsLeft); // a narrow drawing has it in the line above alone
    const bool isRight = at > 0 ? fitsRight : !fitsLeft;
    m_clipped->setPositionAlignment((isRight ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignBottom);
    m_clipped->position->setCoords(at, 0.92);
}

void ValueChart::fit()
{
    const calibration::TensorStatistics &values = m_tensor->statistics;
    const double room = std::max((values.max - values.min) * 0.06, values.absMax * 0.01);
    double lower = values.min - room;
    double upper = values.max + room;
    // The end of the type's range is shown when the values come near it.
    if (values.absMax > m_end / 4) {
        if (values.min < 0)
            lower = std::min(lower, -m_end * 1.1);
        if (values.max > 0) {
            lower = std::min(lower, 0.0);
            upper = std::max(upper, m_end * 1.1);
        }
    }
    m_rect->axis(QCPAxis::atBottom)->setRange(lower, upper);
}

void ValueChart::fillBars()
{
    if (!m_tensor)
        return;
    const QCPRange range = m_rect->axis(QCPAxis::atBottom)->range();
    QVector<double> x, y;
    double width = 0;
    m_highest = 1;
    for (const DrawnBin &bin :
         drawnBins(m_tensor->statistics.histogram, range.lower, range.upper, kMostBins)) {
        x << bin.centre;
        y << bin.count;
        width = std::max(width, bin.width);
        m_highest = std::max(m_highest, bin.count);
    }
    m_bars->setWidth(width);
    m_bars->setData(x, y, true);
    constexpr int kTickWidth = 90; // of a number, in pixels, with some room
    m_rect->axis(QCPAxis::atBottom)->ticker()->setTickCount(std::clamp(m_rect->width() / kTickWidth, 2, 6));
    m_marks.place();
    m_rect->axis(QCPAxis::atLeft)
        ->setRange(kLeastCount, upperLimit(kLeastCount, m_highest, m_rect, m_marks.height()));
}

QString ValueChart::textAt(double x) const
{
    if (!m_tensor)
        return {};
    const auto bin = std::ranges::find_if(*m_bars->data(), [&](const QCPBarsData &one) {
        return std::abs(one.key - x) <= m_bars->width() / 2;
    });
    const double count = bin == m_bars->data()->end() ? 0 : bin->value;
    return QObject::tr("%1: %2 values near %3")
        .arg(plain(m_tensor->name), QString::number(count, 'f', 0), significant(x));
}

} // namespace halftone::widgets

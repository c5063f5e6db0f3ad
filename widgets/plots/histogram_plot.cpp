#include "widgets/plots/histogram_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/csv_field.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/histogram_bins.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

using calibration::ExponentCounts;

constexpr double kFloat16Max = 65504;
constexpr std::size_t kMostBins = 400;

/// Exponents of the numbers that a format has (IEEE 754 binary16 and binary32; bfloat16 has binary32's).
constexpr int kFloat16Lowest = -24; ///< subnormal
constexpr int kFloat16Normal = -14;
constexpr int kFloat16Highest = 15;
constexpr int kFloat32Normal = -126;
constexpr int kFloat32Highest = 127;

} // namespace

HistogramPlot::HistogramPlot(DocumentController *controller, QWidget *parent)
    : PlotPanel(controller, tr("Values of the chosen tensor"), parent)
    , m_valueRect(plot()->axisRect())
    , m_exponentRect(new QCPAxisRect(plot()))
    , m_values(new QCPBars(plot()->xAxis, plot()->yAxis))
    , m_exponents(nullptr)
{
    plot()->plotLayout()->addElement(0, 1, m_exponentRect);
    for (QCPAxis *axis : m_exponentRect->axes()) {
        axis->setLayer(QStringLiteral("axes"));
        axis->grid()->setLayer(QStringLiteral("grid"));
    }
    m_exponents = new QCPBars(m_exponentRect->axis(QCPAxis::atBottom), m_exponentRect->axis(QCPAxis::atLeft));
    for (QCPAxisRect *rect : {m_valueRect, m_exponentRect}) {
        QCPAxis *const counts = rect->axis(QCPAxis::atLeft);
        counts->setScaleType(QCPAxis::stLogarithmic);
        const QSharedPointer<QCPAxisTickerLog> ticker(new QCPAxisTickerLog);
        counts->setTicker(ticker);
        counts->setNumberFormat(QStringLiteral("gb"));
        counts->setNumberPrecision(4);
        rect->setRangeZoom(Qt::Horizontal);
        rect->setRangeDrag(Qt::Horizontal);
    }
    m_valueRect->axis(QCPAxis::atBottom)->setLabel(tr("value"));
    m_valueRect->axis(QCPAxis::atLeft)->setLabel(tr("count"));
    m_exponentRect->axis(QCPAxis::atBottom)->setLabel(tr("power of two of |value|"));
    m_values->setBaseValue(0.5);
    m_exponents->setBaseValue(0.5);
    m_exponents->setWidth(0.9);
    connect(plot(), &QCustomPlot::afterLayout, this, &HistogramPlot::placeBands);
    // Zooming in shows the finer bins.
    connect(plot()->xAxis, qOverload<const QCPRange &>(&QCPAxis::rangeChanged), this, [this] {
        if (m_tensor && !m_isFilling)
            fillValues();
    });
}

const calibration::CalibratedTensor *HistogramPlot::chosen() const
{
    const auto current = controller()->selection().current();
    if (!current || !m_kept || !controller()->snapshot())
        return nullptr;
    const std::string &name = controller()->snapshot()->graph().node(*current).name;
    const auto at = std::ranges::find(m_kept->tensors, name, &calibration::CalibratedTensor::node);
    return at == m_kept->tensors.end() ? nullptr : &*at;
}

QString HistogramPlot::whyEmpty() const
{
    const auto &snapshot = controller()->snapshot();
    const auto current = controller()->selection().current();
    if (!snapshot)
        return tr("Open a model to see the values of its tensors.");
    if (!m_kept)
        return tr("Attach data and run \u201cCalibrate\u201d: then the values of the chosen tensor are drawn "
                  "here.");
    if (!current)
        return tr("Choose a layer in the graph or in the table to see its values.");
    const QString name = plain(snapshot->graph().node(*current).name);
    const calibration::CalibratedTensor *const tensor = chosen();
    if (!tensor)
        return tr("%1 has no statistics: its values are no floating-point numbers, or it was not calibrated.")
            .arg(name);
    if (tensor->statistics.histogram.counts().empty())
        return tr("Every value of %1 is zero.").arg(name);
    return {};
}

void HistogramPlot::rebuild()
{
    const std::string before = m_tensor ? m_tensor->name : std::string();
    m_kept = controller()->figures().calibration;
    m_tensor = chosen();
    if (const QString why = whyEmpty(); !why.isEmpty()) {
        m_tensor = nullptr;
        showEmpty(why);
        return;
    }
    for (QCPAbstractItem *mark : m_marks)
        plot()->removeItem(mark);
    m_marks.clear();
    m_bands.clear();
    m_rangeMarks.clear();
    fillExponents();
    if (m_tensor->name != before)
        fitAxes();
    showPlot();
    addRangeMark(-kFloat16Max);
    addRangeMark(kFloat16Max);
    fillValues();
    replot();
}

void HistogramPlot::fillValues()
{
    const QCPRange range = plot()->xAxis->range();
    const auto bins = drawnBins(m_tensor->statistics.histogram, range.lower, range.upper, kMostBins);
    QVector<double> x, y;
    double width = 0;
    double highest = 1;
    for (const DrawnBin &bin : bins) {
        x << bin.centre;
        y << bin.count;
        width = std::max(width, bin.width);
        highest = std::max(highest, bin.count);
    }
    m_values->setWidth(width);
    m_values->setData(x, y, true);
    m_values->setPen(Qt::NoPen);
    m_values->setBrush(firstColour());
    plot()->yAxis->setRange(0.5, highest * 3);
    placeRangeMarks();
}

void HistogramPlot::addRangeMark(double value)
{
    RangeMark mark{new QCPItemStraightLine(plot()), new QCPItemText(plot()), value};
    mark.line->point1->setCoords(value, 1);
    mark.line->point2->setCoords(value, 10);
    mark.line->setPen(QPen(precisionLook(tensor::DType::F16, isDark(palette())).colour, 1.5, Qt::DashLine));
    mark.line->setSelectable(false);
    mark.text->position->setTypeX(QCPItemPosition::ptPlotCoords);
    mark.text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    mark.text->position->setCoords(value, 0.02);
    mark.text->setText(
        tr(" f16 ends at %1 ").arg(value < 0 ? QStringLiteral("\u221265504") : QStringLiteral("65504")));
    mark.text->setColor(palette().color(QPalette::Text));
    mark.text->setFont(font());
    mark.text->setSelectable(false);
    m_marks.insert(m_marks.end(), {static_cast<QCPAbstractItem *>(mark.line), mark.text});
    m_rangeMarks.push_back(mark);
}

/// Marks outside of what is shown are hidden; the text stands on the side that has more room.
void HistogramPlot::placeRangeMarks()
{
    const QCPRange range = plot()->xAxis->range();
    for (const RangeMark &mark : m_rangeMarks) {
        const bool isShown = range.contains(mark.value);
        mark.line->setVisible(isShown);
        mark.text->setVisible(isShown);
        const bool isLeft = mark.value < range.center();
        mark.text->setPositionAlignment((isLeft ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignTop);
    }
}

/// A field from the lowest to the highest power of two of a format.
void HistogramPlot::addBand(int lowest, int highest, double row, const QString &text, const QColor &colour)
{
    QCPAxis *const x = m_exponentRect->axis(QCPAxis::atBottom);
    QCPAxis *const y = m_exponentRect->axis(QCPAxis::atLeft);
    const auto anchor = [&](QCPItemPosition *position) {
        position->setAxes(x, y);
        position->setAxisRect(m_exponentRect);
        position->setTypeX(QCPItemPosition::ptPlotCoords);
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    };
    Band band{new QCPItemRect(plot()), new QCPItemText(plot()), row};
    anchor(band.field->topLeft);
    anchor(band.field->bottomRight);
    anchor(band.label->position);
    band.field->topLeft->setCoords(lowest - 0.5, 0);
    band.field->bottomRight->setCoords(highest + 0.5, 0);
    QColor fill = colour;
    fill.setAlphaF(0.3F);
    band.field->setBrush(fill);
    band.field->setPen(QPen(colour));
    band.label->position->setCoords(std::min<double>(highest, kFloat16Highest) + 0.3, 0);
    band.label->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
    band.label->setText(text);
    band.label->setColor(palette().color(QPalette::Text));
    band.label->setFont(font());
    for (QCPAbstractItem *item :
         {static_cast<QCPAbstractItem *>(band.field), static_cast<QCPAbstractItem *>(band.label)}) {
        item->setClipAxisRect(m_exponentRect);
        item->setClipToAxisRect(true);
        item->setSelectable(false);
        m_marks.push_back(item);
    }
    m_bands.push_back(band);
}

/// Bands are as high as a line of text, however high the plot is.
void HistogramPlot::placeBands()
{
    const double line = (fontMetrics().height() + 2.0) / std::max(1, m_exponentRect->height());
    for (const Band &band : m_bands) {
        const auto setY
            = [](QCPItemPosition *position, double y) { position->setCoords(position->key(), y); };
        setY(band.field->topLeft, (band.row + 0.1) * line);
        setY(band.field->bottomRight, (band.row + 1) * line);
        setY(band.label->position, (band.row + 0.55) * line);
    }
}

void HistogramPlot::fillExponents()
{
    const ExponentCounts &exponents = m_tensor->statistics.exponents;
    QVector<double> x, y;
    double highest = 1;
    for (int e = ExponentCounts::kLowest; e <= ExponentCounts::kHighest; ++e) {
        const auto count = static_cast<double>(exponents.at(e));
        if (count == 0)
            continue;
        x << e;
        y << count;
        highest = std::max(highest, count);
    }
    m_exponents->setData(x, y, true);
    m_exponents->setPen(Qt::NoPen);
    m_exponents->setBrush(firstColour());
    // Room for the bands above the highest bar.
    m_exponentRect->axis(QCPAxis::atLeft)->setRange(0.5, std::pow(highest, 1.6) * 3);
    const bool dark = isDark(palette());
    const QColor f16 = precisionLook(tensor::DType::F16, dark).colour;
    addBand(kFloat32Normal, kFloat32Highest, 0, tr("f32, b16"),
            precisionLook(tensor::DType::BF16, dark).colour);
    addBand(kFloat16Normal, kFloat16Highest, 1, tr("f16"), f16);
    QColor faint = f16;
    faint.setAlphaF(0.5F);
    addBand(kFloat16Lowest, kFloat16Normal - 1, 1, {}, faint);
}

void HistogramPlot::fitAxes()
{
    if (!m_tensor)
        return;
    m_isFilling = true;
    const calibration::TensorStatistics &values = m_tensor->statistics;
    const double room = std::max((values.max - values.min) * 0.04, values.absMax * 0.01);
    double lower = values.min - room;
    double upper = values.max + room;
    // The end of float16's range is shown when the values come near it.
    if (values.absMax > kFloat16Max / 4) {
        if (values.min < 0)
            lower = std::min(lower, -kFloat16Max * 1.1);
        if (values.max > 0) {
            lower = std::min(lower, 0.0);
            upper = std::max(upper, kFloat16Max * 1.1);
        }
    }
    plot()->xAxis->setRange(lower, upper);
    int lowest = kFloat16Lowest;
    int highest = kFloat16Highest;
    for (int e = ExponentCounts::kLowest; e <= ExponentCounts::kHighest; ++e) {
        if (values.exponents.at(e) > 0) {
            lowest = std::min(lowest, e);
            highest = std::max(highest, e);
        }
    }
    m_exponentRect->axis(QCPAxis::atBottom)->setRange(lowest - 2.5, highest + 3.5);
    m_isFilling = false;
    fillValues();
}

QString HistogramPlot::summary() const
{
    if (!m_tensor)
        return {};
    const calibration::TensorStatistics &values = m_tensor->statistics;
    QString text = tr("%1: %2 values, %3 \u2026 %4")
                       .arg(plain(m_tensor->name))
                       .arg(values.count)
                       .arg(significant(values.min), significant(values.max));
    if (values.fp16.overflow > 0)
        text += tr("; \u26a0 %1 overflow in float16").arg(values.fp16.overflow);
    if (values.fp16.underflow > 0)
        text += tr("; %1 become zero in float16").arg(values.fp16.underflow);
    return text;
}

QString HistogramPlot::textAt(const QPointF &place) const
{
    if (!m_tensor)
        return {};
    const calibration::TensorStatistics &values = m_tensor->statistics;
    if (m_exponentRect->rect().contains(place.toPoint())) {
        const int e
            = static_cast<int>(std::round(m_exponentRect->axis(QCPAxis::atBottom)->pixelToCoord(place.x())));
        if (e < ExponentCounts::kLowest || e > ExponentCounts::kHighest)
            return {};
        return tr("%1 of %2 values from 2^%3 to 2^%4")
            .arg(values.exponents.at(e))
            .arg(values.count)
            .arg(e)
            .arg(e + 1);
    }
    if (!m_valueRect->rect().contains(place.toPoint()))
        return {};
    const double x = plot()->xAxis->pixelToCoord(place.x());
    const auto bin = std::ranges::find_if(*m_values->data(), [&](const QCPBarsData &one) {
        return std::abs(one.key - x) <= m_values->width() / 2;
    });
    const double count = bin == m_values->data()->end() ? 0 : bin->value;
    return tr("%1: %2 values near %3")
        .arg(plain(m_tensor->name), QString::number(count, 'f', 0), significant(x));
}

QString HistogramPlot::csv() const
{
    QString text = QStringLiteral("tensor,kind,at,width,count\r\n");
    if (!m_tensor)
        return text;
    const QString name = csvField(plain(m_tensor->name));
    const calibration::Histogram &histogram = m_tensor->statistics.histogram;
    for (const DrawnBin &bin :
         drawnBins(histogram, -histogram.limit(), histogram.limit(), histogram.counts().size()))
        text += QStringLiteral("%1,value,%2,%3,%4\r\n")
                    .arg(name, QString::number(bin.centre, 'g', 9), QString::number(bin.width, 'g', 9),
                         QString::number(bin.count, 'f', 0));
    for (int e = ExponentCounts::kLowest; e <= ExponentCounts::kHighest; ++e) {
        if (const std::uint64_t count = m_tensor->statistics.exponents.at(e); count > 0)
            text += QStringLiteral("%1,exponent,%2,1,%3\r\n").arg(name).arg(e).arg(count);
    }
    return text;
}

} // namespace halftone::widgets

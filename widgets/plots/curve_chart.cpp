#include "widgets/plots/curve_chart.h"

#include "widgets/common/formatters.h"
#include "widgets/models/threshold_words.h"
#include "widgets/plots/custom_plot.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

using calibration::CurvePoint;
using policy::ThresholdMethod;

constexpr double kLeastDivergence = 1e-6; ///< of the logarithmic axis, which has no zero
constexpr double kMostSqnr = 200; ///< of what is drawn: beyond is without an error

void fill(QCPGraph *graph, const std::vector<CurvePoint> &points)
{
    QVector<double> x, y;
    for (const CurvePoint &point : points) {
        x << point.threshold;
        y << point.value;
    }
    graph->setData(x, y, true);
}

std::vector<CurvePoint> onLogarithms(std::vector<CurvePoint> points)
{
    for (CurvePoint &point : points)
        point.value = std::max(point.value, kLeastDivergence);
    return points;
}

void setPoint(QCPGraph *graph, double x, const std::optional<double> &y)
{
    graph->data()->clear();
    if (y && std::isfinite(*y))
        graph->addData(x, *y);
}

} // namespace

CurveChart::CurveChart(QCPAxisRect *rect)
    : m_rect(rect)
    , m_line(new QCPItemStraightLine(rect->parentPlot()))
    , m_marks(rect)
{
    QCPAxis *const x = rect->axis(QCPAxis::atBottom);
    const auto graph
        = [&](QCPAxis::AxisType side) { return rect->parentPlot()->addGraph(x, rect->axis(side)); };
    m_searched = graph(QCPAxis::atLeft);
    m_divergence = graph(QCPAxis::atLeft);
    m_sqnr = graph(QCPAxis::atRight);
    m_leastDivergence = graph(QCPAxis::atLeft);
    m_mostSqnr = graph(QCPAxis::atRight);
    m_divergenceHere = graph(QCPAxis::atLeft);
    m_sqnrHere = graph(QCPAxis::atRight);
    for (QCPGraph *point : {m_searched, m_leastDivergence, m_mostSqnr, m_divergenceHere, m_sqnrHere})
        point->setLineStyle(QCPGraph::lsNone);
    anchor(m_line, rect, Place::Coords, Place::Share);
    m_line->setVisible(false);
}

void CurveChart::show(const calibration::ThresholdStudy *study, const ChartLook &look)
{
    m_study = study;
    m_marks.clear();
    for (QCPGraph *graph :
         {m_searched, m_divergence, m_sqnr, m_leastDivergence, m_mostSqnr, m_divergenceHere, m_sqnrHere})
        graph->data()->clear();
    m_line->setPen(QPen(look.accent, 2));
    m_divergence->setPen(QPen(look.bars, 1.5));
    m_sqnr->setPen(QPen(look.second, 1.5, Qt::DashLine));
    QColor faint = look.text;
    faint.setAlphaF(0.55F);
    const auto spot = [](const QColor &line, const QColor &fill, double size) {
        return QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(line, 1.5), fill, size);
    };
    m_searched->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, faint, 2));
    m_leastDivergence->setScatterStyle(spot(look.bars, look.ground, 8));
    m_mostSqnr->setScatterStyle(spot(look.second, look.ground, 8));
    m_divergenceHere->setScatterStyle(spot(look.accent, look.bars, 8));
    m_sqnrHere->setScatterStyle(spot(look.accent, look.second, 8));
    if (!study)
        return;
    fill(m_searched, onLogarithms(study->searched()));
    fill(m_divergence, onLogarithms(study->divergence()));
    std::vector<CurvePoint> sqnr = study->sqnr();
    std::erase_if(sqnr, [](const CurvePoint &point) { return !(point.value < kMostSqnr); });
    fill(m_sqnr, sqnr);
    for (const calibration::ThresholdMark &mark : study->marks()) {
        const calibration::Threshold &threshold = mark.threshold;
        if (threshold.method != mark.options.method)
            continue; // it fell back
        if (mark.options.method == ThresholdMethod::Entropy)
            setPoint(m_leastDivergence, threshold.value, threshold.divergence);
        else if (mark.options.method == ThresholdMethod::Mse)
            setPoint(m_mostSqnr, threshold.value, threshold.sqnrDb);
        else
            continue;
        m_marks.add(threshold.value, markText(mark), QPen(faint, 1, Qt::DotLine), look);
    }
    fitValues();
}

void CurveChart::setFigures(const std::optional<calibration::ThresholdFigures> &figures)
{
    const bool isShown = m_study && figures;
    m_line->setVisible(isShown);
    setPoint(m_divergenceHere, isShown ? figures->threshold : 0,
             isShown ? std::optional(std::max(figures->divergence, kLeastDivergence)) : std::nullopt);
    setPoint(m_sqnrHere, isShown ? figures->threshold : 0, isShown ? figures->sqnrDb : std::nullopt);
    if (isShown) {
        m_line->point1->setCoords(figures->threshold, 0);
        m_line->point2->setCoords(figures->threshold, 1);
    }
}

void CurveChart::fit()
{
    if (!m_study)
        return;
    m_rect->axis(QCPAxis::atBottom)->setRange(0, m_study->tensor().statistics.absMax * 1.04);
}

/// Room for the words above the curves.
void CurveChart::fitValues()
{
    if (!m_study)
        return;
    bool found = false;
    QCPRange divergence = m_divergence->getValueRange(found);
    if (found) {
        bool isChosen = false;
        if (const QCPRange chosen = m_leastDivergence->getValueRange(isChosen); isChosen)
            divergence.expand(chosen);
        const double lowest = divergence.lower / 2;
        m_rect->axis(QCPAxis::atLeft)
            ->setRange(lowest, upperLimit(lowest, divergence.upper, m_rect, m_marks.height()));
    }
    const QCPRange sqnr = m_sqnr->getValueRange(found);
    if (found) {
        const double room = static_cast<double>(m_marks.height()) / std::max(1, m_rect->height());
        const double lowest = std::min(0.0, sqnr.lower);
        const double size = std::max(10.0, sqnr.upper - lowest);
        m_rect->axis(QCPAxis::atRight)
            ->setRange(lowest - 0.04 * size, lowest + 1.06 * size / (1 - std::min(room, 0.6)));
    }
}

void CurveChart::placeMarks()
{
    m_marks.place();
    fitValues();
}

void CurveChart::colourAxes(const ChartLook &look)
{
    m_rect->axis(QCPAxis::atLeft)->setLabelColor(look.bars);
    m_rect->axis(QCPAxis::atRight)->setLabelColor(look.second);
}

QString CurveChart::textAt(double x) const
{
    return m_study && x > 0 ? QObject::tr("at %1: %2").arg(significant(x, 4), figuresText(m_study->at(x)))
                            : QString();
}

} // namespace halftone::widgets

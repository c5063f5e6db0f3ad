#include "widgets/plots/tune_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/plots/custom_plot.h"

#include <QGuiApplication>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

constexpr double kReach = 10; // pixels around a point that are its own
constexpr double kDot = 9;

} // namespace

TunePlot::TunePlot(DocumentController *controller, TuneState *state, QWidget *parent)
    : PlotPanel(controller, tr("Error against time"), parent)
    , m_state(state)
{
    makeGraphs();
    connect(state, &TuneState::changed, this, &PlotPanel::refresh);
    connect(state, &TuneState::selectionChanged, this, [this] {
        if (!isSeen())
            return refresh();
        mark();
        replot();
    });
}

void TunePlot::makeGraphs()
{
    m_front = plot()->addGraph();
    m_front->setLineStyle(QCPGraph::lsLine);
    m_selected = plot()->addGraph();
    m_selected->setLineStyle(QCPGraph::lsNone);
    const QString names[] = {tr("predicted"), tr("measured"), tr("own edits")};
    for (int kind = 0; kind < KindCount; ++kind) {
        QCPGraph *const graph = plot()->addGraph();
        graph->setName(names[kind]);
        graph->setLineStyle(QCPGraph::lsNone);
        m_points[static_cast<std::size_t>(kind)] = graph;
        auto *const interval = new QCPErrorBars(plot()->xAxis, plot()->yAxis);
        interval->setErrorType(QCPErrorBars::etKeyError);
        interval->setDataPlottable(graph);
        interval->removeFromLegend();
        m_intervals[static_cast<std::size_t>(kind)] = interval;
    }
    m_front->removeFromLegend();
    m_selected->removeFromLegend();
    plot()->legend->setVisible(true);
    plot()->axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignRight | Qt::AlignBottom);
    m_limit = new QCPItemStraightLine(plot());
}

double TunePlot::shown(double sqnrDb) const
{
    return std::isnan(sqnrDb) ? 0 : std::clamp(sqnrDb, 0.0, m_highest);
}

void TunePlot::rebuild()
{
    if (m_state->places().empty()) {
        showEmpty(!controller()->snapshot() ? tr("Open a model to search for its best mix of types.")
                      : m_state->isRunning()
                      ? tr("The first points appear here in a moment.")
                      : (m_state->whyNot().isEmpty() ? tr("Tune finds the layers that must stay in float32. "
                                                          "Measured points appear here.")
                                                     : m_state->whyNot()));
        return;
    }
    draw();
    showPlot();
    followFigures();
    replot();
    if (m_mouse) // points move under a hand that rests
        m_state->hover(placeAt(*m_mouse));
}

void TunePlot::draw()
{
    m_highest = 20;
    for (const TunePlace &place : m_state->places()) {
        if (std::isfinite(place.sqnrDb))
            m_highest = std::max(m_highest, place.sqnrDb * 1.1);
    }
    std::array<QVector<double>, KindCount> x, y, below, above;
    QVector<double> frontX, frontY;
    const bool isTimed = m_state->time() == TuneTime::Measured;
    for (std::size_t k = 0; k < m_state->places().size(); ++k) {
        const TunePlace &place = m_state->places()[k];
        const std::optional<QPointF> at = coordsOf(k);
        if (!at)
            continue;
        const std::size_t kind = place.isOwn ? Own : place.isMeasured ? Measured : Predicted;
        x[kind] << at->x();
        y[kind] << at->y();
        below[kind] << (isTimed ? std::max(0.0, place.milliseconds - place.ci95[0]) : 0.0);
        above[kind] << (isTimed ? std::max(0.0, place.ci95[1] - place.milliseconds) : 0.0);
        if (place.isOffered) {
            frontX << at->x();
            frontY << at->y();
        }
    }
    plot()->xAxis->setLabel(isTimed ? tr("median time in ms")
                                : m_state->hasBandwidth()
                                ? tr("estimated for %1, ms").arg(m_state->chip())
                                : tr("estimated for %1, of float32's time").arg(m_state->chip()));
    plot()->yAxis->setLabel(m_state->loss() == TuneLoss::Sqnr ? tr("SQNR in dB at the outputs")
                                                              : tr("change of top-1 in points"));
    const bool isOnDark = isDark(palette());
    const QColor colours[]
        = {seriesColour(0, isOnDark), seriesColour(0, isOnDark), seriesColour(1, isOnDark)};
    for (std::size_t kind = 0; kind < KindCount; ++kind) {
        m_points[kind]->setData(x[kind], y[kind]);
        const bool isSolid = kind != Predicted;
        m_points[kind]->setScatterStyle({kind == Own ? QCPScatterStyle::ssDiamond : QCPScatterStyle::ssCircle,
                                         QPen(colours[kind], 1.5),
                                         isSolid ? QBrush(colours[kind]) : QBrush(Qt::NoBrush), kDot});
        m_intervals[kind]->setPen(QPen(colours[kind]));
        m_intervals[kind]->setVisible(isSolid); // nothing was measured of the others
        // Data are sorted by time in the graph; the whiskers go by its order.
        std::vector<qsizetype> order(static_cast<std::size_t>(x[kind].size()));
        for (std::size_t k = 0; k < order.size(); ++k)
            order[k] = static_cast<qsizetype>(k);
        std::ranges::stable_sort(order, {}, [&](qsizetype k) { return x[kind][k]; });
        QVector<double> low, high;
        for (const qsizetype k : order) {
            low << below[kind][k];
            high << above[kind][k];
        }
        m_intervals[kind]->setData(low, high);
    }
    m_front->setData(frontX, frontY);
    m_front->setPen(QPen(colours[0], 1, Qt::DashLine));
    const auto &limit = m_state->limit();
    const bool isOfPlane
        = limit && (limit->metric == tune::Limit::Metric::Sqnr) == (m_state->loss() == TuneLoss::Sqnr);
    m_limit->setVisible(isOfPlane);
    if (limit) {
        m_limit->point1->setCoords(0, limit->value);
        m_limit->point2->setCoords(1, limit->value);
    }
    m_limit->setPen(QPen(palette().color(QPalette::Text), 1, Qt::DotLine));
    mark();
}

void TunePlot::mark()
{
    QVector<double> x, y;
    for (const auto &place : {m_state->selected(), m_state->other()}) {
        if (const auto at = place ? coordsOf(*place) : std::nullopt) {
            x << at->x();
            y << at->y();
        }
    }
    m_selected->setData(x, y);
    m_selected->setScatterStyle(
        {QCPScatterStyle::ssCircle, QPen(markColour(), 2), QBrush(Qt::NoBrush), 2 * kDot});
}

void TunePlot::fitAxes()
{
    QVector<double> x, y;
    for (std::size_t k = 0; k < m_state->places().size(); ++k) {
        if (const auto at = coordsOf(k)) {
            x << at->x();
            y << at->y();
        }
    }
    if (x.empty())
        return;
    const auto [left, right] = std::ranges::minmax(x);
    const double beside = std::max(0.08 * (right - left), 0.02 * right);
    plot()->xAxis->setRange(left - beside, right + beside);
    const auto [low, high] = std::ranges::minmax(y);
    const double above = std::max(0.08 * (high - low), m_state->loss() == TuneLoss::Sqnr ? 1.0 : 0.1);
    plot()->yAxis->setRange(low - above, high + above);
}

/// In the units of the axes; nothing where a place has no such figure.
std::optional<QPointF> TunePlot::coordsOf(std::size_t place) const
{
    if (place >= m_state->places().size())
        return std::nullopt;
    const TunePlace &one = m_state->places()[place];
    double x = one.milliseconds;
    if (m_state->time() == TuneTime::Estimated) {
        const TuneEstimate *const estimate = m_state->estimateOf(place);
        if (!estimate)
            return std::nullopt;
        x = estimate->cost;
    }
    if (m_state->loss() == TuneLoss::Sqnr)
        return QPointF(x, shown(one.sqnrDb));
    return one.top1Change ? std::optional(QPointF(x, *one.top1Change)) : std::nullopt;
}

std::optional<QPointF> TunePlot::pixelsOf(std::size_t place) const
{
    const auto at = coordsOf(place);
    if (!at)
        return std::nullopt;
    return QPointF(plot()->xAxis->coordToPixel(at->x()), plot()->yAxis->coordToPixel(at->y()));
}

/// The nearest one within reach; of several the measured one.
std::optional<std::size_t> TunePlot::placeAt(const QPointF &place) const
{
    std::optional<std::size_t> nearest;
    double least = kReach;
    for (std::size_t k = 0; k < m_state->places().size(); ++k) {
        const auto pixels = pixelsOf(k);
        if (!pixels)
            continue;
        const QPointF away = *pixels - place;
        const double distance
            = std::hypot(away.x(), away.y()) - (m_state->places()[k].isMeasured ? 0.5 : 0.0);
        if (distance < least) {
            least = distance;
            nearest = k;
        }
    }
    return nearest;
}

QString TunePlot::textAt(const QPointF &place) const
{
    const auto at = placeAt(place);
    if (!at)
        return {};
    return textOf(*at);
}

QString TunePlot::textOf(std::size_t place) const
{
    const TunePlace &one = m_state->places()[place];
    QString text = (one.isOwn            ? tr("own edits: %1")
                        : one.isMeasured ? tr("measured: %1")
                                         : tr("predicted: %1"))
                       .arg(TuneState::nameOf(one));
    if (one.isMeasured)
        text += tr(", between %1 and %2 ms")
                    .arg(QString::number(one.ci95[0], 'f', 3), QString::number(one.ci95[1], 'f', 3));
    if (one.isDisturbed)
        text += tr("; machine was busy: unreliable");
    else if (!one.isTimeKnown)
        text += tr("; interval too wide: unreliable");
    if (one.top1Change)
        text += tr(", top-1 %1 points").arg(QString::asprintf("%+.2f", *one.top1Change));
    return text;
}

void TunePlot::pick(const QPointF &place)
{
    const auto at = placeAt(place);
    m_state->select(at);
    if (at && !QGuiApplication::keyboardModifiers().testFlag(Qt::ControlModifier))
        m_state->adopt(*at);
}

bool TunePlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == plot() && !m_state->places().empty()) {
        if (event->type() == QEvent::MouseMove) {
            m_mouse = static_cast<QMouseEvent *>(event)->position();
            m_state->hover(placeAt(*m_mouse));
        } else if (event->type() == QEvent::Leave) {
            m_mouse.reset();
            m_state->hover(std::nullopt);
        }
    }
    return PlotPanel::eventFilter(watched, event);
}

QString TunePlot::csv() const
{
    QString text
        = QStringLiteral("ms,ci95_low,ci95_high,sqnr_db,top1_change,measured,own,offered,disturbed\r\n");
    const auto number = [](double value) { return QString::number(value, 'g', 9); };
    const auto flag = [](bool is) { return QString::number(is ? 1 : 0); };
    for (const TunePlace &place : m_state->places())
        text += QStringList({number(place.milliseconds), number(place.ci95[0]), number(place.ci95[1]),
                             number(place.sqnrDb), place.top1Change ? number(*place.top1Change) : QString(),
                             flag(place.isMeasured), flag(place.isOwn), flag(place.isOffered),
                             flag(place.isDisturbed)})
                    .join(QLatin1Char(','))
            + QStringLiteral("\r\n");
    return text;
}

} // namespace halftone::widgets

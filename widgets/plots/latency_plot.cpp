#include "widgets/plots/latency_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/csv_field.h"
#include "widgets/models/latency_words.h"
#include "widgets/plots/custom_plot.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::widgets {
namespace {

constexpr double kBarWidth = 0.38;

} // namespace

LatencyPlot::LatencyPlot(DocumentController *controller, QWidget *parent)
    : LayerPlot(controller, tr("Time of each layer"), parent)
    , m_fp32(makeSeries(tr("fp32")))
    , m_mixed(makeSeries(tr("mixed")))
{
    plot()->yAxis->setLabel(tr("median in \u00b5s"));
}

LatencyPlot::Series LatencyPlot::makeSeries(const QString &name)
{
    Series series;
    series.bars = new QCPBars(plot()->xAxis, plot()->yAxis);
    series.bars->setName(name);
    series.bars->setWidth(kBarWidth);
    series.whiskers = new QCPErrorBars(plot()->xAxis, plot()->yAxis);
    series.whiskers->setDataPlottable(series.bars);
    series.whiskers->removeFromLegend();
    series.whiskers->setSymbolGap(0);
    return series;
}

void LatencyPlot::fill(Series &series, Member member, const latency::Latency &measured, const QColor &colour)
{
    const double offset = &series == &m_fp32 ? -kBarWidth / 2 : kBarWidth / 2;
    QVector<double> x, y, below, above;
    std::unordered_set<std::uint32_t> seen;
    series.isFirst.assign(layers().size(), false);
    for (std::size_t k = 0; k < layers().size(); ++k) {
        const session::NodeFigures *const known = figuresOf(layers()[k]);
        if (!known || !(known->*member) || !seen.insert((known->*member)->step).second)
            continue;
        const session::NodeLatency &latency = *(known->*member);
        series.isFirst[k] = true;
        x << placeOf(k) + offset;
        y << latency.microseconds;
        const bool hasLayer = latency.step < measured.layers.size();
        below << (hasLayer ? std::max(0.0, latency.microseconds - measured.layers[latency.step].minUs) : 0.0);
        above << 0;
        m_highest = std::max(m_highest, latency.microseconds);
    }
    series.bars->setData(x, y, true);
    series.whiskers->setData(below, above);
    const bool isStale = controller()->figures().latencyRevision != controller()->snapshot()->revision;
    QColor fill = colour;
    fill.setAlphaF(isStale ? 0.35F : 0.85F);
    series.bars->setPen(Qt::NoPen);
    series.bars->setBrush(fill);
    series.bars->setAntialiased(!isDense()); // of bars that are thinner than a pixel it shows nothing
    series.whiskers->setAntialiased(!isDense());
    series.whiskers->setPen(QPen(palette().color(QPalette::Text)));
}

void LatencyPlot::setWanted(bool wanted)
{
    m_isWanted = wanted;
    refresh();
}

void LatencyPlot::setDeferred(const QString &why)
{
    m_putOff = why;
    refresh();
}

void LatencyPlot::rebuild()
{
    const auto &snapshot = controller()->snapshot();
    const session::Figures &figures = controller()->figures();
    if (!snapshot || !figures.latency) {
        showEmpty(!snapshot                               ? tr("Open a model to see its layers' times.")
                      : m_isWanted && !m_putOff.isEmpty() ? m_putOff
                      : m_isWanted
                      ? tr("Layer times are measured when the current computation is finished.")
                      : tr("Turn on \u201clatency\u201d to measure and plot every layer's time."));
        return;
    }
    takeLayers();
    m_highest = 0;
    fill(m_fp32, &session::NodeFigures::fp32, figures.latency->fp32, sourceColour());
    // The target's own colour: another type's would say that this was timed.
    const PrecisionLook look = precisionLook(snapshot->target(), isDark(palette()));
    fill(m_mixed, &session::NodeFigures::mixed, figures.latency->mixed, look.colour);
    m_mixed.bars->setBrush(QBrush(m_mixed.bars->brush().color(), Qt::Dense3Pattern));
    const QString notTimed = latencyWords(*figures.latency, snapshot->target()).notTimed;
    m_mixed.bars->setName(notTimed.isEmpty() ? tr("mixed") : notTimed);
    showPlot();
    followFigures();
    replot();
}

/// In the words of the status bar, so that all of the window says one thing.
QString LatencyPlot::summary() const
{
    const auto &snapshot = controller()->snapshot();
    const session::Figures &figures = controller()->figures();
    if (!snapshot || !figures.latency)
        return {};
    const LatencyWords words = latencyWords(*figures.latency, snapshot->target());
    const QString device = words.ofDevice();
    const QString text = words.sentence() + (device.isEmpty() ? device : QStringLiteral(" \u00b7 ") + device);
    return figures.latencyRevision == snapshot->revision ? text : tr("before the last edit: %1").arg(text);
}

bool LatencyPlot::summaryWarns() const
{
    const auto &snapshot = controller()->snapshot();
    const auto &latency = controller()->figures().latency;
    return snapshot && latency && latencyWords(*latency, snapshot->target()).warns();
}

void LatencyPlot::fitAxes()
{
    fitLayers();
    plot()->yAxis->setRange(0, m_highest > 0 ? m_highest * 1.08 : 1);
}

QString LatencyPlot::timeText(graph::NodeId node, Member member) const
{
    const session::NodeFigures *const known = figuresOf(node);
    if (!known || !(known->*member))
        return QStringLiteral("\u2013");
    const session::NodeLatency &latency = *(known->*member);
    QString text = microseconds(latency.microseconds) + QStringLiteral(" \u00b5s");
    if (latency.limitUs)
        text += tr(" (limit %1 \u00b5s)").arg(microseconds(*latency.limitUs));
    if (latency.fusedWith > 0)
        text += tr(" (fused with %1 more)").arg(latency.fusedWith);
    return text;
}

QString LatencyPlot::textOf(graph::NodeId node) const
{
    return tr("%1: fp32 %2, mixed %3")
        .arg(nameOf(node), timeText(node, &session::NodeFigures::fp32),
             timeText(node, &session::NodeFigures::mixed));
}

QString LatencyPlot::csv() const
{
    QString text = QStringLiteral("name,fp32_us,mixed_us,fused_with,fp32_limit_us,mixed_limit_us\r\n");
    for (const graph::NodeId node : layers()) {
        const session::NodeFigures *const known = figuresOf(node);
        if (!known || (!known->fp32 && !known->mixed))
            continue;
        const auto time = [](const std::optional<session::NodeLatency> &latency) {
            return latency ? QString::number(latency->microseconds, 'g', 9) : QString();
        };
        const auto limit = [](const std::optional<session::NodeLatency> &latency) {
            return latency && latency->limitUs ? QString::number(*latency->limitUs, 'g', 9) : QString();
        };
        text += csvField(nameOf(node)) + QLatin1Char(',') + time(known->fp32) + QLatin1Char(',')
            + time(known->mixed) + QLatin1Char(',')
            + QString::number((known->mixed ? known->mixed : known->fp32)->fusedWith) + QLatin1Char(',')
            + limit(known->fp32) + QLatin1Char(',') + limit(known->mixed) + QStringLiteral("\r\n");
    }
    return text;
}

} // namespace halftone::widgets

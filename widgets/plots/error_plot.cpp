#include "widgets/plots/error_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/csv_field.h"
#include "widgets/plots/custom_plot.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

QString sqnrText(const std::optional<tensor::ErrorFigures> &figures)
{
    if (!figures)
        return QStringLiteral("\u2013");
    const QString value = decibels(figures->sqnrDb);
    return value == QStringLiteral("failed") ? value : value + QStringLiteral(" dB");
}

QString field(const std::optional<tensor::ErrorFigures> &figures)
{
    return figures ? QString::number(figures->sqnrDb, 'g', 9) : QString();
}

} // namespace

ErrorPlot::ErrorPlot(DocumentController *controller, QWidget *parent)
    : LayerPlot(controller, tr("Error by layer"), parent)
    , m_cumulative(plot()->addGraph())
    , m_isolated(plot()->addGraph())
    , m_threshold(new QCPItemStraightLine(plot()))
    , m_thresholdText(new QCPItemText(plot()))
{
    plot()->yAxis->setLabel(tr("SQNR in dB"));
    m_cumulative->setName(tr("cumulative"));
    m_isolated->setName(tr("isolated"));
    m_isolated->setLineStyle(QCPGraph::lsNone);
    m_threshold->setSelectable(false);
    m_thresholdText->setSelectable(false);
    m_thresholdText->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    m_thresholdText->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_thresholdText->position->setTypeY(QCPItemPosition::ptPlotCoords);
    m_thresholdText->setPadding(QMargins(4, 0, 0, 1));
}

double ErrorPlot::shown(double sqnrDb) const
{
    if (std::isnan(sqnrDb) || sqnrDb == -std::numeric_limits<double>::infinity())
        return 0;
    return std::min(sqnrDb, m_highest);
}

void ErrorPlot::rebuild()
{
    const auto &snapshot = controller()->snapshot();
    const session::Figures &figures = controller()->figures();
    if (!snapshot || !figures.comparison) {
        showEmpty(snapshot ? tr(
                      "Attach data and turn on \u201cerrors\u201d to compute and plot every layer's error.")
                           : tr("Open a model to see its layers' errors."));
        return;
    }
    takeLayers();
    double highest = figures.comparison->comparison.threshold;
    for (const graph::NodeId node : layers()) {
        const session::NodeFigures *const known = figuresOf(node);
        for (const auto *one : {known ? &known->cumulative : nullptr, known ? &known->isolated : nullptr}) {
            if (one && *one && std::isfinite((*one)->sqnrDb))
                highest = std::max(highest, (*one)->sqnrDb);
        }
    }
    m_highest = std::ceil((highest + 5) / 10) * 10;

    QVector<double> x, y, isolatedX, isolatedY;
    for (std::size_t k = 0; k < layers().size(); ++k) {
        const session::NodeFigures *const known = figuresOf(layers()[k]);
        if (known && known->cumulative) {
            x << placeOf(k);
            y << shown(known->cumulative->sqnrDb);
        }
        if (known && known->isolated) {
            isolatedX << placeOf(k);
            isolatedY << shown(known->isolated->sqnrDb);
        }
    }
    m_cumulative->setData(x, y, true);
    m_isolated->setData(isolatedX, isolatedY, true);
    const bool isStale = figures.comparisonRevision != snapshot->revision;
    QColor first = seriesColour(0, isDark(palette()));
    QColor second = seriesColour(1, isDark(palette()));
    first.setAlphaF(isStale ? 0.4F : 1.0F);
    second.setAlphaF(figures.isolatedRevision != snapshot->revision ? 0.4F : 1.0F);
    // A line of one pixel is drawn many times as fast as a wider one.
    m_cumulative->setPen(QPen(first, isDense() ? 1 : 1.5));
    m_cumulative->setScatterStyle(isDense() ? QCPScatterStyle()
                                            : QCPScatterStyle(QCPScatterStyle::ssDisc, first, first, 5));
    m_isolated->setPen(QPen(second, 1.5));
    m_isolated->setScatterStyle(
        isDense() ? QCPScatterStyle(QCPScatterStyle::ssDot, second, 2)
                  : QCPScatterStyle(QCPScatterStyle::ssTriangle, QPen(second, 1.5), QBrush(Qt::NoBrush), 7));

    const double threshold = figures.comparison->comparison.threshold;
    const QColor text = palette().color(QPalette::Text);
    m_threshold->point1->setCoords(0, threshold);
    m_threshold->point2->setCoords(1, threshold);
    m_threshold->setPen(QPen(text, 1, Qt::DashLine));
    m_thresholdText->position->setCoords(0, threshold);
    m_thresholdText->setText(tr("%1 dB").arg(decibels(threshold)));
    m_thresholdText->setColor(text);
    m_thresholdText->setFont(font());
    showPlot();
    followFigures();
    replot();
}

void ErrorPlot::fitAxes()
{
    fitLayers();
    plot()->yAxis->setRange(0, m_highest * 1.04);
}

QString ErrorPlot::textOf(graph::NodeId node) const
{
    const session::NodeFigures *const known = figuresOf(node);
    if (!known)
        return nameOf(node);
    return tr("%1: cumulative %2, isolated %3")
        .arg(nameOf(node), sqnrText(known->cumulative), sqnrText(known->isolated));
}

QString ErrorPlot::csv() const
{
    QString text = QStringLiteral("name,sqnr_db,isolated_sqnr_db\r\n");
    for (const graph::NodeId node : layers()) {
        const session::NodeFigures *const known = figuresOf(node);
        if (known)
            text += csvField(nameOf(node)) + QLatin1Char(',') + field(known->cumulative) + QLatin1Char(',')
                + field(known->isolated) + QStringLiteral("\r\n");
    }
    return text;
}

} // namespace halftone::widgets

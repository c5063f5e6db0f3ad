#include "widgets/plots/error_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/csv_field.h"
#include "widgets/plots/custom_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::widgets {
namespace {

constexpr double kHighestDb = 120; ///< float32's own rounding begins there

bool isExact(const tensor::ErrorFigures &figures)
{
    return figures.sqnrDb == std::numeric_limits<double>::infinity();
}

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
    , m_median(plot()->addGraph())
    , m_threshold(new QCPItemStraightLine(plot()))
    , m_thresholdText(new QCPItemText(plot()))
{
    plot()->yAxis->setLabel(tr("SQNR in dB"));
    m_cumulative->setName(tr("cumulative"));
    m_median->setName(tr("isolated, median of a block"));
    m_threshold->setSelectable(false);
    m_thresholdText->setSelectable(false);
    m_thresholdText->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    m_thresholdText->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_thresholdText->position->setTypeY(QCPItemPosition::ptPlotCoords);
    m_thresholdText->setPadding(QMargins(4, 0, 0, 1));
}

bool ErrorPlot::isShown(graph::NodeId node) const
{
    return givesReals(*controller()->snapshot(), node);
}

double ErrorPlot::shown(double sqnrDb) const
{
    return std::isnan(sqnrDb) ? 0 : std::clamp(sqnrDb, 0.0, m_highest);
}

/// Nothing for a layer whose error is not known, or that has none.
std::optional<double> ErrorPlot::heightOf(std::size_t layer, Member member) const
{
    const session::NodeFigures *const known = figuresOf(layers()[layer]);
    if (!known || !(known->*member) || isExact(*(known->*member)))
        return std::nullopt;
    return shown((known->*member)->sqnrDb);
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
    if (takeLayers())
        findBlocks();
    double highest = figures.comparison->comparison.threshold;
    m_exact = 0;
    for (const graph::NodeId node : layers()) {
        const session::NodeFigures *const known = figuresOf(node);
        bool hasError = false;
        for (const auto *one : {known ? &known->cumulative : nullptr, known ? &known->isolated : nullptr}) {
            if (one && *one && std::isfinite((*one)->sqnrDb))
                highest = std::max(highest, (*one)->sqnrDb);
            hasError = hasError || (one && *one && !isExact(**one));
        }
        m_exact += known && known->cumulative && !hasError ? 1U : 0U;
    }
    m_highest = std::min(kHighestDb, std::ceil((highest + 5) / 10) * 10);
    drawCumulative();
    drawIsolated();

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

void ErrorPlot::drawCumulative()
{
    QVector<double> x, y;
    for (std::size_t k = 0; k < layers().size(); ++k) {
        if (const auto height = heightOf(k, &session::NodeFigures::cumulative)) {
            x << placeOf(k);
            y << *height;
        }
    }
    m_cumulative->setData(x, y, true);
    QColor colour = seriesColour(0, isDark(palette()));
    const bool isStale = controller()->figures().comparisonRevision != controller()->snapshot()->revision;
    colour.setAlphaF(isStale ? 0.4F : 1.0F);
    // A line of one pixel is drawn many times as fast as a wider one.
    m_cumulative->setPen(QPen(colour, isDense() ? 1 : 1.5));
    m_cumulative->setScatterStyle(isDense() ? QCPScatterStyle()
                                            : QCPScatterStyle(QCPScatterStyle::ssDisc, colour, colour, 5));
}

void ErrorPlot::drawIsolated()
{
    QColor colour = seriesColour(1, isDark(palette()));
    const bool isStale = controller()->figures().isolatedRevision != controller()->snapshot()->revision;
    colour.setAlphaF(isStale ? 0.4F : 1.0F);
    m_median->setVisible(isDense());
    if (isDense())
        return drawBlocks(colour);
    QVector<double> x, y;
    for (std::size_t k = 0; k < layers().size(); ++k) {
        if (const auto height = heightOf(k, &session::NodeFigures::isolated)) {
            x << placeOf(k);
            y << *height;
        }
    }
    m_isolated->setData(x, y, true);
    m_isolated->setName(tr("isolated"));
    m_isolated->setLineStyle(QCPGraph::lsNone);
    m_isolated->setPen(QPen(colour, 1.5));
    m_isolated->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssTriangle, QPen(colour, 1.5), QBrush(Qt::NoBrush), 7));
    m_isolated->setChannelFillGraph(nullptr);
    m_isolated->setBrush(Qt::NoBrush);
    m_median->removeFromLegend();
    m_median->data()->clear();
}

/// Folding takes longer than the window may stand still.
void ErrorPlot::findBlocks()
{
    m_finding.cancel();
    m_blocks = {};
    if (!isDense())
        return;
    m_finding.start([source = controller()->snapshot()->source, count = layers().size()](
                        const std::stop_token &) { return layerBlocks(source->model, count); },
                    [this](LayerBlocks blocks) {
                        m_blocks = std::move(blocks);
                        refresh();
                    });
}

/// Of thousands of points nobody would see which one lies low.
void ErrorPlot::drawBlocks(const QColor &colour)
{
    constexpr double kGap = std::numeric_limits<double>::quiet_NaN(); // of a block without errors
    const auto parts = static_cast<std::size_t>(m_blocks.names.size());
    std::vector<std::vector<double>> heights(parts);
    const std::size_t known = m_blocks.isEmpty() ? 0 : layers().size();
    for (std::size_t k = 0; k < known; ++k)
        if (const auto height = heightOf(k, &session::NodeFigures::isolated))
            heights[m_blocks.partOf[layers()[k]]].push_back(*height);
    std::vector<double> middle(parts, kGap);
    m_worst.assign(parts, kGap);
    for (std::size_t part = 0; part < parts; ++part) {
        std::vector<double> &one = heights[part];
        std::ranges::sort(one);
        if (!one.empty()) {
            m_worst[part] = one.front();
            middle[part] = one[one.size() / 2];
        }
    }
    QVector<double> x, worst, median;
    for (std::size_t first = 0; first < known;) {
        const std::size_t part = m_blocks.partOf[layers()[first]];
        std::size_t end = first + 1;
        while (end < known && m_blocks.partOf[layers()[end]] == part)
            ++end;
        for (const double at : {placeOf(first) - 0.5, placeOf(end) - 0.5}) {
            x << at;
            worst << m_worst[part];
            median << middle[part];
        }
        first = end;
    }
    m_isolated->setData(x, worst, true);
    m_median->setData(x, median, true);
    m_isolated->setName(tr("isolated, worst of a block"));
    m_isolated->setLineStyle(QCPGraph::lsLine);
    m_isolated->setScatterStyle(QCPScatterStyle());
    m_isolated->setPen(QPen(colour, 1));
    QColor faint = colour;
    faint.setAlphaF(colour.alphaF() * 0.6F);
    m_median->setPen(QPen(faint, 1));
    faint.setAlphaF(colour.alphaF() * 0.2F);
    m_isolated->setBrush(faint);
    m_isolated->setChannelFillGraph(m_median);
    m_median->addToLegend();
}

QString ErrorPlot::summary() const
{
    if (m_exact == 0 || !controller()->figures().comparison)
        return {};
    return tr("%1 of %2 layers are exact and not drawn").arg(m_exact).arg(layers().size());
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
    const QString figures = tr("%1: cumulative %2, isolated %3")
                                .arg(nameOf(node), sqnrText(known->cumulative), sqnrText(known->isolated));
    if (!isDense() || m_blocks.isEmpty())
        return figures;
    const std::size_t part = m_blocks.partOf[node];
    const QString &block = m_blocks.names[static_cast<qsizetype>(part)];
    if (block.isEmpty() || part >= m_worst.size() || std::isnan(m_worst[part]))
        return figures;
    return tr("%1; worst of %2: %3 dB").arg(figures, block, decibels(m_worst[part]));
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

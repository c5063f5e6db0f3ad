#include "widgets/plots/layer_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/common/short_names.h"
#include "widgets/plots/custom_plot.h"

#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

constexpr int kLabel = 14; ///< characters that a name below the axis gets at least
constexpr int kLongestLabel = 26; ///< and at most: longer names are cut
constexpr int kLabelGap = 2; ///< likewise, between two
constexpr std::size_t kDense = 400; ///< layers

QString marksLayer()
{
    return QStringLiteral("marks");
}

} // namespace

/// Names of layers at so many places that each can be read.
class LayerTicker : public QCPAxisTicker
{
public:
    explicit LayerTicker(const QCPAxis *axis)
        : m_axis(axis)
    {
        setTickOrigin(1);
    }

    void setNames(const QStringList &names)
    {
        m_names = names;
        m_short = ShortNames(names);
        m_longest.clear();
        for (const QString &name : names)
            if (const QString one = m_short.shortened(name); one.size() > m_longest.size())
                m_longest = one;
        m_longest.truncate(kLongestLabel);
    }

    /// The layer whose name is written nearest to a place on the axis.
    double nearest(double coordinate) const { return 1 + std::round((coordinate - 1) / m_step) * m_step; }

protected:
    double getTickStep(const QCPRange &range) override
    {
        const double perLayer = m_axis->axisRect()->width() / std::max(range.size(), 1e-9);
        const QFontMetrics metrics(m_axis->tickLabelFont());
        // Fewer names that can be read tell more than many that are cut.
        const int label = std::max(kLabel * metrics.averageCharWidth(), metrics.horizontalAdvance(m_longest));
        m_step = std::max(
            1.0, std::ceil((label + kLabelGap * metrics.averageCharWidth()) / std::max(perLayer, 1e-9)));
        return m_step;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale &, QChar, int) override
    {
        const auto layer = static_cast<qsizetype>(std::lround(tick)) - 1;
        if (layer < 0 || layer >= m_names.size())
            return {};
        const QFontMetrics metrics(m_axis->tickLabelFont());
        const double at = m_axis->coordToPixel(tick);
        const double room
            = std::abs(m_axis->coordToPixel(tick + m_step) - at) - kLabelGap * metrics.averageCharWidth();
        const double toEdge = 2 * std::min(at, m_axis->parentPlot()->width() - at);
        return m_short.fitted(m_names[layer], static_cast<int>(std::min(room, toEdge)), metrics);
    }

private:
    const QCPAxis *m_axis;
    QStringList m_names;
    ShortNames m_short;
    QString m_longest; ///< of the short ones
    double m_step = 1; ///< in layers, between two names
};

LayerPlot::LayerPlot(DocumentController *controller, const QString &name, QWidget *parent)
    : PlotPanel(controller, name, parent)
    , m_mark(new QCPItemStraightLine(plot()))
    , m_hover(new QCPItemRect(plot()))
    , m_ticker(new LayerTicker(plot()->xAxis))
{
    plot()->xAxis->setLabel(tr("layer, in graph order"));
    plot()->xAxis->setTicker(m_ticker);
    plot()->xAxis->setSubTicks(false);
    plot()->axisRect()->setRangeZoom(Qt::Horizontal);
    addLegend();
    // Marks follow the mouse: they have a layer of their own, so that the curves above them are not drawn anew.
    plot()->addLayer(marksLayer(), plot()->layer(QStringLiteral("main")), QCustomPlot::limBelow);
    plot()->layer(marksLayer())->setMode(QCPLayer::lmBuffered);
    for (QCPAbstractItem *const item :
         {static_cast<QCPAbstractItem *>(m_mark), static_cast<QCPAbstractItem *>(m_hover)}) {
        item->setLayer(marksLayer());
        item->setSelectable(false);
    }
    m_hover->setVisible(false);
    for (QCPItemPosition *const corner : {m_hover->topLeft, m_hover->bottomRight})
        corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
    connect(plot(), &QCustomPlot::mouseMove, this,
            [this](QMouseEvent *event) { hoverAt(event->position()); });
    connect(&controller->selection(), &Selection::hoveredChanged, this, &LayerPlot::showHovered);
}

void LayerPlot::addLegend()
{
    plot()->legend->setVisible(true);
    // Above the drawing, where it hides nothing.
    plot()->axisRect()->insetLayout()->take(plot()->legend);
    plot()->plotLayout()->insertRow(0);
    auto *const row = new QCPLayoutGrid;
    plot()->plotLayout()->addElement(0, 0, row); // first of all: what it takes in is told of the plot
    row->addElement(0, 0, plot()->legend);
    row->addElement(0, 1, new QCPLayoutElement); // takes the room that is left
    row->setColumnStretchFactor(0, 0.001);
    plot()->plotLayout()->setRowStretchFactor(0, 0.001);
    plot()->plotLayout()->setRowSpacing(0);
    plot()->legend->setFillOrder(QCPLayoutGrid::foColumnsFirst);
    plot()->legend->setMargins(QMargins(4, 2, 4, 0));
}

bool LayerPlot::takeLayers()
{
    const auto &snapshot = controller()->snapshot();
    const graph::Graph &graph = snapshot->graph();
    std::vector<graph::NodeId> layers;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id) && isShown(id))
            layers.push_back(id);
    }
    const bool areOthers = m_source.lock() != snapshot->source || m_layers != layers;
    if (areOthers) {
        m_source = snapshot->source;
        m_layers = std::move(layers);
        QStringList names;
        for (const graph::NodeId layer : m_layers)
            names << nameOf(layer);
        m_ticker->setNames(names);
    }
    markChosen();
    markHovered();
    return areOthers;
}

std::optional<double> LayerPlot::placeOfNode(std::optional<graph::NodeId> node) const
{
    const auto at = node ? std::ranges::lower_bound(m_layers, *node) : m_layers.end();
    if (at == m_layers.end() || *at != *node)
        return std::nullopt;
    return placeOf(static_cast<std::size_t>(at - m_layers.begin()));
}

void LayerPlot::markChosen()
{
    const auto place = placeOfNode(controller()->selection().current());
    m_mark->setVisible(place.has_value());
    if (!place)
        return;
    m_mark->point1->setCoords(*place, 0);
    m_mark->point2->setCoords(*place, 1);
    m_mark->setPen(QPen(markColour(), 2));
}

void LayerPlot::markHovered()
{
    const auto place = placeOfNode(controller()->selection().hovered());
    m_hover->setVisible(place.has_value());
    if (!place)
        return;
    m_hover->topLeft->setCoords(*place - 0.5, 0);
    m_hover->bottomRight->setCoords(*place + 0.5, 1);
    QColor colour = markColour();
    m_hover->setPen(QPen(colour, 1)); // seen too where a layer is thinner than a pixel
    colour.setAlpha(50);
    m_hover->setBrush(colour);
}

bool LayerPlot::isDense() const
{
    return m_layers.size() > kDense;
}

void LayerPlot::drawMarks()
{
    plot()->layer(marksLayer())->replot();
}

void LayerPlot::markSelection()
{
    if (!isSeen() || !emptyText().isEmpty())
        return refresh();
    markChosen();
    drawMarks();
}

void LayerPlot::showHovered()
{
    if (!isSeen()) // is drawn anew when it is
        return refresh();
    if (!emptyText().isEmpty())
        return;
    markHovered();
    const auto node = controller()->selection().hovered();
    showText(node && placeOfNode(node) ? textOf(*node) : QString());
    drawMarks();
}

void LayerPlot::hoverAt(const QPointF &place)
{
    const auto layer = layerAt(place);
    controller()->selection().hover(layer ? std::optional(m_layers[*layer]) : std::nullopt);
}

bool LayerPlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == plot() && event->type() == QEvent::Leave)
        controller()->selection().hover(std::nullopt);
    if (watched == plot() && event->type() == QEvent::ToolTip) {
        const auto *const help = static_cast<QHelpEvent *>(event);
        const auto layer = layerAt(help->pos());
        QToolTip::showText(help->globalPos(), layer ? nameOf(m_layers[*layer]).toHtmlEscaped() : QString(),
                           plot());
        return true;
    }
    return PlotPanel::eventFilter(watched, event);
}

std::optional<std::size_t> LayerPlot::layerAt(const QPointF &place) const
{
    const QRect drawing = plot()->axisRect()->rect();
    const bool isBelow = place.y() > drawing.bottom();
    if (place.y() < drawing.top() || (!isBelow && !drawing.contains(place.toPoint())))
        return std::nullopt;
    const double coordinate = plot()->xAxis->pixelToCoord(place.x());
    const double at = isBelow ? m_ticker->nearest(coordinate) : std::round(coordinate);
    if (!(at >= 1) || at > static_cast<double>(m_layers.size()))
        return std::nullopt;
    return static_cast<std::size_t>(at) - 1;
}

QString LayerPlot::nameOf(graph::NodeId node) const
{
    return plain(controller()->snapshot()->graph().node(node).name);
}

const session::NodeFigures *LayerPlot::figuresOf(graph::NodeId node) const
{
    const auto &nodes = controller()->figures().nodes;
    return node < nodes.size() ? &nodes[node] : nullptr;
}

QString LayerPlot::textAt(const QPointF &place) const
{
    const auto layer = layerAt(place);
    return layer ? textOf(m_layers[*layer]) : QString();
}

void LayerPlot::pick(const QPointF &place)
{
    if (const auto layer = layerAt(place))
        controller()->selection().set(m_layers[*layer]);
}

void LayerPlot::fitLayers()
{
    plot()->xAxis->setRange(0.5, std::max(1.5, placeOf(m_layers.size()) - 0.5));
}

} // namespace halftone::widgets

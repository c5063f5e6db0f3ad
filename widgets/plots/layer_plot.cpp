#include "widgets/plots/layer_plot.h"

#include "widgets/common/formatters.h"
#include "widgets/plots/custom_plot.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {

LayerPlot::LayerPlot(DocumentController *controller, const QString &name, QWidget *parent)
    : PlotPanel(controller, name, parent)
    , m_mark(new QCPItemStraightLine(plot()))
{
    plot()->xAxis->setLabel(tr("layer, in graph order"));
    const QSharedPointer<QCPAxisTickerFixed> whole(new QCPAxisTickerFixed);
    whole->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    whole->setTickCount(8);
    plot()->xAxis->setTicker(whole);
    plot()->xAxis->setSubTicks(false);
    plot()->axisRect()->setRangeZoom(Qt::Horizontal);
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
    m_mark->setSelectable(false);
}

void LayerPlot::takeLayers()
{
    m_layers.clear();
    const graph::Graph &graph = controller()->snapshot()->graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            m_layers.push_back(id);
    }
    markChosen();
}

void LayerPlot::markChosen()
{
    const auto current = controller()->selection().current();
    const auto at = current ? std::ranges::lower_bound(m_layers, *current) : m_layers.end();
    const bool isShown = at != m_layers.end() && *at == *current;
    m_mark->setVisible(isShown);
    if (!isShown)
        return;
    const double place = placeOf(static_cast<std::size_t>(at - m_layers.begin()));
    m_mark->point1->setCoords(place, 0);
    m_mark->point2->setCoords(place, 1);
    m_mark->setPen(QPen(markColour(), 2));
}

std::optional<std::size_t> LayerPlot::layerAt(const QPointF &place) const
{
    if (!plot()->axisRect()->rect().contains(place.toPoint()))
        return std::nullopt;
    const double at = std::round(plot()->xAxis->pixelToCoord(place.x()));
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

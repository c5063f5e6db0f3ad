#pragma once

#include "widgets/plots/plot_panel.h"

#include <optional>
#include <vector>

class QCPItemStraightLine;

namespace halftone::widgets {

/// A plot over the operators of the source in graph order, as the layers table lists them: x is 1 for the first. A click
/// chooses the layer.
class LayerPlot : public PlotPanel
{
    Q_OBJECT

public:
    LayerPlot(DocumentController *controller, const QString &name, QWidget *parent);

protected:
    const std::vector<graph::NodeId> &layers() const { return m_layers; }
    static double placeOf(std::size_t layer) { return static_cast<double>(layer) + 1; }
    std::optional<std::size_t> layerAt(const QPointF &place) const;

    /// Operators of the snapshot; marks the chosen one.
    void takeLayers();
    QString nameOf(graph::NodeId node) const;
    const session::NodeFigures *figuresOf(graph::NodeId node) const; ///< null: none
    void pick(const QPointF &place) override;
    void fitLayers(); ///< the horizontal axis

private:
    void markChosen();

    std::vector<graph::NodeId> m_layers;
    QCPItemStraightLine *m_mark;
};

} // namespace halftone::widgets

#pragma once

#include "widgets/plots/plot_panel.h"

#include <QSharedPointer>

#include <optional>
#include <vector>

class QCPItemRect;
class QCPItemStraightLine;

namespace halftone::widgets {

class LayerTicker;

/// A plot over operators of the source in graph order, as the layers table lists them: x is 1 for the first, and names
/// stand below as far as there is room. A click, on a name too, selects the layer; what the mouse is over is marked
/// here and in the other panels.
class LayerPlot : public PlotPanel
{
    Q_OBJECT

public:
    LayerPlot(DocumentController *controller, const QString &name, QWidget *parent);

protected:
    const std::vector<graph::NodeId> &layers() const { return m_layers; }
    static double placeOf(std::size_t layer) { return static_cast<double>(layer) + 1; }
    /// In the drawing, or whose name is written there.
    std::optional<std::size_t> layerAt(const QPointF &place) const;
    virtual QString textOf(graph::NodeId node) const = 0; ///< its figures
    virtual bool isShown(graph::NodeId) const { return true; } ///< an operator has a place in the plot

    /// Operators of the snapshot that are shown; marks the chosen one.
    /// gives: whether they are others than before
    bool takeLayers();
    QString nameOf(graph::NodeId node) const;
    const session::NodeFigures *figuresOf(graph::NodeId node) const; ///< null: none
    QString textAt(const QPointF &place) const override;
    void pick(const QPointF &place) override;
    void fitLayers(); ///< the horizontal axis
    void markSelection() override;
    bool isDense() const; ///< so many layers that curves are drawn thin, and no point for each
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void addLegend();
    std::optional<double> placeOfNode(std::optional<graph::NodeId> node) const; ///< nothing: it is no layer
    void hoverAt(const QPointF &place);
    void showHovered();
    void markHovered();
    void markChosen();
    void drawMarks();

    std::vector<graph::NodeId> m_layers;
    std::weak_ptr<const io::LoadedModel> m_source; ///< that the layers are of
    QCPItemStraightLine *m_mark;
    QCPItemRect *m_hover;
    QSharedPointer<LayerTicker> m_ticker;
};

} // namespace halftone::widgets

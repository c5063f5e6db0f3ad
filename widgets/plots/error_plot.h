#pragma once

#include "widgets/plots/layer_plot.h"

class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;

namespace halftone::widgets {

/// Signal to error along the network: cumulative, and of each layer alone, with the threshold under which a layer counts as
/// diverged. Layers without any error are drawn at the upper edge, failed ones at the lower.
class ErrorPlot : public LayerPlot
{
    Q_OBJECT

public:
    explicit ErrorPlot(DocumentController *controller, QWidget *parent = nullptr);

    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    QString textOf(graph::NodeId node) const override;

private:
    double shown(double sqnrDb) const;

    QCPGraph *m_cumulative;
    QCPGraph *m_isolated;
    QCPItemStraightLine *m_threshold;
    QCPItemText *m_thresholdText;
    double m_highest = 100; ///< of the finite figures, with some room
};

} // namespace halftone::widgets

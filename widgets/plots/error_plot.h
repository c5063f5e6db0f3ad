#pragma once

#include "widgets/common/latest_job.h"
#include "widgets/plots/layer_blocks.h"
#include "widgets/plots/layer_plot.h"

class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;

namespace halftone::widgets {

/// Signal to error along the network: cumulative, and of each layer alone, with the threshold under which a layer counts as
/// diverged. Of many layers those alone are drawn as a band per block, from the worst to the median. Only what rounding can change is
/// drawn: integers have no place, and layers without any error no point. Failed layers are drawn at the lower edge, and errors below
/// what anybody asks about at the upper.
class ErrorPlot : public LayerPlot
{
    Q_OBJECT

public:
    explicit ErrorPlot(DocumentController *controller, QWidget *parent = nullptr);

    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    QString summary() const override;
    QString textOf(graph::NodeId node) const override;
    bool isShown(graph::NodeId node) const override;

private:
    using Member = std::optional<tensor::ErrorFigures> session::NodeFigures::*;

    double shown(double sqnrDb) const;
    std::optional<double> heightOf(std::size_t layer, Member member) const;
    void drawCumulative();
    void drawIsolated();
    void drawBlocks(const QColor &colour);
    void findBlocks();

    QCPGraph *m_cumulative;
    QCPGraph *m_isolated; ///< of many layers the worst of each block
    QCPGraph *m_median; ///< of the isolated errors of a block
    QCPItemStraightLine *m_threshold;
    QCPItemText *m_thresholdText;
    double m_highest = 100; ///< of the finite figures, with some room
    LayerBlocks m_blocks; ///< of many layers, as soon as they are found
    std::vector<double>
        m_worst; ///< by part of these: the lowest isolated error drawn; NaN where there is none
    std::size_t m_exact = 0; ///< layers without any error
    LatestJob m_finding;
};

} // namespace halftone::widgets

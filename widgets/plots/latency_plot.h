#pragma once

#include "widgets/plots/layer_plot.h"

class QCPBars;
class QCPErrorBars;

namespace halftone::widgets {

/// The median time of every layer, in the source and as converted, with a whisker down to the shortest run. What runs
/// fused with others is drawn at the first of them.
class LatencyPlot : public LayerPlot
{
    Q_OBJECT

public:
    explicit LatencyPlot(DocumentController *controller, QWidget *parent = nullptr);

    /// Times are on their way, or nobody has asked for them: an empty drawing says which.
    void setWanted(bool wanted);
    /// Why none are to be expected though they are wanted; empty: they are on their way.
    void setDeferred(const QString &why);
    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    QString summary() const override;
    bool summaryWarns() const override;
    QString textOf(graph::NodeId node) const override;

private:
    struct Series
    {
        QCPBars *bars = nullptr;
        QCPErrorBars *whiskers = nullptr;
        std::vector<bool> isFirst; ///< by layer: it is the first one of its step
    };
    using Member = std::optional<session::NodeLatency> session::NodeFigures::*;

    Series makeSeries(const QString &name);
    void fill(Series &series, Member member, const latency::Latency &measured, const QColor &colour);
    QString timeText(graph::NodeId node, Member member) const;

    Series m_fp32;
    Series m_mixed;
    double m_highest = 1;
    bool m_isWanted = false;
    QString m_putOff;
};

} // namespace halftone::widgets

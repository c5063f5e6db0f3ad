#pragma once

#include "widgets/models/tune_state.h"
#include "widgets/plots/plot_panel.h"

class QCPErrorBars;
class QCPGraph;
class QCPItemEllipse;
class QCPItemStraightLine;

namespace halftone::widgets {

/// The plane of time and error that a search fills: to the left is faster, above is closer to float32. Time is measured or estimated for
/// the chosen chip, error is told in decibels or in points of accuracy. Hollow points are predicted, solid
/// ones measured, with the 95 % interval of their time; diamonds are what own edits came to. What no other point beats in both is joined
/// by a line. The mouse over a point previews it, a click adopts it, one with Ctrl only selects it for comparing.
class TunePlot : public PlotPanel
{
    Q_OBJECT

public:
    TunePlot(DocumentController *controller, TuneState *state, QWidget *parent = nullptr);

    QString csv() const override;
    /// Where a place is drawn, in the plot's pixels; nothing where it has no such figure.
    std::optional<QPointF> pixelsOf(std::size_t place) const;

protected:
    void rebuild() override;
    void fitAxes() override;
    QString textAt(const QPointF &place) const override;
    void pick(const QPointF &place) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    enum Kind
    {
        Predicted,
        Measured,
        Own,
        KindCount
    };
    void makeGraphs();
    void draw();
    void mark();
    std::optional<QPointF> coordsOf(std::size_t place) const;
    QString textOf(std::size_t place) const;
    double shown(double sqnrDb) const;
    std::optional<std::size_t> placeAt(const QPointF &place) const;

    TuneState *m_state;
    std::array<QCPGraph *, KindCount> m_points{};
    std::array<QCPErrorBars *, KindCount> m_intervals{};
    QCPGraph *m_front = nullptr;
    QCPGraph *m_selected = nullptr;
    QCPItemStraightLine *m_limit = nullptr;
    std::optional<QPointF> m_mouse; ///< over the drawing, in its pixels
    double m_highest = 60; ///< of finite errors, with some room: those without any error are drawn there
};

} // namespace halftone::widgets

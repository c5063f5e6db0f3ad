#pragma once

#include "core/calibration/threshold_study.h"
#include "widgets/plots/chart_parts.h"

class QCPGraph;
class QCPItemStraightLine;

namespace halftone::widgets {

/// What every threshold costs: divergence on a logarithmic axis on the left, signal to noise on the right. Faint dots are what
/// the entropy search compares; its choice among them and the best signal to noise are marked.
class CurveChart
{
public:
    /// Needs: a rectangle with its right axis shown.
    explicit CurveChart(QCPAxisRect *rect);

    void show(const calibration::ThresholdStudy *study, const ChartLook &look); ///< null: empty
    void setFigures(const std::optional<calibration::ThresholdFigures> &figures);
    void fit();
    void placeMarks(); ///< for the size as it is
    void colourAxes(const ChartLook &look); ///< after the axes were styled

    QString textAt(double x) const;

private:
    void fitValues();

    QCPAxisRect *m_rect;
    QCPGraph *m_searched;
    QCPGraph *m_divergence;
    QCPGraph *m_sqnr;
    QCPGraph *m_leastDivergence;
    QCPGraph *m_mostSqnr;
    /// Where the threshold in hand is.
    QCPGraph *m_divergenceHere;
    QCPGraph *m_sqnrHere;
    QCPItemStraightLine *m_line;
    LabelledMarks m_marks;
    const calibration::ThresholdStudy *m_study = nullptr;
};

} // namespace halftone::widgets

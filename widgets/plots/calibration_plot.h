#pragma once

#include "core/calibration/calibrated.h"
#include "widgets/models/threshold_editor.h"
#include "widgets/plots/curve_chart.h"
#include "widgets/plots/exponent_chart.h"
#include "widgets/plots/plot_panel.h"
#include "widgets/plots/value_chart.h"

#include <QRect>

#include <array>
#include <vector>

class QCPAxisRect;
class QCPLayoutGrid;

namespace halftone::widgets {

class ThresholdHandle;

/// The tensor whose threshold is set: its values, its powers of two, and what every threshold costs. Grips on the values and
/// on the curves set the threshold, keys too (ThresholdHandle::handleKey()); Ctrl with arrows pans, Ctrl+Home shows all.
class CalibrationPlot : public PlotPanel
{
    Q_OBJECT

public:
    CalibrationPlot(DocumentController *controller, ThresholdEditor *editor, QWidget *parent = nullptr);

    QString csv() const override;
    const std::vector<ThresholdHandle *> &handles() const
    {
        return m_handles;
    } ///< right, left, on the curves

protected:
    void rebuild() override;
    void fitAxes() override;
    QString textAt(const QPointF &place) const override;
    QString summary() const override;
    void pick(const QPointF &) override { }
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QCPAxisRect *addRect();
    void fitTexts();
    void arrange();
    void followThreshold();
    void placeAll();
    void placeHandles();
    ChartLook look() const;
    QString whyEmpty() const;
    tensor::DType assignedType() const;

    ThresholdEditor *m_editor;
    QCPAxisRect *m_valueRect;
    QCPAxisRect *m_exponentRect;
    QCPAxisRect *m_curveRect;
    QCPLayoutGrid *m_upper = nullptr; ///< null before the first arrange()
    ValueChart m_values;
    ExponentChart m_exponents;
    CurveChart m_curves;
    std::vector<ThresholdHandle *> m_handles;
    std::shared_ptr<const walks::CalibrateOutcome> m_kept; ///< that the tensor drawn is of
    const calibration::CalibratedTensor *m_tensor = nullptr;
    std::array<QRect, 3> m_placed; ///< where the drawings were when their marks were placed
    bool m_isWide = false;
    bool m_isFilling = false;
};

} // namespace halftone::widgets

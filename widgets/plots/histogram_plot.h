#pragma once

#include "core/calibration/calibrated.h"
#include "widgets/plots/plot_panel.h"

#include <vector>

class QCPAbstractItem;
class QCPAxisRect;
class QCPBars;
class QCPItemRect;
class QCPItemStraightLine;
class QCPItemText;

namespace halftone::widgets {

/// The values of the chosen tensor over the calibration data: on the left how often each value comes, counts on a
/// logarithmic axis, with the ends of float16's range; on the right how often each power of two comes, against what float16,
/// bfloat16 and float32 can hold.
class HistogramPlot : public PlotPanel
{
    Q_OBJECT

public:
    explicit HistogramPlot(DocumentController *controller, QWidget *parent = nullptr);

    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    QString textAt(const QPointF &place) const override;
    QString summary() const override;
    void pick(const QPointF &) override { }

private:
    void fillValues();
    void fillExponents();
    void addBand(int lowest, int highest, double row, const QString &text, const QColor &colour);
    void placeBands();
    void placeRangeMarks();
    void addRangeMark(double value);
    const calibration::CalibratedTensor *chosen() const;
    QString whyEmpty() const;

    QCPAxisRect *m_valueRect;
    QCPAxisRect *m_exponentRect;
    QCPBars *m_values;
    QCPBars *m_exponents;
    /// A format's powers of two, in rows from the top.
    struct Band
    {
        QCPItemRect *field = nullptr;
        QCPItemText *label = nullptr;
        double row = 0;
    };
    std::vector<QCPAbstractItem *> m_marks;
    std::vector<Band> m_bands;
    /// An end of float16's range.
    struct RangeMark
    {
        QCPItemStraightLine *line = nullptr;
        QCPItemText *text = nullptr;
        double value = 0;
    };
    std::vector<RangeMark> m_rangeMarks;
    const calibration::CalibratedTensor *m_tensor = nullptr; ///< of the calibration outcome in m_kept
    std::shared_ptr<const session::CalibrateOutcome> m_kept;
    bool m_isFilling = false;
};

} // namespace halftone::widgets

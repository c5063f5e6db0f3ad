#pragma once

#include "core/calibration/threshold_study.h"
#include "widgets/plots/chart_parts.h"

#include <array>

class QCPBars;
class QCPItemRect;
class QCPItemStraightLine;

namespace halftone::widgets {

/// How often each value of a tensor comes, counts on a logarithmic axis, with what every method would clip at and the ends of
/// the target type's range; what the threshold in hand clips is shaded.
class ValueChart
{
public:
    explicit ValueChart(QCPAxisRect *rect);

    /// study  null while it is computed: without the methods
    void show(const calibration::CalibratedTensor &tensor, const calibration::ThresholdStudy *study,
              const ChartLook &look);
    void clear();
    void setThreshold(double threshold, double clipped); ///< 0: none
    void fit(); ///< the horizontal axis for all values
    void fillBars(); ///< for the axis as it is

    /// Which sides of zero have values: a threshold is drawn there.
    bool hasSide(int sign) const;
    QString textAt(double x) const;

private:
    int wordSide() const;
    void addMarks(const calibration::ThresholdStudy *study, const ChartLook &look);

    QCPAxisRect *m_rect;
    QCPBars *m_bars;
    LabelledMarks m_marks;
    /// Below -threshold and above it.
    std::array<QCPItemRect *, 2> m_shades{};
    std::array<QCPItemStraightLine *, 2> m_lines{};
    QCPItemText *m_clipped;
    const calibration::CalibratedTensor *m_tensor = nullptr;
    double m_end = 65504; ///< of the target type's range
    double m_threshold = 0;
    double m_highest = 1; ///< of the bars that are shown
};

} // namespace halftone::widgets

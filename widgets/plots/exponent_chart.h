#pragma once

#include "core/calibration/calibrated.h"
#include "core/tensor/dtype.h"
#include "widgets/plots/chart_parts.h"

class QCPBars;
class QCPItemRect;

namespace halftone::widgets {

/// How often each power of two comes, against what float32, bfloat16 and float16 can hold and what int8 codes with the
/// threshold in hand can tell apart. Bars outside the assigned format are in the warning colour.
class ExponentChart
{
public:
    explicit ExponentChart(QCPAxisRect *rect);

    /// assigned  the format that the tensor is in; others than 16-bit floats and int8 warn of nothing
    void show(const calibration::CalibratedTensor &tensor, tensor::DType assigned, const ChartLook &look);
    void clear();
    void setThreshold(double threshold); ///< 0: no int8 codes
    void fit();
    void placeBands(); ///< for the size as it is

    QString textAt(double x) const;

private:
    /// Powers of two that a format has, in rows from the top.
    struct Band
    {
        QCPItemRect *field = nullptr;
        QCPItemText *label = nullptr;
        int row = 0;
    };
    enum BandIndex
    {
        Float32,
        Float16,
        Subnormal, ///< of float16
        Int8,
        BandCount
    };
    static constexpr int kRows = 3;

    void setBand(BandIndex band, int lowest, int highest);
    void styleBand(BandIndex band, const QString &text, const QColor &colour, const ChartLook &look);
    void fillBars();
    bool isOutside(int exponent) const;

    QCPAxisRect *m_rect;
    QCPBars *m_inside;
    QCPBars *m_outside;
    Band m_bands[BandCount];
    const calibration::CalibratedTensor *m_tensor = nullptr;
    tensor::DType m_assigned = tensor::DType::Unknown;
    double m_threshold = 0;
    int m_lineHeight = 0;
};

} // namespace halftone::widgets

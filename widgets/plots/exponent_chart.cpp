#include "widgets/plots/exponent_chart.h"

#include "core/base/text.h"
#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/plots/custom_plot.h"

#include <QFontMetrics>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

using calibration::ExponentCounts;
using tensor::DType;

constexpr double kLowestCount = 0.5;

/// Exponents of the numbers that a format has (IEEE 754 binary16 and binary32; bfloat16 has binary32's).
constexpr int kFloat16Lowest = -24; ///< subnormal
constexpr int kFloat16Normal = -14;
constexpr int kFloat16Highest = 15;
constexpr int kFloat32Normal = -126;
constexpr int kFloat32Highest = 127;
/// Powers of two from the largest code down to the step between codes.
constexpr int kInt8Bits = 7;

} // namespace

ExponentChart::ExponentChart(QCPAxisRect *rect)
    : m_rect(rect)
    , m_inside(new QCPBars(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft)))
    , m_outside(new QCPBars(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft)))
{
    for (QCPBars *bars : {m_inside, m_outside}) {
        bars->setBaseValue(kLowestCount);
        bars->setWidth(0.9);
        bars->setPen(Qt::NoPen);
    }
    const int rows[BandCount] = {0, 1, 1, 2};
    for (int k = 0; k < BandCount; ++k) {
        m_bands[k] = {new QCPItemRect(rect->parentPlot()), new QCPItemText(rect->parentPlot()), rows[k]};
        for (QCPAbstractItem *item : {static_cast<QCPAbstractItem *>(m_bands[k].field),
                                      static_cast<QCPAbstractItem *>(m_bands[k].label)})
            anchor(item, rect, Place::Coords, Place::Share);
        m_bands[k].label->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    setBand(Float32, kFloat32Normal, kFloat32Highest);
    setBand(Float16, kFloat16Normal, kFloat16Highest);
    setBand(Subnormal, kFloat16Lowest, kFloat16Normal - 1);
    clear();
}

void ExponentChart::clear()
{
    m_tensor = nullptr;
    m_inside->data()->clear();
    m_outside->data()->clear();
    setThreshold(0);
}

void ExponentChart::setBand(BandIndex band, int lowest, int highest)
{
    QCPItemRect *const field = m_bands[band].field;
    field->topLeft->setCoords(lowest - 0.5, field->topLeft->value());
    field->bottomRight->setCoords(highest + 0.5, field->bottomRight->value());
    QCPItemText *const label = m_bands[band].label;
    label->position->setCoords(std::min(highest, kFloat16Highest) + 0.3, label->position->value());
}

void ExponentChart::styleBand(BandIndex band, const QString &text, const QColor &colour,
                              const ChartLook &look)
{
    QColor fill = colour;
    fill.setAlphaF(band == Subnormal ? 0.12F : 0.3F);
    m_bands[band].field->setBrush(fill);
    m_bands[band].field->setPen(QPen(colour, 1, band == Subnormal ? Qt::DashLine : Qt::SolidLine));
    m_bands[band].label->setText(text);
    m_bands[band].label->setColor(look.text);
    m_bands[band].label->setFont(look.font);
}

void ExponentChart::show(const calibration::CalibratedTensor &tensor, DType assigned, const ChartLook &look)
{
    m_tensor = &tensor;
    m_assigned = assigned;
    m_lineHeight = QFontMetrics(look.font).height() + 2;
    m_inside->setBrush(look.bars);
    m_outside->setBrush(look.warning);
    const auto colour = [&](DType type) { return precisionLook(type, look.isDark).colour; };
    styleBand(Float32, QStringLiteral("f32, b16"), colour(DType::BF16), look);
    styleBand(Float16, QStringLiteral("f16"), colour(DType::F16), look);
    styleBand(Subnormal, QObject::tr("sub"), colour(DType::F16), look);
    styleBand(Int8, QStringLiteral("i8"), colour(DType::I8), look);
    fillBars();
}

bool ExponentChart::isOutside(int exponent) const
{
    switch (m_assigned) {
    case DType::F16:
        return exponent < kFloat16Normal || exponent > kFloat16Highest;
    case DType::BF16:
        return exponent < kFloat32Normal;
    case DType::I8:
    case DType::U8: {
        const int highest = m_threshold > 0 ? std::ilogb(m_threshold) : kFloat32Highest;
        return exponent > highest || exponent < highest - kInt8Bits;
    }
    default:
        return false;
    }
}

void ExponentChart::fillBars()
{
    QVector<double> x[2], y[2];
    double highest = 1;
    for (int e = ExponentCounts::kLowest; m_tensor && e <= ExponentCounts::kHighest; ++e) {
        const auto count = static_cast<double>(m_tensor->statistics.exponents.at(e));
        if (count == 0)
            continue;
        const int place = isOutside(e) ? 1 : 0;
        x[place] << e;
        y[place] << count;
        highest = std::max(highest, count);
    }
    m_inside->setData(x[0], y[0], true);
    m_outside->setData(x[1], y[1], true);
    m_rect->axis(QCPAxis::atLeft)
        ->setRange(kLowestCount, upperLimit(kLowestCount, highest, m_rect, kRows * m_lineHeight));
}

void ExponentChart::setThreshold(double threshold)
{
    m_threshold = threshold;
    for (QCPAbstractItem *item : {static_cast<QCPAbstractItem *>(m_bands[Int8].field),
                                  static_cast<QCPAbstractItem *>(m_bands[Int8].label)})
        item->setVisible(threshold > 0);
    if (threshold > 0) {
        const int highest = std::ilogb(threshold);
        setBand(Int8, highest - kInt8Bits, highest);
    }
    if (m_tensor && (m_assigned == DType::I8 || m_assigned == DType::U8))
        fillBars();
}

void ExponentChart::fit()
{
    int lowest = kFloat16Lowest;
    int highest = kFloat16Highest;
    for (int e = ExponentCounts::kLowest; e <= ExponentCounts::kHighest; ++e) {
        if (m_tensor->statistics.exponents.at(e) > 0) {
            lowest = std::min(lowest, e);
            highest = std::max(highest, e);
        }
    }
    m_rect->axis(QCPAxis::atBottom)->setRange(lowest - 2.5, highest + 3.5);
}

/// Bands are as high as a line of text, however high the plot is.
void ExponentChart::placeBands()
{
    const double line = static_cast<double>(m_lineHeight) / std::max(1, m_rect->height());
    for (const Band &band : m_bands) {
        const auto setY
            = [](QCPItemPosition *position, double y) { position->setCoords(position->key(), y); };
        setY(band.field->topLeft, (band.row + 0.1) * line);
        setY(band.field->bottomRight, (band.row + 0.95) * line);
        setY(band.label->position, (band.row + 0.52) * line);
    }
    fillBars();
}

QString ExponentChart::textAt(double x) const
{
    const int e = static_cast<int>(std::round(x));
    if (!m_tensor || e < ExponentCounts::kLowest || e > ExponentCounts::kHighest)
        return {};
    return QObject::tr("%1 of %2 values from 2^%3 to 2^%4")
        .arg(plain(grouped(m_tensor->statistics.exponents.at(e))), plain(grouped(m_tensor->statistics.count)))
        .arg(e)
        .arg(e + 1);
}

} // namespace halftone::widgets

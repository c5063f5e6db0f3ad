#include "widgets/common/precision_palette.h"

#include "core/report/precision_colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halftone::widgets {
namespace {

using tensor::DType;

QColor mixed(const QColor &a, const QColor &b, double share)
{
    const auto channel = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return QColor(channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()));
}

double luminance(const QColor &colour)
{
    const auto linear
        = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF())
        + 0.0722 * linear(colour.blueF());
}

QColor ground(bool dark)
{
    return dark ? QColor(0x2b, 0x2d, 0x30) : QColor(Qt::white);
}

Qt::BrushStyle brushOf(BandPattern pattern)
{
    switch (pattern) {
    case BandPattern::Diagonal:
        return Qt::BDiagPattern;
    case BandPattern::Dots:
        return Qt::Dense5Pattern;
    case BandPattern::CrossHatch:
        return Qt::DiagCrossPattern;
    case BandPattern::None:
        break;
    }
    return Qt::SolidPattern;
}

PrecisionLook filled(const report::PrecisionColours &colours, bool dark)
{
    PrecisionLook look;
    look.colour = QColor(QLatin1String(dark ? colours.onDark : colours.onLight));
    look.tint = mixed(ground(dark), look.colour, dark ? 0.22 : 0.14);
    look.badge = QLatin1String(colours.badge);
    look.pattern = brushOf(colours.pattern);
    return look;
}

PrecisionLook outlined(bool dark, const char *badge)
{
    PrecisionLook look;
    look.colour = dark ? QColor(0x9a, 0x9d, 0xa3) : QColor(0x70, 0x74, 0x7a);
    look.tint = ground(dark);
    look.badge = QLatin1String(badge);
    look.outlined = true;
    return look;
}

} // namespace

bool isDark(const QPalette &palette)
{
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

double contrastRatio(const QColor &a, const QColor &b)
{
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05) / (low + 0.05);
}

QColor warningColour(const QPalette &palette)
{
    return isDark(palette) ? QColor(0xff, 0xc1, 0x4d) : QColor(0x8a, 0x5a, 0x00);
}

QColor hoverColour(const QPalette &palette)
{
    constexpr double kShare = 0.16; // secondary text stays readable on it
    const QColor base = palette.color(QPalette::Base);
    const QColor accent = palette.color(QPalette::Highlight);
    const auto mixed = [](int from, int to) { return from + static_cast<int>((to - from) * kShare); };
    return QColor(mixed(base.red(), accent.red()), mixed(base.green(), accent.green()),
                  mixed(base.blue(), accent.blue()));
}

PrecisionLook precisionLook(DType type, bool dark)
{
    if (const report::PrecisionColours *const colours = report::precisionColours(type))
        return filled(*colours, dark);
    switch (type) {
    case DType::F64:
        return outlined(dark, "f64");
    case DType::I32:
        return outlined(dark, "i32");
    case DType::I64:
        return outlined(dark, "i64");
    case DType::Bool:
        return outlined(dark, "bool");
    case DType::I4:
        return outlined(dark, "i4");
    case DType::U4:
        return outlined(dark, "u4");
    case DType::I2:
        return outlined(dark, "i2");
    case DType::U2:
        return outlined(dark, "u2");
    case DType::F4E2M1:
        return outlined(dark, "e2m1");
    case DType::F8E8M0:
        return outlined(dark, "e8m0");
    default:
        return outlined(dark, "?");
    }
}

PrecisionLook followingLook(bool dark)
{
    return outlined(dark, "=");
}

QColor seriesColour(std::size_t series, bool dark)
{
    const report::SeriesColours &colours = report::kSeriesColours.at(series);
    return QColor(QLatin1String(dark ? colours.onDark : colours.onLight));
}

QColor sequentialColour(double share, bool dark)
{
    // One hue that no precision has, luminance falling evenly, so that the order is seen without colour.
    static const std::array<QColor, 5> kScale{QColor(0xe9, 0xe5, 0xd5), QColor(0xbd, 0xb7, 0x96),
                                              QColor(0x8e, 0x87, 0x5b), QColor(0x60, 0x5a, 0x31),
                                              QColor(0x34, 0x31, 0x13)};
    const double bounded = std::isnan(share) ? 1 : std::clamp(share, 0.0, 1.0);
    const double place = (dark ? 1 - bounded : bounded) * (static_cast<double>(kScale.size()) - 1);
    const auto lower = std::min(static_cast<std::size_t>(place), kScale.size() - 2);
    return mixed(kScale[lower], kScale[lower + 1], place - static_cast<double>(lower));
}

} // namespace halftone::widgets

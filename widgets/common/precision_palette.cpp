#include "widgets/common/precision_palette.h"

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

QColor ground(bool dark)
{
    return dark ? QColor(0x2b, 0x2d, 0x30) : QColor(Qt::white);
}

PrecisionLook filled(const char *light, const char *darkColour, bool dark, const char *badge,
                     Qt::BrushStyle pattern)
{
    PrecisionLook look;
    look.colour = QColor(QLatin1String(dark ? darkColour : light));
    look.tint = mixed(ground(dark), look.colour, dark ? 0.22 : 0.14);
    look.badge = QLatin1String(badge);
    look.pattern = pattern;
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

PrecisionLook precisionLook(DType type, bool dark)
{
    switch (type) {
    case DType::F32:
        return filled("#0072B2", "#56B4E9", dark, "f32", Qt::SolidPattern);
    case DType::F16:
        return filled("#D55E00", "#E69F00", dark, "f16", Qt::BDiagPattern);
    case DType::BF16:
        return filled("#CC79A7", "#E3A6C6", dark, "b16", Qt::Dense5Pattern);
    case DType::I8:
        return filled("#009E73", "#35C79B", dark, "i8", Qt::DiagCrossPattern);
    case DType::U8:
        return filled("#009E73", "#35C79B", dark, "u8", Qt::DiagCrossPattern);
    case DType::F64:
        return outlined(dark, "f64");
    case DType::I32:
        return outlined(dark, "i32");
    case DType::I64:
        return outlined(dark, "i64");
    case DType::Bool:
        return outlined(dark, "bool");
    default:
        return outlined(dark, "?");
    }
}

PrecisionLook followingLook(bool dark)
{
    return outlined(dark, "=");
}

QColor sequentialColour(double share, bool dark)
{
    // One hue, luminance falling evenly, so that the order is seen without colour.
    static const std::array<QColor, 5> kScale{QColor(0xd9, 0xe8, 0xf1), QColor(0x9f, 0xc4, 0xdb),
                                              QColor(0x5b, 0x92, 0xbd), QColor(0x2f, 0x5d, 0x99),
                                              QColor(0x1d, 0x2a, 0x66)};
    const double bounded = std::isnan(share) ? 1 : std::clamp(share, 0.0, 1.0);
    const double place = (dark ? 1 - bounded : bounded) * (static_cast<double>(kScale.size()) - 1);
    const auto lower = std::min(static_cast<std::size_t>(place), kScale.size() - 2);
    return mixed(kScale[lower], kScale[lower + 1], place - static_cast<double>(lower));
}

} // namespace halftone::widgets

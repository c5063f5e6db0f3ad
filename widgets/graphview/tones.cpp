#include "widgets/graphview/tones.h"

#include "widgets/common/precision_palette.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {
namespace {

constexpr std::uint32_t kDeepest = 4; ///< frames within frames that are told apart

Tone toneOf(const PrecisionLook &look, const QColor &ground)
{
    Tone tone;
    tone.band = look.colour;
    tone.body = look.outlined ? ground : look.tint;
    tone.border = look.outlined ? look.colour : blended(look.colour, ground, 0.25);
    tone.badge = look.badge;
    tone.pattern = look.pattern;
    tone.isOutlined = look.outlined;
    return tone;
}

} // namespace

QColor blended(const QColor &a, const QColor &b, double share)
{
    const auto channel = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return {channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue())};
}

QColor readableOn(const QColor &ground)
{
    const QColor dark(0x10, 0x12, 0x16);
    const QColor better
        = contrastRatio(dark, ground) > contrastRatio(Qt::white, ground) ? dark : QColor(Qt::white);
    return contrastRatio(better, ground) >= kLeastContrast ? better : QColor(Qt::black);
}

Tones::Tones(const QPalette &palette)
    : m_isDark(widgets::isDark(palette))
    , m_ground(palette.color(QPalette::Base))
    , m_text(palette.color(QPalette::Text))
    , m_secondText(blended(m_text, m_ground, m_isDark ? 0.18 : 0.32)) // 4.5 : 1 on every tint
    , m_line(blended(m_ground, m_text, 0.5))
    , m_accent(seenOnFrames(palette.color(QPalette::Highlight)))
    , m_amber(m_isDark ? QColor(0xff, 0xb7, 0x2b) : QColor(0xb8, 0x6e, 0x00))
    , m_warningText(warningColour(palette))
{
    for (std::size_t k = 0; k < m_byType.size(); ++k)
        m_byType[k] = toneOf(precisionLook(static_cast<tensor::DType>(k), m_isDark), m_ground);
    m_following = toneOf(followingLook(m_isDark), m_ground);
}

/// Nearer to the text's colour where it would not be.
QColor Tones::seenOnFrames(const QColor &colour) const
{
    constexpr double kLeast = 3; // of lines and marks (WCAG 2.1, 1.4.11)
    QColor seen = colour;
    for (int tenths = 1; tenths < 10; ++tenths) {
        if (contrastRatio(seen, m_ground) >= kLeast && contrastRatio(seen, frame(kDeepest)) >= kLeast)
            break;
        seen = blended(colour, m_text, tenths / 10.0);
    }
    return seen;
}

QColor Tones::frame(std::uint32_t depth) const
{
    return blended(m_ground, m_text, 0.03 + 0.02 * std::min(depth, kDeepest));
}

QColor Tones::secondOn(const QColor &ground) const
{
    const QColor first = readableOn(ground);
    const QColor second = blended(first, ground, 0.2);
    return contrastRatio(second, ground) >= kLeastContrast ? second : first;
}

QColor Tones::scale(float share) const
{
    return sequentialColour(static_cast<double>(share), m_isDark);
}

} // namespace halftone::widgets

#pragma once

#include "core/tensor/dtype.h"
#include "widgets/graphview/looks.h"

#include <QColor>
#include <QPalette>
#include <QString>

#include <array>

namespace halftone::widgets {

/// A part of `b` in `a`.
QColor blended(const QColor &a, const QColor &b, double share);
/// Black or white, whichever is read better on `ground` (WCAG 2.1 contrast ratio).
QColor readableOn(const QColor &ground);

/// The colours of one kind of item.
struct Tone
{
    QColor band;
    QColor body;
    QColor border;
    QString badge;
    Qt::BrushStyle pattern = Qt::SolidPattern;
    bool isOutlined = false;
};

/// All colours that a scene is drawn in, for one palette.
class Tones
{
public:
    explicit Tones(const QPalette &palette);

    bool isDark() const { return m_isDark; }
    const QColor &ground() const { return m_ground; }
    const QColor &text() const { return m_text; }
    const QColor &secondText() const { return m_secondText; }
    const QColor &line() const { return m_line; }
    const QColor &accent() const
    {
        return m_accent;
    } ///< of what is selected: 3 to 1 on the ground and on frames
    const QColor &amber() const { return m_amber; } ///< of marks and lines
    const QColor &warningText() const { return m_warningText; }
    QColor frame(std::uint32_t depth) const;
    const Tone &of(tensor::DType type) const { return m_byType[static_cast<std::size_t>(type)]; }
    const Tone &of(const ItemLook &look) const { return look.follows ? m_following : of(look.type); }
    QColor scale(float share) const; ///< of figures
    QColor secondOn(const QColor &ground) const; ///< of a second text where readableOn() is the first's
    /// What is beside the point is drawn at 40 %.
    QColor faded(const QColor &colour) const { return blended(m_ground, colour, 0.4); }

private:
    QColor seenOnFrames(const QColor &colour) const;

    bool m_isDark;
    QColor m_ground, m_text, m_secondText, m_line, m_accent, m_amber, m_warningText;
    std::array<Tone, tensor::kTypes> m_byType;
    Tone m_following;
};

} // namespace halftone::widgets

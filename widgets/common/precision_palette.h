#pragma once

#include "core/tensor/dtype.h"

#include <QBrush>
#include <QColor>
#include <QPalette>
#include <QString>

namespace halftone::widgets {

/// How a precision is told apart without hue alone: colour, badge and pattern, as report::precisionColours() has them.
struct PrecisionLook
{
    QColor colour; ///< of bands and badges
    QColor tint; ///< of a node's body
    QString badge; ///< "f32", "f16", "b16", "i8", "=", "?"
    Qt::BrushStyle pattern
        = Qt::SolidPattern; ///< drawn over the band in the body's colour; SolidPattern: none
    bool outlined = false; ///< no fill
};

/// Is the palette a dark one?
bool isDark(const QPalette &palette);
PrecisionLook precisionLook(tensor::DType type, bool dark);
/// For an operator that follows its inputs, or whose type nothing tells.
PrecisionLook followingLook(bool dark);

inline constexpr double kLeastContrast = 4.5; ///< of a text (WCAG 2.1, success criterion 1.4.3)
/// WCAG 2.1's contrast ratio, 1 to 21.
double contrastRatio(const QColor &a, const QColor &b);

/// Of a warning's text: 4.5 to 1 on every ground that texts are on (WCAG 2.1, 1.4.3).
QColor warningColour(const QPalette &palette);

/// The ground of a row that the mouse is over, here or in another view. Opaque, since a cell's ground is painted twice.
QColor hoverColour(const QPalette &palette);

/// Of the first or the second curve of figures, which tell of no precision.
QColor seriesColour(std::size_t series, bool dark);

/// A scale from light (harmless) to dark (bad) for errors and times; in dark themes from dark to light. share in [0, 1].
QColor sequentialColour(double share, bool dark);

} // namespace halftone::widgets

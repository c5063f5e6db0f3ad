#pragma once

#include <QWidget>

namespace halftone::app {

/// Is the window of a widget so low that bars and panels must save lines, as on a screen of 1920 × 1080 pixels at 200 %?
inline bool isInLowWindow(const QWidget &widget)
{
    constexpr int kLines = 40;
    return widget.window()->height() < kLines * widget.fontMetrics().lineSpacing();
}

} // namespace halftone::app

#pragma once

#include <QPixmap>
#include <QPoint>

class QWidget;

namespace halftone::widgets {

/// Where the pointer is in what a drag shows: above its left end, so that it covers nothing under the pointer.
inline constexpr QPoint kBesidePointer{-12, -12};

/// What a drag from `source` shows beside the pointer: a text on the colour of selections.
QPixmap dragLabel(const QString &text, const QWidget &source);

} // namespace halftone::widgets

#pragma once

#include <QIcon>
#include <QPalette>

namespace halftone::app {

enum class Glyph
{
    Open,
    Save,
    Undo,
    Redo,
    Stop,
    Play,
};

/// A line drawing in the palette's colour of button texts, sharp at every scale.
QIcon lineIcon(Glyph glyph, const QPalette &palette);

} // namespace halftone::app

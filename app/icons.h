#pragma once

#include <QIcon>

namespace halftone::app {

enum class Glyph
{
    Open,
    Save,
    Undo,
    Redo,
    Stop,
    Play,
    Close,
    Float,
};

/// A line drawing, sharp at every scale, in the colour that the application's palette has for texts on buttons when it is painted.
QIcon lineIcon(Glyph glyph);

} // namespace halftone::app

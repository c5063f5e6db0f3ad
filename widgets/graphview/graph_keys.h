#pragma once

#include <Qt>

namespace halftone::widgets {

/// What a key asks of the graph.
enum class GraphCommand
{
    None,
    ZoomIn,
    ZoomOut,
    ZoomToFull,
    Find,
    FindNext,
    FindPrevious,
    SelectAll,
    Back,
    Forward,
    Walk, ///< in the direction of the key
    PageUp,
    PageDown,
    Fit,
    ShowCounterpart,
    OpenOrClose,
    GoUp,
    Leave, ///< the find panel, else the selection
};

GraphCommand commandOf(int key, Qt::KeyboardModifiers modifiers);

} // namespace halftone::widgets

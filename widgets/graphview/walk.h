#pragma once

#include "widgets/graphview/scene.h"

namespace halftone::widgets {

enum class Direction
{
    Up, ///< to what it reads
    Down, ///< to what reads it
    Left, ///< to its neighbour in the row
    Right,
};

/// The item that an arrow key leads to; the same one where there is none.
ItemIndex neighbourOf(const Scene &scene, ItemIndex item, Direction direction);

} // namespace halftone::widgets

#pragma once

namespace halftone {

/// How a band of colour is told apart without its hue, in the window, in pictures and on pages.
enum class BandPattern
{
    None,
    Diagonal,
    Dots,
    CrossHatch,
};

} // namespace halftone

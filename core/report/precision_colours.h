#pragma once

#include "core/tensor/dtype.h"

#include <span>
#include <string>

namespace halftone::report {

/// How a band in a precision's colour is told apart without its hue.
enum class BandPattern
{
    None,
    Diagonal,
    Dots,
    CrossHatch,
};

/// How a precision looks, in the window, in pictures and on pages. Colours are Okabe and Ito's ("Color Universal Design",
/// 2008), which stay apart for colour-blind eyes, as "#rrggbb".
struct PrecisionColours
{
    tensor::DType type;
    const char *badge; ///< "f16"
    const char *onLight; ///< grounds
    const char *onDark;
    BandPattern pattern;
};

/// Those that a conversion computes in.
std::span<const PrecisionColours> precisionColours();
/// Null for types that have no colour.
const PrecisionColours *precisionColours(tensor::DType type);
/// A light tint of a colour, for the ground of a text.
std::string tintOnLight(const char *colour);

} // namespace halftone::report

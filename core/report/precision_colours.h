#pragma once

#include "core/base/band_pattern.h"
#include "core/tensor/dtype.h"

#include <array>
#include <span>
#include <string>

namespace halftone::report {

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
/// Of what is drawn of figures: no precision's, which a curve of errors would be taken for.
struct SeriesColours
{
    const char *onLight; ///< grounds
    const char *onDark;
};
inline constexpr std::array kSeriesColours{SeriesColours{"#5b3fa0", "#b9a3f0"},
                                           SeriesColours{"#6b5a00", "#d9cf7a"}};

/// A light tint of a colour, for the ground of a text.
std::string tintOnLight(const char *colour);

} // namespace halftone::report

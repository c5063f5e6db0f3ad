#include "core/report/precision_colours.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace halftone::report {
namespace {

constexpr std::array kPrecisionColours{
    PrecisionColours{tensor::DType::F32, "f32", "#0072B2", "#56B4E9", BandPattern::None},
    PrecisionColours{tensor::DType::F16, "f16", "#D55E00", "#E69F00", BandPattern::Diagonal},
    PrecisionColours{tensor::DType::BF16, "b16", "#CC79A7", "#E3A6C6", BandPattern::Dots},
    PrecisionColours{tensor::DType::I8, "i8", "#009E73", "#35C79B", BandPattern::CrossHatch},
    PrecisionColours{tensor::DType::U8, "u8", "#009E73", "#35C79B", BandPattern::CrossHatch},
};

/// Formats for analysis stand in float16's place, in its colour.
constexpr std::array kAnalysisColours{
    PrecisionColours{tensor::DType::F8E4M3FN, "e4m3", "#D55E00", "#E69F00", BandPattern::Diagonal},
    PrecisionColours{tensor::DType::F8E5M2, "e5m2", "#D55E00", "#E69F00", BandPattern::Diagonal},
    PrecisionColours{tensor::DType::TF32, "tf32", "#D55E00", "#E69F00", BandPattern::Diagonal},
    PrecisionColours{tensor::DType::Posit16, "p16", "#D55E00", "#E69F00", BandPattern::Diagonal},
};

constexpr double kTint = 0.14; ///< share of the colour

} // namespace

std::span<const PrecisionColours> precisionColours()
{
    return kPrecisionColours;
}

const PrecisionColours *precisionColours(tensor::DType type)
{
    if (const auto *const found = std::ranges::find(kPrecisionColours, type, &PrecisionColours::type);
        found != kPrecisionColours.end())
        return found;
    const auto *const found = std::ranges::find(kAnalysisColours, type, &PrecisionColours::type);
    return found == kAnalysisColours.end() ? nullptr : found;
}

std::string tintOnLight(const char *colour)
{
    std::array<unsigned, 3> channels{};
    std::sscanf(colour, "#%2x%2x%2x", &channels[0], &channels[1], &channels[2]);
    std::array<char, 16> text{};
    for (unsigned &channel : channels)
        channel = static_cast<unsigned>(std::lround(255 + (static_cast<double>(channel) - 255) * kTint));
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", channels[0], channels[1], channels[2]);
    return text.data();
}

} // namespace halftone::report

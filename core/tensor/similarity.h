#pragma once

#include <span>

namespace halftone::tensor {

/// The peak signal-to-noise ratio 10·log10(peak² / mean (x − r)²) in dB; infinite where nothing differs, NaN with NaN in either.
/// Needs: as many values in both, at least one.
double psnrDb(std::span<const float> reference, std::span<const float> values, double peak);

/// r·x / (|r| |x|), in [-1, 1]; both zero: 1; one zero: 0. Needs: as many values in both.
double cosineOf(std::span<const float> reference, std::span<const float> values);

} // namespace halftone::tensor

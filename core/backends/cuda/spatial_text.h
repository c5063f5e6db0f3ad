#pragma once

#include "core/backends/cuda/element_kernel.h"
#include "core/ops/op_coded.h"
#include "core/ops/window.h"

#include <optional>
#include <string>

namespace halftone::backends::cuda {

/// Channels behind the batch, whatever the format's layout: of data, and of weights (outputs, kernel…, inputs).
View channelsFirst(const View &view, ops::Layout layout);

/// A window over tensors (N, C, spatial…): views are permuted to that before.
struct SpatialText
{
    ops::Window window;
    View data;
    View result;
    std::int64_t groups = 1;
    Sums sums{};
};

/// Bodies for perElement(): each defines `acc` of the element at c0, c1, ….

/// p0 data, p1 weight (O, I / groups, kernel…).
std::string convolutionText(const SpatialText &op, const View &weight);
/// p0 data, p1 weight (I, O / groups, kernel…).
std::string transposedText(const SpatialText &op, const View &weight);

struct PoolText
{
    enum class Kind : std::uint8_t { Max, Average, Sum } kind = Kind::Max;
    bool countsPadding = true;
    double lowest = 0; ///< Max of nothing
    std::optional<ops::CodeScale>
        codes{}; ///< Average: the data are codes of it; the result is what they stand for
};
std::string poolText(const SpatialText &op, const PoolText &pool);
/// Defines `covered` of the element at c0, c1, …: a window is as long as it reaches within data and padding. Sees `taps`.
std::string coveredText(const SpatialText &op);

} // namespace halftone::backends::cuda

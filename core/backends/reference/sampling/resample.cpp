#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/ops/resampled.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {
namespace {

using ops::Resize;

/// What one place of the output takes: neighbours of the input from `first` on, by weight.
struct Taps
{
    std::int64_t first = 0;
    std::vector<double> weights;
    bool isOutside = false; ///< beyond the region: Resize::outside
};

/// Where in the input, of `extent`, place `x` lies.
double placeOf(const Resize &op, const ops::ResampledAxis &axis, double extent, double x)
{
    using Places = Resize::Places;
    const double scaled = axis.scale * extent; // the output's extent before it was rounded
    switch (op.places) {
    case Places::HalfPixel:
        return (x + 0.5) / axis.scale - 0.5;
    case Places::HalfPixelSymmetric:
        return extent / 2 * (1 - axis.extent / scaled) + (x + 0.5) / axis.scale - 0.5;
    case Places::HalfPixelOrZero:
        return axis.extent == 1 ? 0 : (x + 0.5) / axis.scale - 0.5;
    case Places::HalfPixelNearest:
        return (x + 0.5) / axis.scale;
    case Places::AlignCorners:
        return scaled == 1 ? 0 : x * (extent - 1) / (scaled - 1);
    case Places::Asymmetric:
        return x / axis.scale;
    case Places::Region:
        return scaled == 1
            ? axis.begin * (extent - 1) + (axis.end - axis.begin) * (extent - 1) / 2
            : axis.begin * (extent - 1) + x * (axis.end - axis.begin) * (extent - 1) / (scaled - 1);
    }
    return x;
}

/// Keys' cubic, 0 from a distance of 2 on.
double cubicWeight(double distance, double a)
{
    const double x = std::abs(distance);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double weightOf(const Resize &op, double distance)
{
    return op.mode == Resize::Mode::Cubic ? cubicWeight(distance, op.cubicCoefficient)
                                          : std::max(0.0, 1 - std::abs(distance));
}

std::int64_t nearest(Resize::Rounding rounding, double place)
{
    using Rounding = Resize::Rounding;
    switch (rounding) {
    case Rounding::HalfDown:
        return static_cast<std::int64_t>(std::ceil(place - 0.5));
    case Rounding::HalfUp:
        return static_cast<std::int64_t>(std::floor(place + 0.5));
    case Rounding::Down:
        return static_cast<std::int64_t>(std::floor(place));
    case Rounding::Up:
        break;
    }
    return static_cast<std::int64_t>(std::ceil(place));
}

Taps tapsAt(const Resize &op, const ops::ResampledAxis &axis, std::int64_t extent, std::int64_t x)
{
    const double last = static_cast<double>(extent - 1);
    const double place = placeOf(op, axis, static_cast<double>(extent), static_cast<double>(x));
    Taps taps;
    taps.isOutside = op.places == Resize::Places::Region && (place < 0 || place > last);
    if (op.mode == Resize::Mode::Nearest) {
        taps.first = nearest(op.rounding, std::clamp(place, -1.0, last + 1));
        taps.weights = {1};
        return taps;
    }
    // Of a picture that shrinks, antialiasing takes in as much as one place of the output covers.
    const double narrowed = op.antialias ? std::min(axis.scale, 1.0) : 1;
    const double reach = (op.mode == Resize::Mode::Cubic ? 2 : 1) / narrowed;
    const auto first = static_cast<std::int64_t>(std::floor(place - reach)) + 1;
    const auto end = static_cast<std::int64_t>(std::ceil(place + reach));
    taps.first = first;
    double sum = 0;
    for (std::int64_t i = first; i < end; ++i) {
        const bool counts = !op.excludeOutside || (i >= 0 && i < extent);
        taps.weights.push_back(counts ? weightOf(op, (static_cast<double>(i) - place) * narrowed) : 0);
        sum += taps.weights.back();
    }
    if ((op.antialias || op.excludeOutside) && sum != 0)
        for (double &weight : taps.weights)
            weight /= sum;
    return taps;
}

/// One axis resized: (outer, extent, inner) to (outer, taps, inner).
std::vector<double> resized(const std::vector<double> &data, const AxisView &view,
                            const std::vector<Taps> &taps, double outside)
{
    std::vector<double> result(view.outer * taps.size() * view.inner);
    double *out = result.data();
    const auto last = static_cast<std::int64_t>(view.length) - 1;
    for (std::size_t o = 0; o < view.outer; ++o) {
        for (const Taps &tap : taps) {
            for (std::size_t i = 0; i < view.inner; ++i) {
                double sum = 0;
                for (std::size_t k = 0; k < tap.weights.size(); ++k) {
                    const std::int64_t at
                        = std::clamp<std::int64_t>(tap.first + static_cast<std::int64_t>(k), 0, last);
                    if (tap.weights[k] != 0)
                        sum += tap.weights[k]
                            * data[(o * view.length + static_cast<std::size_t>(at)) * view.inner + i];
                }
                *out++ = tap.isOutside ? outside : sum;
            }
        }
    }
    return result;
}

} // namespace

template <class Real>
Result<void> compute(const ops::Resize &op, const Arrays<Real> &arrays)
{
    if (arrays.outCount(0) == 0)
        return {};
    if (arrays.inCount(0) == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "something to sample from");
    HALFTONE_TRY(const std::vector<ops::ResampledAxis> axes,
                 ops::resampledAxes(op, arrays.operation.inputs[0].shape));
    std::vector<std::int64_t> dims(arrays.inDims(0).begin(), arrays.inDims(0).end());
    std::vector<double> values(arrays.in[0], arrays.in[0] + arrays.inCount(0));
    for (const ops::ResampledAxis &axis : axes) {
        const auto length = static_cast<std::int64_t>(axis.extent);
        const bool isWhole = axis.begin == 0 && axis.end == 1;
        if (axis.scale == 1 && length == dims[axis.axis] && isWhole)
            continue;
        std::vector<Taps> taps;
        for (std::int64_t x = 0; x < length; ++x)
            taps.push_back(tapsAt(op, axis, dims[axis.axis], x));
        values = resized(values, AxisView(dims, axis.axis), taps, op.outside);
        dims[axis.axis] = length;
    }
    const bool isInteger = !tensor::isFloat(arrays.operation.outputs[0].dtype);
    std::ranges::transform(values, arrays.out[0], [isInteger](double x) {
        return static_cast<Real>(isInteger ? std::nearbyint(x) : x);
    });
    return {};
}

HALFTONE_BOTH(Resize)

} // namespace halftone::backends::reference

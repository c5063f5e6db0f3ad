#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

/// Sampling at the places of a grid.
namespace halftone::backends::reference {
namespace {

using ops::GridLookup;

/// Mirrored at both ends until it lies between them.
double reflected(double x, double low, double high)
{
    const double range = high - low;
    if (range <= 0)
        return low;
    const double distance = std::fmod(std::abs(x - low), 2 * range);
    return low + (distance > range ? 2 * range - distance : distance);
}

/// The neighbours of one place on one axis; a negative index is a zero beyond the edge.
struct Neighbours
{
    std::array<std::int64_t, 4> at{};
    std::array<double, 4> weights{};
    std::size_t count = 0;
};

/// An index brought inside as the mode says, or -1.
std::int64_t brought(const GridLookup &op, std::int64_t i, std::int64_t extent)
{
    if (i >= 0 && i < extent)
        return i;
    switch (op.outside) {
    case GridLookup::Outside::Zeros:
        return -1;
    case GridLookup::Outside::Border:
        return std::clamp<std::int64_t>(i, 0, extent - 1);
    case GridLookup::Outside::Reflection:
        break;
    }
    const double low = op.alignCorners ? 0 : -0.5;
    const auto mirrored = static_cast<std::int64_t>(
        reflected(static_cast<double>(i), low, static_cast<double>(extent - 1) - low));
    return std::clamp<std::int64_t>(mirrored, 0, extent - 1);
}

Neighbours neighboursOf(const GridLookup &op, double place, std::int64_t extent)
{
    using Mode = GridLookup::Mode;
    const auto length = static_cast<double>(extent);
    double x = op.alignCorners ? (place + 1) / 2 * (length - 1) : ((place + 1) * length - 1) / 2;
    if (op.mode == Mode::Nearest)
        x = std::nearbyint(x);
    const double low = op.alignCorners ? 0 : -0.5;
    const double high = length - 1 - low;
    if (x < low || x > high) {
        if (op.outside == GridLookup::Outside::Border)
            x = std::clamp(x, 0.0, length - 1);
        else if (op.outside == GridLookup::Outside::Reflection)
            x = reflected(x, low, high);
    }
    Neighbours found;
    if (!(std::abs(x) < 9e15)) // far beyond, or no number
        return found;
    if (op.mode == Mode::Nearest) {
        found.count = 1;
        found.at[0] = brought(op, static_cast<std::int64_t>(x), extent);
        found.weights[0] = 1;
        return found;
    }
    const auto whole = static_cast<std::int64_t>(std::floor(x));
    const double rest = x - static_cast<double>(whole);
    const bool isCubic = op.mode == Mode::Cubic;
    found.count = isCubic ? 4 : 2;
    constexpr double kA = -0.75;
    const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
    const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
    if (isCubic)
        found.weights = {far(rest + 1), near(rest), near(1 - rest), far(2 - rest)};
    else
        found.weights = {1 - rest, rest};
    for (std::size_t k = 0; k < found.count; ++k)
        found.at[k] = brought(op, whole + static_cast<std::int64_t>(k) - (isCubic ? 1 : 0), extent);
    return found;
}

/// The weighted sum over the neighbours of all axes from `axis` on.
template <class Real>
double sampled(const Real *data, DimSpan spatial, const std::vector<std::int64_t> &strides,
               const std::vector<Neighbours> &neighbours, std::size_t axis)
{
    if (axis == spatial.size())
        return static_cast<double>(*data);
    double sum = 0;
    const Neighbours &here = neighbours[axis];
    for (std::size_t k = 0; k < here.count; ++k)
        if (here.at[k] >= 0 && here.weights[k] != 0)
            sum += here.weights[k]
                * sampled(data + here.at[k] * strides[axis], spatial, strides, neighbours, axis + 1);
    return sum;
}

} // namespace

template <class Real>
Result<void> compute(const ops::GridLookup &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const DimSpan spatial = dims.subspan(2);
    const std::vector<std::int64_t> strides = denseStrides(spatial);
    const auto batches = static_cast<std::size_t>(dims[0]);
    const auto channels = static_cast<std::size_t>(dims[1]);
    const std::size_t plane = count(spatial);
    if (arrays.outCount(0) == 0)
        return {};
    if (plane == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "something to sample from");
    const std::size_t places = arrays.outCount(0) / batches / channels;
    const std::size_t axes = spatial.size();
    arrays.workers.share(batches * places, channels * 40, [&](std::size_t begin, std::size_t end) {
        std::vector<Neighbours> neighbours(axes);
        for (std::size_t p = begin; p < end; ++p) {
            const Real *place = arrays.in[1] + p * axes;
            for (std::size_t axis = 0; axis < axes; ++axis)
                neighbours[axis]
                    = neighboursOf(op, static_cast<double>(place[axes - 1 - axis]), spatial[axis]);
            for (std::size_t c = 0; c < channels; ++c) {
                const std::size_t n = p / places;
                arrays.out[0][(n * channels + c) * places + p % places] = static_cast<Real>(
                    sampled(arrays.in[0] + (n * channels + c) * plane, spatial, strides, neighbours, 0));
            }
        }
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::AffineGrid &op, const Arrays<Real> &arrays)
{
    const std::size_t axes = op.size.size() - 2;
    const DimSpan spatial = DimSpan(op.size).subspan(2);
    const std::vector<std::int64_t> strides = denseStrides(spatial);
    const std::size_t places = count(spatial);
    for (std::size_t i = 0; i < arrays.outCount(0) / axes; ++i) {
        const Real *matrix = arrays.in[0] + i / places * axes * (axes + 1);
        std::vector<double> from(axes + 1, 1.0); // the last axis first, then 1
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const auto x
                = static_cast<double>(static_cast<std::int64_t>(i % places) / strides[axis] % spatial[axis]);
            const auto extent = static_cast<double>(spatial[axis]);
            from[axes - 1 - axis]
                = op.alignCorners ? (extent > 1 ? -1 + 2 * x / (extent - 1) : -1) : -1 + (2 * x + 1) / extent;
        }
        for (std::size_t row = 0; row < axes; ++row) {
            double sum = 0;
            for (std::size_t column = 0; column <= axes; ++column)
                sum += static_cast<double>(matrix[row * (axes + 1) + column]) * from[column];
            arrays.out[0][i * axes + row] = static_cast<Real>(sum);
        }
    }
    return {};
}

HALFTONE_BOTH(GridLookup)
HALFTONE_BOTH(AffineGrid)

} // namespace halftone::backends::reference

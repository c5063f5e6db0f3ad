#include "core/backends/reference/kernels.h"
#include "core/backends/reference/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace halftone::backends::reference {
namespace {

/// Outputs from `first` on are scratch of the framework's kernels; here they are zeros.
template <class Real>
void clearScratch(const Arrays<Real> &arrays, std::size_t first)
{
    for (std::size_t i = first; i < arrays.out.size(); ++i) {
        if (arrays.out[i])
            std::fill_n(arrays.out[i], arrays.outCount(i), Real(0));
    }
}

/// Place number `i` of `count` places that cover [-1, 1].
template <class Real>
Real evenly(std::int64_t i, std::int64_t count)
{
    return Real(-1) + static_cast<Real>(i) * 2 / static_cast<Real>(count - 1);
}

/// x of all places and then their y, as a 2 × 3 matrix maps the output's places.
template <class Real>
void affineGrid(const Real *matrix, std::int64_t height, std::int64_t width, Real *grid)
{
    for (std::int64_t axis = 0; axis < 2; ++axis, matrix += 3) {
        for (std::int64_t y = 0; y < height; ++y) {
            for (std::int64_t x = 0; x < width; ++x)
                *grid++
                    = matrix[0] * evenly<Real>(x, width) + matrix[1] * evenly<Real>(y, height) + matrix[2];
        }
    }
}

/// One picture's channels at the places of a grid.
template <class Real>
void sampleAt(const Real *picture, DimSpan dims, const Real *grid, std::size_t places, Real *out)
{
    const auto pixel = [](Real at, std::int64_t size) { return (at + 1) * static_cast<Real>(size - 1) / 2; };
    for (std::int64_t c = 0; c < dims[1]; ++c, picture += dims[2] * dims[3]) {
        for (std::size_t i = 0; i < places; ++i) {
            const Real y = pixel(grid[places + i], dims[2]);
            const Real x = pixel(grid[i], dims[3]);
            // MXNet weighs zeros with the distance, which is not a number there.
            *out++ = std::isfinite(y) && std::isfinite(x) ? bilinear(picture, dims[2], dims[3], y, x)
                                                          : std::numeric_limits<Real>::quiet_NaN();
        }
    }
}

} // namespace

template <class Real>
Result<void> compute(const ops::SamplingGrid &op, const Arrays<Real> &arrays)
{
    clearScratch(arrays, 1);
    const DimSpan out = arrays.outDims(0);
    const std::int64_t places = out[2] * out[3];
    for (std::int64_t n = 0; n < out[0]; ++n) {
        Real *grid = arrays.out[0] + n * 2 * places;
        if (op.affine) {
            affineGrid(arrays.in[0] + n * 6, out[2], out[3], grid);
            continue;
        }
        const Real *flow = arrays.in[0] + n * 2 * places;
        for (std::int64_t i = 0; i < places; ++i) {
            const auto reach = [](std::int64_t size) { return static_cast<Real>(size - 1) / 2; };
            grid[i] = (flow[i] + static_cast<Real>(i % out[3])) / reach(out[3]) - 1;
            grid[places + i] = (flow[places + i] + static_cast<Real>(i / out[3])) / reach(out[2]) - 1;
        }
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::GridSample &, const Arrays<Real> &arrays)
{
    clearScratch(arrays, 1);
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::size_t places = extent(out, 2, 4);
    arrays.workers.share(
        static_cast<std::size_t>(out[0]), 16 * extent(out, 1, 4), [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n)
                sampleAt(arrays.in[0] + n * extent(in, 1, 4), in, arrays.in[1] + n * 2 * places, places,
                         arrays.out[0] + n * extent(out, 1, 4));
        });
    return {};
}

template <class Real>
Result<void> compute(const ops::SpatialTransformer &, const Arrays<Real> &arrays)
{
    clearScratch(arrays, 1);
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::size_t places = extent(out, 2, 4);
    arrays.workers.share(static_cast<std::size_t>(out[0]), 16 * extent(out, 1, 4),
                         [&](std::size_t begin, std::size_t end) {
                             std::vector<Real> grid(2 * places);
                             for (std::size_t n = begin; n < end; ++n) {
                                 affineGrid(arrays.in[1] + n * 6, out[2], out[3], grid.data());
                                 sampleAt(arrays.in[0] + n * extent(in, 1, 4), in, grid.data(), places,
                                          arrays.out[0] + n * extent(out, 1, 4));
                             }
                         });
    return {};
}

namespace {

/// The value at a place of the padded picture, rows of channels: 0 in the padding and beyond.
template <class Real>
struct Padded
{
    const Real *picture;
    DimSpan dims; ///< (N, C, H, W)
    std::int64_t pad;

    Real at(std::int64_t channel, std::int64_t y, std::int64_t x) const
    {
        const std::int64_t row = y - pad;
        const std::int64_t column = x - pad;
        if (row < 0 || column < 0 || row >= dims[2] || column >= dims[3])
            return 0;
        return picture[(channel * dims[2] + row) * dims[3] + column];
    }
};

/// Mean over channels and kernel of the products (or absolute differences) of two patches.
template <class Real>
Real correlated(const ops::Correlation &op, const Padded<Real> &left, const Padded<Real> &right,
                std::array<std::int64_t, 2> at, std::array<std::int64_t, 2> shift)
{
    Real sum = 0;
    for (std::int64_t i = 0; i < op.kernel * op.kernel; ++i) {
        const std::int64_t y = at[0] + i / op.kernel;
        const std::int64_t x = at[1] + i % op.kernel;
        for (std::int64_t c = 0; c < left.dims[1]; ++c) {
            const Real a = left.at(c, y, x);
            const Real b = right.at(c, y + shift[0], x + shift[1]);
            sum += op.multiply ? a * b : std::abs(a - b);
        }
    }
    return sum / static_cast<Real>(op.kernel * op.kernel * left.dims[1]);
}

} // namespace

template <class Real>
Result<void> compute(const ops::Correlation &op, const Arrays<Real> &arrays)
{
    constexpr std::int64_t kLargest
        = 1024; // far beyond any use, and its square times the channels is a number
    if (op.kernel > kLargest)
        return unsupported("kernel_size", std::to_string(op.kernel), "at most " + std::to_string(kLargest));
    clearScratch(arrays, 1);
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::int64_t radius = op.maxDisplacement / op.stride2;
    const std::int64_t side = 2 * radius + 1;
    const std::size_t picture = extent(in, 1, 4);
    const auto planes = static_cast<std::size_t>(out[0] * out[1]);
    const std::size_t cost = extent(out, 2, 4) * static_cast<std::size_t>(op.kernel * op.kernel * in[1]);
    arrays.workers.share(planes, cost, [&](std::size_t begin, std::size_t end) {
        for (std::size_t plane = begin; plane < end; ++plane) {
            const std::size_t n = plane / static_cast<std::size_t>(out[1]);
            const auto displacement = static_cast<std::int64_t>(plane) % out[1];
            const Padded<Real> left{arrays.in[0] + n * picture, in, op.pad};
            const Padded<Real> right{arrays.in[1] + n * picture, in, op.pad};
            Real *to = arrays.out[0] + plane * extent(out, 2, 4);
            for (std::int64_t i = 0; i < out[2] * out[3]; ++i)
                to[i] = correlated(op, left, right,
                                   {i / out[3] * op.stride1 + op.maxDisplacement,
                                    i % out[3] * op.stride1 + op.maxDisplacement},
                                   {(displacement / side - radius) * op.stride2,
                                    (displacement % side - radius) * op.stride2});
        }
    });
    return {};
}

HALFTONE_BOTH(SamplingGrid)
HALFTONE_BOTH(GridSample)
HALFTONE_BOTH(SpatialTransformer)
HALFTONE_BOTH(Correlation)

} // namespace halftone::backends::reference

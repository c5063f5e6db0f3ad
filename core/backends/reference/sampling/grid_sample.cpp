#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// Grids of places, and sampling there.
namespace halftone::backends::reference {
namespace {

using ops::GridSample;

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
std::int64_t brought(const GridSample &op, std::int64_t i, std::int64_t extent)
{
    if (i >= 0 && i < extent)
        return i;
    switch (op.outside) {
    case GridSample::Outside::Zeros:
        return -1;
    case GridSample::Outside::Border:
        return std::clamp<std::int64_t>(i, 0, extent - 1);
    case GridSample::Outside::Reflection:
        break;
    }
    const double low = op.alignCorners ? 0 : -0.5;
    const auto mirrored = static_cast<std::int64_t>(
        reflected(static_cast<double>(i), low, static_cast<double>(extent - 1) - low));
    return std::clamp<std::int64_t>(mirrored, 0, extent - 1);
}

Neighbours neighboursOf(const GridSample &op, double place, std::int64_t extent)
{
    using Mode = GridSample::Mode;
    const auto length = static_cast<double>(extent);
    double x = op.alignCorners ? (place + 1) / 2 * (length - 1) : ((place + 1) * length - 1) / 2;
    if (op.mode == Mode::Nearest)
        x = std::nearbyint(x);
    const double low = op.alignCorners ? 0 : -0.5;
    const double high = length - 1 - low;
    if (x < low || x > high) {
        if (op.outside == GridSample::Outside::Border)
            x = std::clamp(x, 0.0, length - 1);
        else if (op.outside == GridSample::Outside::Reflection)
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

/// Samples channels at one place after the other.
template <class Real>
class GridSampler
{
public:
    GridSampler(const GridSample &op, DimSpan spatial)
        : m_op(op)
        , m_spatial(spatial)
        , m_strides(denseStrides(spatial))
    {
    }

    /// place  the coordinate on the last axis; those on the others follow, `step` apart
    void moveTo(const Real *place, std::size_t step)
    {
        const std::size_t axes = m_spatial.size();
        m_isNumber = true;
        m_elements.assign(1, {0, 1});
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const auto at = static_cast<double>(place[(axes - 1 - axis) * step]);
            m_isNumber = m_isNumber && (!m_op.spreadsNaN || std::isfinite(at));
            join(neighboursOf(m_op, at, m_spatial[axis]), m_strides[axis]);
        }
    }

    Real sampled(const Real *channel) const
    {
        if (!m_isNumber)
            return std::numeric_limits<Real>::quiet_NaN();
        double sum = 0;
        for (const Element &element : m_elements)
            sum += element.weight * static_cast<double>(channel[element.offset]);
        return static_cast<Real>(sum);
    }

private:
    /// An element of a channel around the place.
    struct Element
    {
        std::int64_t offset = 0;
        double weight = 0;
    };

    void join(const Neighbours &neighbours, std::int64_t stride)
    {
        m_joined.clear();
        for (const Element &element : m_elements)
            for (std::size_t k = 0; k < neighbours.count; ++k)
                if (neighbours.at[k] >= 0 && (neighbours.weights[k] != 0 || m_op.spreadsNaN))
                    m_joined.push_back(
                        {element.offset + neighbours.at[k] * stride, element.weight * neighbours.weights[k]});
        m_elements.swap(m_joined);
    }

    const GridSample &m_op;
    DimSpan m_spatial;
    std::vector<std::int64_t> m_strides;
    std::vector<Element> m_elements;
    std::vector<Element> m_joined;
    bool m_isNumber = true;
};

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

} // namespace

template <class Real>
Result<void> compute(const ops::GridSample &op, const Arrays<Real> &arrays)
{
    clearScratch(arrays, 1);
    const DimSpan dims = arrays.inDims(0);
    const DimSpan spatial = dims.subspan(2);
    const auto channels = static_cast<std::size_t>(dims[1]);
    const std::size_t plane = count(spatial);
    if (arrays.outCount(0) == 0)
        return {};
    if (plane == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "something to sample from");
    const std::size_t places = count(arrays.outDims(0).subspan(2));
    const std::size_t axes = spatial.size();
    const std::size_t all = static_cast<std::size_t>(dims[0]) * places;
    arrays.workers.share(all, channels * 40, [&](std::size_t begin, std::size_t end) {
        GridSampler<Real> sampler(op, spatial);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t n = i / places;
            const std::size_t p = i % places;
            const Real *grid = arrays.in[1] + n * places * axes;
            sampler.moveTo(grid + (op.axesFirst ? p : p * axes), op.axesFirst ? places : 1);
            for (std::size_t c = n * channels; c < (n + 1) * channels; ++c)
                arrays.out[0][c * places + p] = sampler.sampled(arrays.in[0] + c * plane);
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
Result<void> compute(const ops::SpatialTransformer &, const Arrays<Real> &arrays)
{
    clearScratch(arrays, 1);
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::size_t places = extent(out, 2, 4);
    const auto channels = static_cast<std::size_t>(in[1]);
    const GridSample op{.alignCorners = true, .axesFirst = true, .spreadsNaN = true};
    arrays.workers.share(
        static_cast<std::size_t>(out[0]), 16 * extent(out, 1, 4), [&](std::size_t begin, std::size_t end) {
            GridSampler<Real> sampler(op, in.subspan(2));
            std::vector<Real> grid(2 * places);
            for (std::size_t n = begin; n < end; ++n) {
                affineGrid(arrays.in[1] + n * 6, out[2], out[3], grid.data());
                for (std::size_t p = 0; p < places; ++p) {
                    sampler.moveTo(grid.data() + p, places);
                    for (std::size_t c = n * channels; c < (n + 1) * channels; ++c)
                        arrays.out[0][c * places + p] = sampler.sampled(arrays.in[0] + c * extent(in, 2, 4));
                }
            }
        });
    return {};
}

HALFTONE_BOTH(GridSample)
HALFTONE_BOTH(AffineGrid)
HALFTONE_BOTH(SamplingGrid)
HALFTONE_BOTH(SpatialTransformer)

} // namespace halftone::backends::reference

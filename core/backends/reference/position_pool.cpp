#include "core/backends/reference/kernels.h"
#include "core/backends/reference/regions.h"

#include <algorithm>
#include <array>
#include <cmath>

/// Position-sensitive pooling: Dai and others, "R-FCN" (NIPS 2016), and its deformable form, "Deformable Convolutional
/// Networks" (ICCV 2017), with MXNet's rounding of the regions.
namespace halftone::backends::reference {
namespace {

/// How a region lies along one axis.
template <class Real>
struct Span
{
    Real start;
    Real length;

    /// Corners are whole pixels, the last one included; at least a tenth of a pixel stays.
    Span(Real first, Real last, Real scale, Real shift)
        : start(std::round(first) * scale - shift)
        , length(std::max((std::round(last) + 1) * scale - shift - start, Real(0.1)))
    {
    }
};

/// A bin of a region: its index on both axes, its channel's plane, and the offsets that the network has learnt.
template <class Real>
struct Bin
{
    std::array<std::int64_t, 2> at; ///< (y, x)
    std::array<Real, 2> offset; ///< in extents of the region
    const Real *plane;
};

template <class Real>
struct Pooled
{
    Real value = 0;
    std::int64_t samples = 0;
};

template <class Real>
class PositionBins
{
public:
    PositionBins(const ops::PositionPool &op, DimSpan data, const Real *region)
        : m_op(op)
        , m_height(data[2])
        , m_width(data[3])
        , m_y(region[2], region[4], static_cast<Real>(op.spatialScale), shiftOf(op))
        , m_x(region[1], region[3], static_cast<Real>(op.spatialScale), shiftOf(op))
    {
    }

    Pooled<Real> pooled(const Bin<Real> &bin) const { return m_op.deformable ? sampled(bin) : averaged(bin); }

private:
    static Real shiftOf(const ops::PositionPool &op) { return op.deformable ? Real(0.5) : Real(0); }

    /// The mean of the pixels that the bin touches.
    Pooled<Real> averaged(const Bin<Real> &bin) const
    {
        const auto range = [this](const Span<Real> &span, std::int64_t i, std::int64_t limit) {
            const Real step = span.length / static_cast<Real>(m_op.size);
            const auto inside = [limit](Real place) {
                return static_cast<std::int64_t>(std::clamp(place, Real(0), static_cast<Real>(limit)));
            };
            return std::array{inside(std::floor(static_cast<Real>(i) * step + span.start)),
                              inside(std::ceil(static_cast<Real>(i + 1) * step + span.start))};
        };
        const auto [top, bottom] = range(m_y, bin.at[0], m_height);
        const auto [left, right] = range(m_x, bin.at[1], m_width);
        if (bottom <= top || right <= left)
            return {};
        Real sum = 0;
        for (std::int64_t y = top; y < bottom; ++y)
            for (std::int64_t x = left; x < right; ++x)
                sum += bin.plane[y * m_width + x];
        const std::int64_t samples = (bottom - top) * (right - left);
        return {sum / static_cast<Real>(samples), samples};
    }

    /// The mean of a grid of places between pixels, without those outside the picture.
    Pooled<Real> sampled(const Bin<Real> &bin) const
    {
        Pooled<Real> result;
        const auto place = [&](const Span<Real> &span, std::size_t axis, std::int64_t i) {
            const Real step = span.length / static_cast<Real>(m_op.size);
            return static_cast<Real>(bin.at[axis]) * step + span.start + bin.offset[axis] * span.length
                + static_cast<Real>(i) * step / static_cast<Real>(m_op.samples);
        };
        for (std::int64_t j = 0; j < m_op.samples; ++j) {
            for (std::int64_t i = 0; i < m_op.samples; ++i) {
                const Real y = place(m_y, 0, j);
                const Real x = place(m_x, 1, i);
                if (!(y >= Real(-0.5) && y <= static_cast<Real>(m_height) - Real(0.5) && x >= Real(-0.5)
                      && x <= static_cast<Real>(m_width) - Real(0.5)))
                    continue;
                result.value += between(bin.plane, std::clamp(y, Real(0), static_cast<Real>(m_height - 1)),
                                        std::clamp(x, Real(0), static_cast<Real>(m_width - 1)));
                ++result.samples;
            }
        }
        if (result.samples > 0)
            result.value /= static_cast<Real>(result.samples);
        return result;
    }

    Real between(const Real *plane, Real y, Real x) const
    {
        const auto top = static_cast<std::int64_t>(y);
        const auto left = static_cast<std::int64_t>(x);
        const std::int64_t bottom = std::min(top + 1, m_height - 1);
        const std::int64_t right = std::min(left + 1, m_width - 1);
        const Real down = y - static_cast<Real>(top);
        const Real along = x - static_cast<Real>(left);
        return (1 - down) * ((1 - along) * plane[top * m_width + left] + along * plane[top * m_width + right])
            + down * ((1 - along) * plane[bottom * m_width + left] + along * plane[bottom * m_width + right]);
    }

    const ops::PositionPool &m_op;
    std::int64_t m_height;
    std::int64_t m_width;
    Span<Real> m_y;
    Span<Real> m_x;
};

/// Which learnt offsets belong to a bin.
template <class Real>
class Offsets
{
public:
    /// fails: offsets of another shape than (R, 2 · classes, parts, parts)
    static Result<Offsets> of(const ops::PositionPool &op, const Arrays<Real> &arrays)
    {
        Offsets offsets;
        if (!op.hasOffsets)
            return offsets;
        offsets.m_parts = op.parts > 0 ? op.parts : op.size;
        const DimSpan dims = arrays.inDims(2);
        if (dims.size() != 4 || dims[0] != arrays.inDims(1)[0] || dims[1] < 2 || dims[1] % 2 != 0
            || op.outputChannels % (dims[1] / 2) != 0 || dims[2] != offsets.m_parts
            || dims[3] != offsets.m_parts)
            return badInput("input 2", arrays.operation.inputs[2].shape.toString(),
                            "offsets of shape (regions, 2 x classes, " + std::to_string(offsets.m_parts)
                                + ", " + std::to_string(offsets.m_parts) + ")");
        offsets.m_classes = dims[1] / 2;
        offsets.m_values = arrays.in[2];
        offsets.m_scale = static_cast<Real>(op.offsetScale);
        return offsets;
    }

    std::array<Real, 2> at(const ops::PositionPool &op, std::int64_t region, std::int64_t channel,
                           const std::array<std::int64_t, 2> &bin) const
    {
        if (!m_values)
            return {};
        const std::int64_t first = (region * m_classes + channel / (op.outputChannels / m_classes)) * 2;
        const std::int64_t part = bin[0] * m_parts / op.size * m_parts + bin[1] * m_parts / op.size;
        const auto value = [&](std::int64_t which) {
            return m_values[(first + which) * m_parts * m_parts + part] * m_scale;
        };
        return {value(1), value(0)};
    }

private:
    const Real *m_values = nullptr;
    std::int64_t m_parts = 0;
    std::int64_t m_classes = 1;
    Real m_scale = 0;
};

} // namespace

template <class Real>
Result<void> compute(const ops::PositionPool &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::int64_t groups = op.groups > 0 ? op.groups : op.size;
    constexpr std::int64_t kMostGroups = 1024; // far beyond any use, so that products are numbers
    if (groups > kMostGroups || op.size > kMostGroups || op.parts > kMostGroups || op.samples > kMostGroups)
        return unsupported({}, "position-sensitive pooling by more than " + std::to_string(kMostGroups));
    if (!(op.spatialScale >= 0 && op.spatialScale <= 1))
        return badInput("spatial_scale", std::to_string(op.spatialScale), "0 to 1");
    if (in[1] / (groups * groups) < op.outputChannels)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(),
                        std::to_string(op.outputChannels) + " x " + std::to_string(groups) + " x "
                            + std::to_string(groups) + " channels");
    HALFTONE_TRY(const Offsets<Real> offsets, Offsets<Real>::of(op, arrays));
    const std::int64_t plane = in[2] * in[3];
    std::size_t to = 0;
    for (std::int64_t r = 0; r < out[0] && !arrays.workers.stopped(); ++r) {
        const Real *region = arrays.in[1] + r * 5;
        HALFTONE_CHECK(needPicture(std::span(region, 5), r, in[0]));
        const Real *picture = arrays.in[0] + static_cast<std::int64_t>(region[0]) * in[1] * plane;
        const PositionBins<Real> bins(op, in, region);
        for (std::int64_t c = 0; c < out[1]; ++c) {
            for (std::int64_t i = 0; i < op.size * op.size; ++i, ++to) {
                const std::array<std::int64_t, 2> at{i / op.size, i % op.size};
                const std::int64_t channel
                    = (c * groups + at[0] * groups / op.size) * groups + at[1] * groups / op.size;
                const Pooled<Real> pooled
                    = bins.pooled({at, offsets.at(op, r, c, at), picture + channel * plane});
                if (arrays.out[0])
                    arrays.out[0][to] = pooled.value;
                if (arrays.out.size() > 1 && arrays.out[1])
                    arrays.out[1][to] = static_cast<Real>(pooled.samples);
            }
        }
    }
    return {};
}

HALFTONE_BOTH(PositionPool)

} // namespace halftone::backends::reference

#include "core/backends/reference/regions.h"

#include "core/backends/reference/kernels.h"
#include "core/backends/reference/spatial.h"

#include <numbers>
#include <tuple>

namespace halftone::backends::reference {
namespace {

/// Largest of the pixels that a bin of the region covers; 0 when it covers none.
template <class Real>
struct MaxBins
{
    std::int64_t startX, startY;
    Real binWidth, binHeight;
    Real lowest; ///< what a maximum begins with

    MaxBins(const ops::RoiPool &op, const Real *region, tensor::DType type)
        : lowest(lowestOf<Real>(type))
    {
        const auto scale = static_cast<Real>(op.spatialScale);
        const auto corner
            = [&](std::size_t i) { return static_cast<std::int64_t>(std::round(region[i] * scale)); };
        startX = corner(1);
        startY = corner(2);
        binWidth = static_cast<Real>(std::max<std::int64_t>(corner(3) - startX + 1, 1))
            / static_cast<Real>(op.pooledSize[1]);
        binHeight = static_cast<Real>(std::max<std::int64_t>(corner(4) - startY + 1, 1))
            / static_cast<Real>(op.pooledSize[0]);
    }

    Real value(const Real *plane, std::int64_t height, std::int64_t width, std::int64_t y,
               std::int64_t x) const
    {
        const auto edge = [](std::int64_t start, Real bin, std::int64_t i, bool upper, std::int64_t limit) {
            const Real place = static_cast<Real>(i + (upper ? 1 : 0)) * bin;
            const auto whole = static_cast<std::int64_t>(upper ? std::ceil(place) : std::floor(place));
            return std::clamp<std::int64_t>(whole + start, 0, limit);
        };
        const std::int64_t top = edge(startY, binHeight, y, false, height);
        const std::int64_t bottom = edge(startY, binHeight, y, true, height);
        const std::int64_t left = edge(startX, binWidth, x, false, width);
        const std::int64_t right = edge(startX, binWidth, x, true, width);
        if (bottom <= top || right <= left)
            return 0;
        Real largest = lowest;
        for (std::int64_t h = top; h < bottom; ++h) {
            for (std::int64_t w = left; w < right; ++w)
                largest = std::max(largest, plane[h * width + w]);
        }
        return largest;
    }
};

/// Between the four pixels around a place; nothing of the first pixel more than a pixel outside, which is NaN where that is
/// no finite number: as everybody's kernels have it since the first ones.
template <class Real>
Real interpolated(const Real *plane, std::int64_t height, std::int64_t width, Real y, Real x)
{
    if (height < 1 || width < 1)
        return 0;
    if (!(y >= -1 && y <= static_cast<Real>(height) && x >= -1 && x <= static_cast<Real>(width)))
        return 0 * plane[0];
    const auto split = [](Real place, std::int64_t size) {
        place = std::max(place, Real(0));
        const std::int64_t low = std::min(static_cast<std::int64_t>(place), size - 1);
        const bool last = low == size - 1;
        return std::tuple(low, last ? low : low + 1, last ? Real(0) : place - static_cast<Real>(low));
    };
    const auto [top, bottom, down] = split(y, height);
    const auto [left, right, along] = split(x, width);
    return (1 - down) * ((1 - along) * plane[top * width + left] + along * plane[top * width + right])
        + down * ((1 - along) * plane[bottom * width + left] + along * plane[bottom * width + right]);
}

/// How many points stand along a bin's side.
template <class Real>
std::int64_t pointsOf(std::int64_t ratio, Real bin)
{
    // A hostile region would ask for any number of points.
    constexpr Real kMost = 4096;
    const Real wanted = ratio > 0 ? static_cast<Real>(ratio) : std::ceil(bin);
    return static_cast<std::int64_t>(std::fmin(std::fmax(wanted, Real(0)), kMost));
}

/// Mean of points spread evenly over a bin.
template <class Real>
struct AlignedBins
{
    Real startX, startY, binWidth, binHeight;
    std::int64_t pointsX, pointsY;

    AlignedBins(const ops::RoiPool &op, const Real *region, tensor::DType)
    {
        const auto scale = static_cast<Real>(op.spatialScale);
        const Real shift = op.aligned ? Real(0.5) : Real(0);
        startX = region[1] * scale - shift;
        startY = region[2] * scale - shift;
        Real width = region[3] * scale - shift - startX;
        Real height = region[4] * scale - shift - startY;
        if (!op.aligned) { // a region is at least one pixel
            width = std::max(width, Real(1));
            height = std::max(height, Real(1));
        }
        binWidth = width / static_cast<Real>(op.pooledSize[1]);
        binHeight = height / static_cast<Real>(op.pooledSize[0]);
        pointsX = pointsOf(op.sampleRatio, binWidth);
        pointsY = pointsOf(op.sampleRatio, binHeight);
    }

    Real value(const Real *plane, std::int64_t height, std::int64_t width, std::int64_t y,
               std::int64_t x) const
    {
        Real sum = 0;
        for (std::int64_t j = 0; j < pointsY; ++j) {
            const Real placeY = startY + static_cast<Real>(y) * binHeight
                + (static_cast<Real>(j) + Real(0.5)) * binHeight / static_cast<Real>(pointsY);
            for (std::int64_t i = 0; i < pointsX; ++i) {
                const Real placeX = startX + static_cast<Real>(x) * binWidth
                    + (static_cast<Real>(i) + Real(0.5)) * binWidth / static_cast<Real>(pointsX);
                sum += interpolated(plane, height, width, placeY, placeX);
            }
        }
        return sum / static_cast<Real>(std::max<std::int64_t>(pointsX * pointsY, 1));
    }
};

template <class Real, class Bins>
Result<void> poolRegions(const ops::RoiPool &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::int64_t bins = out[2] * out[3];
    for (std::int64_t r = 0; r < out[0] && !arrays.workers.stopped(); ++r) {
        const Real *region = arrays.in[1] + r * 5;
        Real *to = arrays.out[0] + r * out[1] * bins;
        if (region[0] < 0) { // padding of the list of regions
            std::fill_n(to, out[1] * bins, Real(0));
            continue;
        }
        HALFTONE_CHECK(needPicture(std::span(region, 5), r, in[0]));
        const Real *picture = arrays.in[0] + static_cast<std::int64_t>(region[0]) * in[1] * in[2] * in[3];
        const Bins grid(op, region, arrays.operation.outputs[0].dtype);
        arrays.workers.share(
            static_cast<std::size_t>(out[1]), static_cast<std::size_t>(bins) * 64,
            [&](std::size_t begin, std::size_t end) {
                for (auto c = static_cast<std::int64_t>(begin); c < static_cast<std::int64_t>(end); ++c) {
                    for (std::int64_t bin = 0; bin < bins; ++bin) {
                        const std::int64_t channel = op.positionSensitive ? c * bins + bin : c;
                        to[c * bins + bin] = grid.value(picture + channel * in[2] * in[3], in[2], in[3],
                                                        bin / out[3], bin % out[3]);
                    }
                }
            });
    }
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::RoiPool &op, const Arrays<Real> &arrays)
{
    if (arrays.out.size() > 1 && arrays.out[1]) // places of the maxima, for training
        std::fill_n(arrays.out[1], arrays.outCount(1), Real(0));
    return op.kind == ops::RoiPool::Kind::Max ? poolRegions<Real, MaxBins<Real>>(op, arrays)
                                              : poolRegions<Real, AlignedBins<Real>>(op, arrays);
}

namespace {

/// Mean of points spread evenly over the bins of a region that is turned about its centre.
template <class Real>
struct RotatedBins
{
    Real centerX, centerY, width, height, cosine, sine;
    std::int64_t rows, columns, pointsX, pointsY;

    RotatedBins(const ops::RotatedRoiAlign &op, const Real *region)
        : rows(op.pooledSize[0])
        , columns(op.pooledSize[1])
    {
        const auto scale = static_cast<Real>(op.spatialScale);
        centerX = region[1] * scale;
        centerY = region[2] * scale;
        width = std::max(region[3] * scale, Real(1));
        height = std::max(region[4] * scale, Real(1));
        const Real angle = region[5] * std::numbers::pi_v<Real> / 180;
        cosine = std::cos(angle);
        sine = std::sin(angle);
        pointsX = pointsOf(op.sampleRatio, width / static_cast<Real>(columns));
        pointsY = pointsOf(op.sampleRatio, height / static_cast<Real>(rows));
    }

    Real value(const Real *plane, std::int64_t planeHeight, std::int64_t planeWidth, std::int64_t bin) const
    {
        const auto place
            = [](Real length, std::int64_t bins, std::int64_t at, std::int64_t points, std::int64_t i) {
                  const Real step = length / static_cast<Real>(bins);
                  return -length / 2 + static_cast<Real>(at) * step
                      + (static_cast<Real>(i) + Real(0.5)) * step / static_cast<Real>(points);
              };
        Real sum = 0;
        for (std::int64_t j = 0; j < pointsY; ++j) {
            const Real y = place(height, rows, bin / columns, pointsY, j);
            for (std::int64_t i = 0; i < pointsX; ++i) {
                const Real x = place(width, columns, bin % columns, pointsX, i);
                sum += interpolated(plane, planeHeight, planeWidth, y * cosine - x * sine + centerY,
                                    x * cosine + y * sine + centerX);
            }
        }
        return sum / static_cast<Real>(pointsX * pointsY);
    }
};

} // namespace

/// Ma and others, "Arbitrary-Oriented Scene Text Detection via Rotation Proposals" (IEEE Transactions on Multimedia, 2018).
template <class Real>
Result<void> compute(const ops::RotatedRoiAlign &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::int64_t bins = out[2] * out[3];
    const std::int64_t plane = in[2] * in[3];
    for (std::int64_t r = 0; r < out[0] && !arrays.workers.stopped(); ++r) {
        const Real *region = arrays.in[1] + r * 6;
        HALFTONE_CHECK(needPicture(std::span(region, 6), r, in[0]));
        const Real *picture = arrays.in[0] + static_cast<std::int64_t>(region[0]) * in[1] * plane;
        const RotatedBins<Real> grid(op, region);
        for (std::int64_t i = 0; i < out[1] * bins; ++i)
            arrays.out[0][r * out[1] * bins + i]
                = grid.value(picture + i / bins * plane, in[2], in[3], i % bins);
    }
    return {};
}

HALFTONE_BOTH(RoiPool)
HALFTONE_BOTH(RotatedRoiAlign)

} // namespace halftone::backends::reference

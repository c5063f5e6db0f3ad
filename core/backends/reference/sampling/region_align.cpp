#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"
#include "core/ops/window.h"

#include <algorithm>
#include <array>
#include <cmath>

/// Pooling of regions at points between elements, and putting elements back to places.
namespace halftone::backends::reference {
namespace {

/// One point between four elements of a plane.
struct Point
{
    std::array<std::size_t, 4> at{};
    std::array<double, 4> weights{};
};

Point pointAt(double y, double x, std::int64_t height, std::int64_t width)
{
    Point point;
    if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
        return point;
    const auto along = [](double place, std::int64_t extent) {
        const double inside = std::clamp(place, 0.0, static_cast<double>(extent - 1));
        const auto low = std::min(static_cast<std::int64_t>(inside), extent - 1);
        return std::tuple(low, std::min(low + 1, extent - 1), inside - static_cast<double>(low));
    };
    const auto [top, bottom, down] = along(y, height);
    const auto [left, right, across] = along(x, width);
    const auto offset = [width](std::int64_t row, std::int64_t column) {
        return static_cast<std::size_t>(row * width + column);
    };
    point.at = {offset(top, left), offset(top, right), offset(bottom, left), offset(bottom, right)};
    point.weights = {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across};
    return point;
}

/// Extent of a region on one axis, and how it is divided.
struct Side
{
    double begin = 0;
    double bin = 0;
    std::int64_t points = 0; ///< in each bin
};

Side sideOf(const ops::RegionAlign &op, double begin, double end, std::int64_t bins)
{
    const double shift = op.halfPixel ? 0.5 : 0;
    Side side{begin * op.spatialScale - shift, 0, op.samples};
    double length = end * op.spatialScale - shift - side.begin;
    if (!op.halfPixel)
        length = std::max(length, 1.0);
    side.bin = length / static_cast<double>(bins);
    if (side.points <= 0)
        side.points = static_cast<std::int64_t>(std::clamp(std::ceil(side.bin), 0.0, 65536.0));
    return side;
}

double placeIn(const Side &side, std::int64_t bin, std::int64_t point)
{
    return side.begin + static_cast<double>(bin) * side.bin
        + (static_cast<double>(point) + 0.5) * side.bin / static_cast<double>(side.points);
}

template <class Real>
double pooled(const ops::RegionAlign &op, const Real *plane, const std::vector<Point> &points)
{
    double result = 0;
    bool isFirst = true;
    for (const Point &point : points) {
        for (std::size_t k = 0; k < 4; ++k) {
            const double part = point.weights[k] * static_cast<double>(plane[point.at[k]]);
            result = !op.maximum ? result + part : isFirst ? part : std::max(result, part);
            isFirst = false;
        }
    }
    return op.maximum ? result : result / static_cast<double>(std::max<std::size_t>(points.size(), 1));
}

} // namespace

template <class Real>
Result<void> compute(const ops::RegionAlign &op, const Arrays<Real> &arrays)
{
    const DimSpan data = arrays.inDims(0);
    const auto channels = static_cast<std::size_t>(data[1]);
    const std::size_t plane = extent(data, 2, 4);
    if (arrays.outCount(0) > 0 && plane == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "something to sample from");
    const std::size_t bins = static_cast<std::size_t>(op.height * op.width);
    for (std::size_t r = 0; r < arrays.inCount(2); ++r) {
        const Real *region = arrays.in[1] + r * 4;
        const Real batch = arrays.in[2][r];
        if (!(batch >= 0 && batch < static_cast<Real>(data[0])))
            return badInput("input 2", "a batch that is not there", "0 to " + std::to_string(data[0] - 1));
        const Side across
            = sideOf(op, static_cast<double>(region[0]), static_cast<double>(region[2]), op.width);
        const Side down
            = sideOf(op, static_cast<double>(region[1]), static_cast<double>(region[3]), op.height);
        for (std::size_t bin = 0; bin < bins; ++bin) {
            std::vector<Point> points;
            for (std::int64_t y = 0; y < down.points; ++y)
                for (std::int64_t x = 0; x < across.points; ++x)
                    points.push_back(pointAt(placeIn(down, static_cast<std::int64_t>(bin) / op.width, y),
                                             placeIn(across, static_cast<std::int64_t>(bin) % op.width, x),
                                             data[2], data[3]));
            for (std::size_t c = 0; c < channels; ++c)
                arrays.out[0][(r * channels + c) * bins + bin] = static_cast<Real>(pooled(
                    op, arrays.in[0] + (static_cast<std::size_t>(batch) * channels + c) * plane, points));
        }
    }
    return {};
}

Result<void> move(const ops::MaxUnpool &op, const RawArrays &arrays)
{
    // Places count in the shape that the window gives, whatever shape is asked for.
    HALFTONE_TRY(const ops::Window window, ops::makeWindow(op.kernel, op.stride, {}, op.pad));
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    std::vector<std::int64_t> counted(in.begin(), in.end());
    for (std::size_t i = 0; i < window.rank(); ++i)
        counted[2 + i]
            = (in[2 + i] - 1) * window.stride[i] - window.padBegin[i] - window.padEnd[i] + window.kernel[i];
    const std::vector<std::int64_t> from = denseStrides(counted);
    const std::vector<std::int64_t> to = denseStrides(out);
    const std::vector<std::int64_t> places = loadedInput<std::int64_t>(arrays, 1);
    const std::size_t size = arrays.elementSize();
    if (arrays.outCount(0) > 0)
        std::memset(arrays.out[0], 0, arrays.outCount(0) * size);
    for (std::size_t i = 0; i < places.size(); ++i) {
        std::int64_t offset = 0;
        bool isInside = places[i] >= 0;
        for (std::size_t axis = 0; isInside && axis < out.size(); ++axis) {
            const std::int64_t at = axis == 0 ? places[i] / from[0] : places[i] / from[axis] % counted[axis];
            isInside = at < out[axis];
            offset += at * to[axis];
        }
        if (!isInside)
            return badInput("input 1", "place " + std::to_string(places[i]), "one inside the output");
        std::memcpy(arrays.out[0] + static_cast<std::size_t>(offset) * size, arrays.in[0] + i * size, size);
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::ColumnsToImage &op, const Arrays<Real> &arrays)
{
    const std::size_t axes = op.imageShape.size();
    std::vector<std::int64_t> blocks(axes);
    for (std::size_t i = 0; i < axes; ++i)
        blocks[i]
            = (op.imageShape[i] + op.pad.begin[i] + op.pad.end[i] - op.dilate[i] * (op.kernel[i] - 1) - 1)
                / op.stride[i]
            + 1;
    const std::vector<std::int64_t> ofTap = denseStrides(op.kernel);
    const std::vector<std::int64_t> ofBlock = denseStrides(blocks);
    const std::vector<std::int64_t> ofImage = denseStrides(op.imageShape);
    const std::size_t taps = count(op.kernel);
    const std::size_t places = count(blocks);
    const std::size_t pixels = count(op.imageShape);
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    for (std::size_t row = 0; row < extent(arrays.inDims(0), 0, 2); ++row) {
        const auto tap = static_cast<std::int64_t>(row % taps);
        Real *image = arrays.out[0] + row / taps * pixels;
        for (std::size_t p = 0; p < places; ++p) {
            std::int64_t offset = 0;
            bool isInside = true;
            for (std::size_t i = 0; i < axes; ++i) {
                const std::int64_t at = static_cast<std::int64_t>(p) / ofBlock[i] % blocks[i] * op.stride[i]
                    - op.pad.begin[i] + tap / ofTap[i] % op.kernel[i] * op.dilate[i];
                isInside = isInside && at >= 0 && at < op.imageShape[i];
                offset += at * ofImage[i];
            }
            if (isInside)
                image[offset] += arrays.in[0][row * places + p];
        }
    }
    return {};
}

HALFTONE_BOTH(RegionAlign)
HALFTONE_BOTH(ColumnsToImage)

} // namespace halftone::backends::reference

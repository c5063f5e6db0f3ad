#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"
#include "core/ops/window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

/// Pooling of regions at points between elements, and putting elements back to places.
namespace halftone::backends::reference {
namespace {

/// A point of one axis, between two elements.
struct AxisPoint
{
    std::size_t low = 0;
    std::size_t high = 0;
    double toHigh = 0; ///< how far it is from the one to the other
};

/// Those of one bin that are sampled from; the others count as zeros.
struct AxisBin
{
    std::vector<AxisPoint> points;
    bool hasOthers = false;
};

/// Extent of a region on one axis, and how it is divided.
struct Side
{
    double begin = 0;
    double bin = 0;
    std::int64_t points = 0; ///< in each bin

    double placeIn(std::int64_t number, double point) const
    {
        return begin + static_cast<double>(number) * bin + (point + 0.5) * bin / static_cast<double>(points);
    }
};

Side regionSide(const ops::RoiAlign &op, double begin, double end, std::int64_t bins)
{
    constexpr double kMostPoints = 1e15;
    const double shift = op.halfPixel ? 0.5 : 0;
    Side side{begin * op.spatialScale - shift, 0, op.samples};
    double length = end * op.spatialScale - shift - side.begin;
    if (!op.halfPixel)
        length = std::max(length, 1.0);
    side.bin = length / static_cast<double>(bins);
    if (side.points <= 0)
        side.points
            = side.bin > 0 ? static_cast<std::int64_t>(std::min(std::ceil(side.bin), kMostPoints)) : 0;
    return side;
}

/// The points from the first up to the last that can lie within the axis, so that a region may be as large as it likes.
std::pair<std::int64_t, std::int64_t> reachable(const Side &side, std::int64_t bin, std::int64_t extent)
{
    const double first = side.placeIn(bin, 0);
    const double step = side.bin / static_cast<double>(side.points);
    if (!std::isfinite(first) || !std::isfinite(step))
        return {0, 0};
    if (step == 0)
        return {0, side.points};
    const double one = (-1 - first) / step;
    const double other = (static_cast<double>(extent) - first) / step;
    const auto bounded = [&](double point) {
        return static_cast<std::int64_t>(std::clamp(point, 0.0, static_cast<double>(side.points)));
    };
    return {bounded(std::floor(std::min(one, other)) - 1), bounded(std::ceil(std::max(one, other)) + 2)};
}

AxisBin binOf(const Side &side, std::int64_t bin, std::int64_t extent)
{
    AxisBin found;
    const auto [first, end] = reachable(side, bin, extent);
    for (std::int64_t k = first; k < end; ++k) {
        const double place = side.placeIn(bin, static_cast<double>(k));
        if (!(place >= -1 && place <= static_cast<double>(extent)))
            continue;
        const double inside = std::clamp(place, 0.0, static_cast<double>(extent - 1));
        const auto low = std::min(static_cast<std::int64_t>(inside), extent - 1);
        found.points.push_back({static_cast<std::size_t>(low),
                                static_cast<std::size_t>(std::min(low + 1, extent - 1)),
                                inside - static_cast<double>(low)});
    }
    found.hasOthers = std::ssize(found.points) < side.points;
    return found;
}

std::vector<AxisBin> binsOf(const Side &side, std::int64_t bins, std::int64_t extent)
{
    std::vector<AxisBin> found;
    for (std::int64_t bin = 0; bin < bins; ++bin)
        found.push_back(binOf(side, bin, extent));
    return found;
}

/// How much each element of an axis counts in the sum over the points of a bin, element by element from `first` on.
struct AxisWeights
{
    std::size_t first = 0;
    std::vector<double> weights;
};

AxisWeights binWeights(const AxisBin &bin)
{
    AxisWeights sum;
    if (bin.points.empty())
        return sum;
    const auto [least, most] = std::ranges::minmax_element(bin.points, {}, &AxisPoint::low);
    sum.first = least->low;
    sum.weights.resize(most->low - sum.first + 2);
    for (const AxisPoint &point : bin.points) {
        sum.weights[point.low - sum.first] += 1 - point.toHigh;
        sum.weights[point.high - sum.first] += point.toHigh;
    }
    return sum;
}

/// A plane of (rows, columns).
template <class Real>
struct Plane
{
    const Real *elements = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;

    double at(std::size_t row, std::size_t column) const
    {
        return static_cast<double>(elements[row * columns + column]);
    }
};

/// The sum over all pairs of points of the two axes.
template <class Real>
double summed(const Plane<Real> &plane, const AxisWeights &down, const AxisWeights &across)
{
    double sum = 0;
    for (std::size_t y = 0; y < down.weights.size(); ++y) {
        if (down.weights[y] == 0 || down.first + y >= plane.rows)
            continue;
        double row = 0;
        for (std::size_t x = 0; x < across.weights.size(); ++x)
            if (across.weights[x] != 0)
                row += across.weights[x] * plane.at(down.first + y, across.first + x);
        sum += down.weights[y] * row;
    }
    return sum;
}

/// The largest of the four parts of any point.
template <class Real>
double largestPart(const Plane<Real> &plane, const AxisBin &down, const AxisBin &across)
{
    std::optional<double> most;
    if (down.hasOthers || across.hasOthers)
        most = 0;
    for (const AxisPoint &y : down.points) {
        for (const AxisPoint &x : across.points) {
            const std::array parts{(1 - y.toHigh) * (1 - x.toHigh) * plane.at(y.low, x.low),
                                   (1 - y.toHigh) * x.toHigh * plane.at(y.low, x.high),
                                   y.toHigh * (1 - x.toHigh) * plane.at(y.high, x.low),
                                   y.toHigh * x.toHigh * plane.at(y.high, x.high)};
            for (const double part : parts)
                most = most ? std::max(*most, part) : part;
        }
    }
    return most.value_or(0);
}

/// fails: so many points are asked for in each bin that they would take hours.
Result<void> checkSamples(const ops::RoiAlign &op, double regions, double channels)
{
    constexpr double kMostSteps = 1e12;
    const auto samples = static_cast<double>(std::max<std::int64_t>(op.samples, 0));
    const double bins = static_cast<double>(op.height) * static_cast<double>(op.width);
    const double steps = op.maximum ? regions * bins * channels * samples * samples
                                    : regions * static_cast<double>(op.height + op.width) * samples;
    if (steps > kMostSteps)
        return unsupported({}, std::to_string(op.samples) + " samples on each side of a bin",
                           "at most 1e12 samples in all");
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::RoiAlign &op, const Arrays<Real> &arrays)
{
    const DimSpan data = arrays.inDims(0);
    const auto channels = static_cast<std::size_t>(data[1]);
    const std::size_t plane = extent(data, 2, 4);
    if (arrays.outCount(0) > 0 && plane == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "something to sample from");
    const std::size_t regions = arrays.inCount(2);
    HALFTONE_CHECK(checkSamples(op, static_cast<double>(regions), static_cast<double>(channels)));
    Real *out = arrays.out[0];
    for (std::size_t r = 0; r < regions && !arrays.workers.stopped(); ++r) {
        const Real *region = arrays.in[1] + r * 4;
        const Real batch = arrays.in[2][r];
        if (!(batch >= 0 && batch < static_cast<Real>(data[0])))
            return badInput("input 2", "a batch that is not there", "0 to " + std::to_string(data[0] - 1));
        const auto at = [region](std::size_t k) { return static_cast<double>(region[k]); };
        const Side acrossSide = regionSide(op, at(0), at(2), op.width);
        const Side downSide = regionSide(op, at(1), at(3), op.height);
        const std::vector<AxisBin> across = binsOf(acrossSide, op.width, data[3]);
        const std::vector<AxisBin> down = binsOf(downSide, op.height, data[2]);
        const double points
            = std::max(1.0, static_cast<double>(acrossSide.points) * static_cast<double>(downSide.points));
        std::vector<AxisWeights> acrossWeights(across.size());
        std::vector<AxisWeights> downWeights(down.size());
        std::ranges::transform(across, acrossWeights.begin(), binWeights);
        std::ranges::transform(down, downWeights.begin(), binWeights);
        for (std::size_t c = 0; c < channels; ++c) {
            const Plane<Real> from{arrays.in[0] + (static_cast<std::size_t>(batch) * channels + c) * plane,
                                   static_cast<std::size_t>(data[2]), static_cast<std::size_t>(data[3])};
            for (std::size_t y = 0; y < down.size(); ++y)
                for (std::size_t x = 0; x < across.size(); ++x)
                    *out++ = static_cast<Real>(op.maximum
                                                   ? largestPart(from, down[y], across[x])
                                                   : summed(from, downWeights[y], acrossWeights[x]) / points);
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

HALFTONE_BOTH(RoiAlign)

} // namespace halftone::backends::reference

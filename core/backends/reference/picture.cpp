#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halftone::backends::reference {
namespace {

using Kind = ops::Picture::Kind;

/// What a pixel of the result is made of, along one axis.
struct Tap
{
    std::int64_t from;
    double weight;
};
using Taps = std::vector<std::vector<Tap>>; ///< by position in the result

/// OpenCV's numbers of its ways to resize, which MXNet takes.
enum Interpolation : std::int64_t
{
    Nearest = 0,
    Linear = 1,
    Cubic = 2,
    Area = 3,
    Lanczos = 4
};

/// The cubic convolution of Keys (1981) with a = -0.75.
double cubicWeight(double distance)
{
    constexpr double a = -0.75;
    const double x = std::abs(distance);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Lanczos' window of four lobes.
double lanczosWeight(double distance)
{
    if (std::abs(distance) < 1e-9)
        return 1;
    const double x = distance * std::numbers::pi;
    return std::abs(distance) < 4 ? 4 * std::sin(x) * std::sin(x / 4) / (x * x) : 0;
}

/// Weights of the pixels around a place, brought to a sum of 1; beyond the edge stands the edge's pixel.
template <class Weight>
std::vector<Tap> around(double place, std::int64_t reach, std::int64_t size, const Weight &weight)
{
    const double base = std::floor(place);
    std::vector<Tap> taps;
    double sum = 0;
    for (std::int64_t i = 1 - reach; i <= reach; ++i) {
        const double at = base + static_cast<double>(i);
        taps.push_back(
            {std::clamp(static_cast<std::int64_t>(at), std::int64_t{0}, size - 1), weight(place - at)});
        sum += taps.back().weight;
    }
    for (Tap &tap : taps)
        tap.weight /= sum;
    return taps;
}

/// The pixels that [begin, end) covers, by how much.
std::vector<Tap> covered(double begin, double end, std::int64_t size)
{
    constexpr double kSliver = 1e-3; // of a pixel: OpenCV leaves it out
    std::vector<Tap> taps;
    double sum = 0;
    for (auto i = static_cast<std::int64_t>(begin); i < size && static_cast<double>(i) < end; ++i) {
        const auto left = static_cast<double>(i);
        const double share = std::min(end, left + 1) - std::max(begin, left);
        if (share <= kSliver)
            continue;
        taps.push_back({i, share});
        sum += share;
    }
    for (Tap &tap : taps)
        tap.weight /= sum;
    return taps;
}

Taps tapsOf(std::int64_t interpolation, std::int64_t from, std::int64_t to, bool bothShrink)
{
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const auto linear = [](double distance) { return 1 - std::min(std::abs(distance), 1.0); };
    Taps taps(static_cast<std::size_t>(to));
    for (std::size_t i = 0; i < taps.size(); ++i) {
        const auto at = static_cast<double>(i);
        const double center = (at + 0.5) * scale - 0.5;
        switch (interpolation) {
        case Nearest:
            taps[i] = {{std::min(static_cast<std::int64_t>(std::floor(at * scale)), from - 1), 1}};
            break;
        case Cubic:
            taps[i] = around(center, 2, from, cubicWeight);
            break;
        case Lanczos:
            taps[i] = around(center, 4, from, lanczosWeight);
            break;
        case Area:
            if (bothShrink) {
                taps[i] = covered(at * scale, std::min((at + 1) * scale, static_cast<double>(from)), from);
            } else { // OpenCV: a pixel stays as wide as it is, but for a seam of one result's pixel
                const double base = std::floor(at * scale);
                const double part = std::max(at + 1 - (base + 1) / scale, 0.0);
                taps[i] = around(base + part - std::floor(part), 1, from, linear);
            }
            break;
        default:
            taps[i] = around(center, 1, from, linear);
            break;
        }
    }
    return taps;
}

/// One picture: rows of pixels of `channels` values.
template <class Real>
void resample(const Taps &rows, const Taps &columns, std::int64_t width, std::size_t channels,
              const Real *from, bool toBytes, Real *out)
{
    for (const std::vector<Tap> &row : rows) {
        for (const std::vector<Tap> &column : columns) {
            for (std::size_t c = 0; c < channels; ++c) {
                double sum = 0;
                for (const Tap &y : row)
                    for (const Tap &x : column)
                        sum += y.weight * x.weight
                            * static_cast<double>(
                                   from[static_cast<std::size_t>(y.from * width + x.from) * channels + c]);
                *out++ = static_cast<Real>(toBytes ? std::clamp(std::nearbyint(sum), 0.0, 255.0) : sum);
            }
        }
    }
}

template <class Real>
Result<void> resize(const ops::Picture &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::size_t y = in.size() - 3;
    if (op.interpolation < Nearest || op.interpolation > Lanczos)
        return unsupported("interp", std::to_string(op.interpolation),
                           "0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos)");
    if (in[y] == 0 || in[y + 1] == 0)
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(), "a picture with pixels");
    const bool bothShrink = out[y] <= in[y] && out[y + 1] <= in[y + 1];
    const Taps rows = tapsOf(op.interpolation, in[y], out[y], bothShrink);
    const Taps columns = tapsOf(op.interpolation, in[y + 1], out[y + 1], bothShrink);
    const bool toBytes = arrays.operation.outputs[0].dtype == tensor::DType::U8;
    const std::size_t step = extent(in, y, in.size());
    arrays.workers.share(extent(in, 0, y), step * 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t n = begin; n < end; ++n)
            resample(rows, columns, in[y + 1], static_cast<std::size_t>(in[y + 2]), arrays.in[0] + n * step,
                     toBytes, arrays.out[0] + n * extent(out, y, out.size()));
    });
    return {};
}

/// Element i of the result is that of the source at f(row, column, channel) of the result.
template <class Real, class F>
void copyPixels(const Arrays<Real> &arrays, const F &f)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::size_t y = in.size() - 3;
    Real *to = arrays.out[0];
    for (std::size_t n = 0; n < extent(in, 0, y); ++n) {
        const Real *from = arrays.in[0] + n * extent(in, y, in.size());
        for (std::int64_t a = 0; a < out[y]; ++a)
            for (std::int64_t b = 0; b < out[y + 1]; ++b)
                for (std::int64_t c = 0; c < out[y + 2]; ++c)
                    *to++ = from[f(a, b, c)];
    }
}

template <class Real>
Result<void> normalize(const ops::Picture &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const AxisView view(dims, dims.size() - 3);
    for (const auto *values : {&op.mean, &op.deviation})
        if (values->size() != 1 && values->size() != view.length)
            return badInput("mean, std", std::to_string(values->size()) + " values",
                            "1 or one for each of the " + std::to_string(view.length) + " channels");
    const auto of = [](const std::vector<double> &values, std::size_t channel) {
        return static_cast<Real>(values[values.size() == 1 ? 0 : channel]);
    };
    for (std::size_t i = 0; i < arrays.inCount(0); ++i) {
        const std::size_t channel = i / view.inner % view.length;
        arrays.out[0][i] = (arrays.in[0][i] - of(op.mean, channel)) / of(op.deviation, channel);
    }
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::Picture &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const std::int64_t height = in[in.size() - 3];
    const std::int64_t width = in[in.size() - 2];
    const std::int64_t channels = in[in.size() - 1];
    switch (op.kind) {
    case Kind::Normalize:
        return normalize(op, arrays);
    case Kind::Resize:
        return resize(op, arrays);
    case Kind::ToTensor:
        copyPixels(arrays, [&](auto c, auto y, auto x) { return (y * width + x) * channels + c; });
        for (std::size_t i = 0; i < arrays.outCount(0); ++i)
            arrays.out[0][i] /= 255;
        return {};
    case Kind::Crop:
        copyPixels(arrays,
                   [&](auto y, auto x, auto c) { return ((y + op.y) * width + x + op.x) * channels + c; });
        return {};
    case Kind::FlipLeftRight:
        copyPixels(arrays,
                   [&](auto y, auto x, auto c) { return (y * width + width - 1 - x) * channels + c; });
        return {};
    case Kind::FlipTopBottom:
        copyPixels(arrays,
                   [&](auto y, auto x, auto c) { return ((height - 1 - y) * width + x) * channels + c; });
        return {};
    }
    return {};
}

HALFTONE_BOTH(Picture)

} // namespace halftone::backends::reference

#include "core/backends/reference/kernels.h"
#include "core/backends/reference/spatial.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::backends::reference {
namespace {

struct Range
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t step = 1;
    std::int64_t taps = 0; ///< on elements
    std::int64_t padded = 0; ///< taps on elements and the padding around them
};

/// What a window covers along one axis.
Range covered(std::int64_t at, const Window3 &window, std::size_t axis, std::int64_t size)
{
    const std::int64_t step = window.dilate[axis];
    const std::int64_t reach = (window.kernel[axis] - 1) * step + 1;
    const std::int64_t first = at * window.stride[axis] - window.padBegin[axis];
    const std::int64_t end = std::min(first + reach, size + window.padEnd[axis]);
    const auto tapsOf
        = [step](std::int64_t length) { return length <= 0 ? length : (length + step - 1) / step; };
    const std::int64_t begin = first < 0 ? first + (step - 1 - first) / step * step : first;
    return {begin, std::min(end, size), step, tapsOf(std::min(end, size) - begin), tapsOf(end - first)};
}

template <class Real>
class Window1
{
public:
    Window1(const ops::Pool &op, const Picture &input, tensor::DType type)
        : m_op(op)
        , m_input(input)
        , m_p(op.p.value_or(2))
        , m_lowest(lowestOf<Real>(type))
    {
    }

    Real value(const Real *plane, const std::array<Range, 3> &ranges) const
    {
        using Kind = ops::Pool::Kind;
        const bool max = m_op.kind == Kind::Max;
        const bool padsZeros = m_op.padsZeros && !m_op.global;
        if (padsZeros && max && std::ranges::any_of(ranges, isBeyondPadding))
            return -std::numeric_limits<Real>::infinity();
        Real result = max ? m_lowest : Real(0);
        for (std::int64_t d = ranges[0].begin; d < ranges[0].end; d += ranges[0].step) {
            for (std::int64_t h = ranges[1].begin; h < ranges[1].end; h += ranges[1].step) {
                const Real *row = plane + d * m_input.strides[0] + h * m_input.strides[1];
                for (std::int64_t w = ranges[2].begin; w < ranges[2].end; w += ranges[2].step) {
                    const Real x = row[w * m_input.strides[2]];
                    if (max)
                        result = x > result || std::isnan(x) ? x : result;
                    else
                        result += m_op.kind == Kind::Lp ? power(x) : x;
                }
            }
        }
        if (max && padsZeros && std::ranges::any_of(ranges, reachesPadding))
            return result > 0 || std::isnan(result) ? result : Real(0);
        if (m_op.kind == Kind::Average) {
            const Real covered = divisor(ranges);
            if (m_op.padsZeros) // MXNet's first pooling multiplies by a reciprocal in single precision
                return result * static_cast<Real>(1 / static_cast<float>(covered));
            return covered > 0 || m_op.global ? result / covered
                                              : Real(0); // the mean of nothing is no number
        }
        return m_op.kind == Kind::Lp ? root(result) : result;
    }

private:
    static bool isBeyondPadding(const Range &range) { return range.padded <= 0; }
    static bool reachesPadding(const Range &range) { return range.padded > range.taps; }

    Real divisor(const std::array<Range, 3> &ranges) const
    {
        std::int64_t count = 1;
        if (m_op.padsZeros && !m_op.global) {
            for (const std::int64_t length : m_op.kernel)
                count *= length;
            return static_cast<Real>(count);
        }
        for (const Range &range : ranges) {
            const std::int64_t length = m_op.global || !m_op.countPadding ? range.taps : range.padded;
            count *= std::max<std::int64_t>(length, 0); // `full` makes windows that lie outside
        }
        return static_cast<Real>(count);
    }
    /// MXNet's p-norm keeps the signs: x, x², x³ and their roots.
    Real power(Real x) const
    {
        if (m_op.absolute)
            return std::pow(std::abs(x), static_cast<Real>(m_p));
        return m_p == 1 ? x : m_p == 2 ? x * x : x * x * x;
    }
    Real root(Real x) const
    {
        if (m_op.absolute)
            return std::pow(x, Real(1) / static_cast<Real>(m_p));
        return m_p == 1 ? x : m_p == 2 ? std::sqrt(x) : std::cbrt(x);
    }

    const ops::Pool &m_op;
    const Picture &m_input;
    std::int64_t m_p;
    Real m_lowest; ///< what a maximum over nothing is
};

/// Where the first of the largest elements lies in its plane.
template <class Real>
std::int64_t placeOf(const ops::Pool &op, const Picture &input, const Real *plane,
                     const std::array<Range, 3> &ranges)
{
    std::int64_t place = 0;
    const Real *best = nullptr;
    for (std::int64_t d = ranges[0].begin; d < ranges[0].end; d += ranges[0].step) {
        for (std::int64_t h = ranges[1].begin; h < ranges[1].end; h += ranges[1].step) {
            for (std::int64_t w = ranges[2].begin; w < ranges[2].end; w += ranges[2].step) {
                const Real *x = plane + d * input.strides[0] + h * input.strides[1] + w * input.strides[2];
                if (best && !(*x > *best))
                    continue;
                best = x;
                place = op.indicesByColumn ? (w * input.size[1] + h) * input.size[0] + d
                                           : (d * input.size[1] + h) * input.size[2] + w;
            }
        }
    }
    return place;
}

} // namespace

template <class Real>
Result<void> compute(const ops::Pool &op, const Arrays<Real> &arrays)
{
    if (arrays.inDims(0).size() > 5)
        return unsupported("input 0", "global pooling of " + arrays.operation.inputs[0].shape.toString(),
                           "1 to 3 spatial axes");
    const Picture input(arrays.inDims(0), op.layout);
    const Picture output(arrays.outDims(0), op.layout);
    ops::Dims kernel = op.kernel;
    if (op.global) {
        kernel.clear();
        const DimSpan spatial
            = arrays.inDims(0).subspan(ops::firstSpatialAxis(op.layout), arrays.inDims(0).size() - 2);
        for (const std::int64_t extent : spatial)
            kernel.push_back(std::max<std::int64_t>(extent, 1)); // a window over nothing takes in nothing
    }
    HALFTONE_TRY(const ops::Window checked,
                 ops::makeWindow(kernel, op.global ? ops::Dims() : op.stride,
                                 op.global ? ops::Dims() : op.dilate, op.global ? ops::Padding() : op.pad));
    const Window3 window(checked);
    const Window1<Real> pool(op, input, arrays.operation.outputs[0].dtype);
    const auto planes = static_cast<std::size_t>(arrays.inDims(0)[0] * input.channels);
    const auto cost = static_cast<std::size_t>(output.positions() * window.taps()) + 1;
    Real *const places = arrays.out.size() > 1 ? arrays.out[1] : nullptr;
    arrays.workers.share(planes, cost, [&](std::size_t begin, std::size_t end) {
        for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
            const std::int64_t n = plane / input.channels;
            const std::int64_t c = plane % input.channels;
            const Real *from = arrays.in[0] + n * input.batchStride + c * input.channelStride;
            Real *to = arrays.out[0] + n * output.batchStride + c * output.channelStride;
            for (std::int64_t p = 0; p < output.positions(); ++p) {
                const auto at = output.position(p);
                std::array<Range, 3> ranges;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    ranges[axis] = covered(at[axis], window, axis, input.size[axis]);
                to[p * output.strides[2]] = pool.value(from, ranges);
                if (places)
                    places[plane * output.positions() + p]
                        = static_cast<Real>(plane * input.positions() + placeOf(op, input, from, ranges));
            }
        }
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::AdaptiveAveragePool &, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const auto begin = [](std::int64_t i, std::int64_t from, std::int64_t to) { return i * from / to; };
    const auto end
        = [](std::int64_t i, std::int64_t from, std::int64_t to) { return ((i + 1) * from + to - 1) / to; };
    Real *to = arrays.out[0];
    for (std::size_t plane = 0; plane < extent(in, 0, 2); ++plane) {
        const Real *from = arrays.in[0] + plane * extent(in, 2, 4);
        for (std::int64_t y = 0; y < out[2]; ++y) {
            for (std::int64_t x = 0; x < out[3]; ++x) {
                double sum = 0;
                const std::int64_t top = begin(y, in[2], out[2]);
                const std::int64_t bottom = end(y, in[2], out[2]);
                const std::int64_t left = begin(x, in[3], out[3]);
                const std::int64_t right = end(x, in[3], out[3]);
                for (std::int64_t h = top; h < bottom; ++h) {
                    for (std::int64_t w = left; w < right; ++w)
                        sum += static_cast<double>(from[h * in[3] + w]);
                }
                // Rounded first: a sum beyond the type's range is infinite.
                *to++ = static_cast<Real>(sum) / static_cast<Real>((bottom - top) * (right - left));
            }
        }
    }
    return {};
}

HALFTONE_BOTH(Pool)
HALFTONE_BOTH(AdaptiveAveragePool)

} // namespace halftone::backends::reference

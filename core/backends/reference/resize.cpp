#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <vector>

namespace halftone::backends::reference {
namespace {

/// Between which two neighbours a sample lies, and how near the second one.
template <class Real>
struct Sample
{
    std::int64_t low = 0;
    std::int64_t high = 0;
    Real share = 0;
};

template <class Real>
std::vector<Sample<Real>> samples(std::int64_t from, std::int64_t to, bool alignCorners)
{
    // A single sample is the first pixel, whatever the corners.
    const Real ratio = to <= 1 ? Real(0)
        : alignCorners         ? static_cast<Real>(from - 1) / static_cast<Real>(to - 1)
                               : static_cast<Real>(from) / static_cast<Real>(to);
    std::vector<Sample<Real>> result(static_cast<std::size_t>(to));
    for (std::int64_t i = 0; i < to; ++i) {
        // Rounded at the end, as in MXNet: whether a neighbour has a share at all decides what an infinite one does.
        const double centre = static_cast<double>(ratio) * (static_cast<double>(i) + 0.5) - 0.5;
        const Real place
            = alignCorners ? ratio * static_cast<Real>(i) : std::max(static_cast<Real>(centre), Real(0));
        const std::int64_t low = std::min(static_cast<std::int64_t>(place), from - 1);
        result[static_cast<std::size_t>(i)]
            = {low, std::min(low + 1, from - 1), place - static_cast<Real>(low)};
    }
    return result;
}

} // namespace

template <class Real>
Result<void> compute(const ops::BilinearResize &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    if (arrays.inCount(0) == 0 && arrays.outCount(0) > 0)
        return badInput("input 0", "nothing to resize", "pictures of one pixel or more");
    if (in[2] == out[2] && in[3] == out[3]) { // no neighbour counts, be it infinite
        std::copy_n(arrays.in[0], arrays.inCount(0), arrays.out[0]);
        return {};
    }
    const auto rows = samples<Real>(in[2], out[2], op.alignCorners);
    const auto columns = samples<Real>(in[3], out[3], op.alignCorners);
    arrays.workers.share(extent(in, 0, 2), extent(out, 2, 4) * 8, [&](std::size_t begin, std::size_t end) {
        for (std::size_t plane = begin; plane < end; ++plane) {
            const Real *from = arrays.in[0] + plane * extent(in, 2, 4);
            Real *to = arrays.out[0] + plane * extent(out, 2, 4);
            for (const Sample<Real> &y : rows) {
                const Real *upper = from + y.low * in[3];
                const Real *lower = from + y.high * in[3];
                for (const Sample<Real> &x : columns)
                    *to++ = (1 - y.share) * ((1 - x.share) * upper[x.low] + x.share * upper[x.high])
                        + y.share * ((1 - x.share) * lower[x.low] + x.share * lower[x.high]);
            }
        }
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::Upsample &op, const Arrays<Real> &arrays)
{
    if (op.kind == ops::Upsample::Kind::Bilinear) {
        ops::ConvTranspose deconv;
        const std::int64_t kernel = 2 * op.scale - op.scale % 2;
        const std::int64_t pad = op.scale / 2; // (scale - 1) / 2, rounded up
        deconv.kernel = {kernel, kernel};
        deconv.stride = {op.scale, op.scale};
        deconv.pad = {{pad, pad}, {pad, pad}};
        deconv.outputChannels = op.filters;
        deconv.groups = op.filters;
        return compute(deconv, arrays);
    }
    const DimSpan out = arrays.outDims(0);
    const bool sum = op.join == ops::Upsample::Join::Sum;
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    std::int64_t firstChannel = 0;
    for (std::size_t i = 0; i < arrays.in.size(); ++i) {
        const DimSpan in = arrays.inDims(i);
        const std::int64_t scale = out[2] / std::max<std::int64_t>(in[2], 1);
        for (std::int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
            const std::int64_t channel = firstChannel + plane % in[1];
            const Real *from = arrays.in[i] + plane * in[2] * in[3];
            Real *to = arrays.out[0] + (plane / in[1] * out[1] + channel) * out[2] * out[3];
            for (std::int64_t y = 0; y < out[2]; ++y) {
                for (std::int64_t x = 0; x < out[3]; ++x)
                    to[y * out[3] + x] += from[y / scale * in[3] + x / scale];
            }
        }
        firstChannel += sum ? 0 : in[1];
    }
    return {};
}

HALFTONE_BOTH(BilinearResize)
HALFTONE_BOTH(Upsample)

} // namespace halftone::backends::reference

#include "core/backends/reference/kernels.h"

#include <array>
#include <cmath>

namespace halftone::backends::reference {
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

HALFTONE_BOTH(Correlation)

} // namespace halftone::backends::reference

#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {
namespace {

struct Statistics
{
    double mean = 0;
    double variance = 0;
};

/// Of `length` elements `step` apart. Sums are kept in double: no order of adding then matters.
template <class Real>
Statistics statisticsOf(const Real *data, std::size_t length, std::size_t step)
{
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i)
        sum += static_cast<double>(data[i * step]);
    const double mean = sum / static_cast<double>(length);
    double squares = 0;
    for (std::size_t i = 0; i < length; ++i) {
        const double distance = static_cast<double>(data[i * step]) - mean;
        squares += distance * distance;
    }
    return {mean, squares / static_cast<double>(length)};
}

/// Writes the hidden outputs of a normalisation where they are wanted.
template <class Real>
void tellStatistics(const Arrays<Real> &arrays, std::size_t at, double mean, double spread)
{
    if (arrays.out.size() > 1 && arrays.out[1])
        arrays.out[1][at] = static_cast<Real>(mean);
    if (arrays.out.size() > 2 && arrays.out[2])
        arrays.out[2][at] = static_cast<Real>(spread);
}

} // namespace

template <class Real>
Result<void> compute(const ops::BatchNormalization &op, const Arrays<Real> &arrays)
{
    const AxisView view(arrays.inDims(0), fromFront(op.axis, arrays.inDims(0).size()));
    const auto epsilon = static_cast<Real>(op.epsilon);
    for (std::size_t c = 0; c < view.length; ++c) {
        const Real inverse = Real(1) / std::sqrt(arrays.in[4][c] + epsilon);
        const Real scale = op.fixGamma ? inverse : inverse * arrays.in[1][c];
        const Real mean = arrays.in[3][c];
        const Real shift = arrays.in[2][c];
        for (std::size_t o = 0; o < view.outer; ++o) {
            const Real *data = arrays.in[0] + (o * view.length + c) * view.inner;
            Real *out = arrays.out[0] + (o * view.length + c) * view.inner;
            for (std::size_t i = 0; i < view.inner; ++i)
                out[i] = static_cast<Real>(static_cast<double>(data[i]) - mean) * scale + shift;
        }
        tellStatistics(arrays, c, static_cast<double>(mean), static_cast<double>(inverse));
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::GroupNormalization &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto groups = static_cast<std::size_t>(op.groups);
    const std::size_t blocks = static_cast<std::size_t>(dims[0]) * groups;
    const std::size_t length = blocks == 0 ? 0 : arrays.inCount(0) / blocks;
    for (std::size_t block = 0; block < blocks; ++block) {
        const Real *data = arrays.in[0] + block * length;
        Real *out = arrays.out[0] + block * length;
        const Statistics found = statisticsOf(data, length, 1);
        const double deviation = std::sqrt(found.variance + op.epsilon);
        const double mean = found.mean;
        const auto inverse = static_cast<Real>(1 / deviation);
        const std::size_t ofGroup = op.perChannel ? static_cast<std::size_t>(dims[1]) / groups : 1;
        const std::size_t run = ofGroup == 0 ? 1 : std::max<std::size_t>(length / ofGroup, 1);
        for (std::size_t i = 0; i < length; ++i) {
            const std::size_t which = block % groups * ofGroup + i / run;
            out[i] = static_cast<Real>(static_cast<double>(data[i]) - mean) * inverse * arrays.in[1][which]
                + arrays.in[2][which];
        }
        tellStatistics(arrays, block, found.mean, deviation);
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::InstanceNormalization &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto channels = static_cast<std::size_t>(dims[1]);
    const std::size_t length = extent(dims, 2, dims.size());
    for (std::size_t plane = 0; plane < extent(dims, 0, 2); ++plane) {
        const Real *data = arrays.in[0] + plane * length;
        Real *out = arrays.out[0] + plane * length;
        const Statistics found = statisticsOf(data, length, 1);
        const double mean = found.mean;
        const auto scale
            = static_cast<Real>(1 / std::sqrt(found.variance + op.epsilon)) * arrays.in[1][plane % channels];
        for (std::size_t i = 0; i < length; ++i)
            out[i] = static_cast<Real>(static_cast<double>(data[i]) - mean) * scale
                + arrays.in[2][plane % channels];
        tellStatistics(arrays, plane, found.mean, found.variance);
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::LRN &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const AxisView view(dims, 1);
    const auto channels = static_cast<std::int64_t>(view.length);
    const std::int64_t before = (op.size - 1) / 2;
    const std::int64_t behind = op.size / 2;
    const auto factor = static_cast<Real>(op.alpha / static_cast<double>(op.size));
    const auto k = static_cast<Real>(op.k);
    const auto beta = static_cast<Real>(-op.beta);
    arrays.workers.share(view.outer * view.length, view.inner * 40, [&](std::size_t begin, std::size_t end) {
        for (std::size_t plane = begin; plane < end; ++plane) {
            const auto c = static_cast<std::int64_t>(plane % view.length);
            const Real *picture = arrays.in[0] + plane / view.length * view.length * view.inner;
            const std::int64_t first = std::max<std::int64_t>(0, c - before);
            const std::int64_t last = std::min(channels - 1, c + behind);
            for (std::size_t i = 0; i < view.inner; ++i) {
                Real squares = 0;
                for (std::int64_t other = first; other <= last; ++other) {
                    const Real x = picture[static_cast<std::size_t>(other) * view.inner + i];
                    squares += x * x;
                }
                const Real norm = k + factor * squares;
                const std::size_t at = plane * view.inner + i;
                arrays.out[0][at] = arrays.in[0][at] * std::pow(norm, beta);
                if (arrays.out.size() > 1 && arrays.out[1])
                    arrays.out[1][at] = norm;
            }
        }
    });
    return {};
}

HALFTONE_BOTH(BatchNormalization)
HALFTONE_BOTH(GroupNormalization)
HALFTONE_BOTH(InstanceNormalization)
HALFTONE_BOTH(LRN)

} // namespace halftone::backends::reference

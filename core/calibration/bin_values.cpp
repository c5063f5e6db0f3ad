#include "core/calibration/bin_values.h"

#include "core/base/vector_loops.h"

#include <array>
#include <cmath>
#include <limits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace halftone::calibration {
namespace {

constexpr float kLargestBinned = std::numeric_limits<float>::max();

/// The bin of every value; that of zero for NaN and infinities, which are counted.
struct BinsOfValues
{
    [[gnu::always_inline]] static inline std::uint32_t run(const float *values, std::size_t size,
                                                           const BinGrid &grid, std::uint32_t *bins)
    {
        const double scale = 1 / grid.width;
        const auto last = static_cast<double>(grid.bins - 1);
        const double limit = grid.limit;
        const double width = grid.width;
        std::uint32_t odd = 0;
        // The estimate is off by one at most; the edges decide.
#pragma omp simd reduction(+ : odd)
        for (std::size_t i = 0; i < size; ++i) {
            const bool isFinite = std::abs(values[i]) <= kLargestBinned;
            const float x = isFinite ? values[i] : 0;
            odd += isFinite ? 0U : 1U;
            const double raw = (double{x} + limit) * scale;
            const double kept = raw < last ? raw : last;
            const auto k = static_cast<std::int32_t>(kept);
            const auto lower = static_cast<float>(-limit + k * width);
            const auto upper = static_cast<float>(-limit + (k + 1) * width);
            const std::int32_t down = x < lower ? 1 : 0;
            const std::int32_t up = x >= upper && kept < last ? 1 : 0;
            bins[i] = static_cast<std::uint32_t>(k - down + up);
        }
        return odd;
    }
};

/// Zeros are many behind a ReLU, and adding to one counter over and over is slow: they are counted as those that are left
/// over.
BinnedValues byEdges(std::span<const float> values, const BinGrid &grid, std::uint32_t *bins)
{
    const std::uint32_t odd = runFastest<BinsOfValues>(values.data(), values.size(), grid, bins);
    const auto middle = static_cast<std::uint32_t>(grid.bins / 2);
    std::size_t outer = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t bin = bins[i];
        bins[outer] = bin;
        outer += bin != middle ? 1 : 0;
    }
    return {outer, odd};
}

#ifdef __x86_64__
/// Values whose place on the grid, in bins, is as near to an edge as this share of all bins are left to the edges. In
/// float32 a place is off by 5 · 2^-25 of all bins: half a unit of the sum's last place, half one of either factor and of
/// the offset, and an edge's own rounding.
constexpr float kDoubt = 0x1p-22F;
constexpr std::size_t kMostQuickBins = std::size_t{1} << 16; ///< beyond, too many are doubtful

/// Sixteen values at once.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] BinnedValues
quickly(std::span<const float> values, const BinGrid &grid, std::uint32_t *bins)
{
    constexpr std::size_t kLanes = 16;
    std::array<float, kMostValues + kLanes> doubtful;
    std::size_t doubts = 0;
    BinnedValues result;
    const __m512 scale = _mm512_set1_ps(static_cast<float>(1 / grid.width));
    const __m512 offset = _mm512_set1_ps(static_cast<float>(grid.limit / grid.width));
    const __m512 half = _mm512_set1_ps(0.5F);
    const __m512 sure = _mm512_set1_ps(0.5F - kDoubt * static_cast<float>(grid.bins));
    const __m512i middle = _mm512_set1_epi32(static_cast<int>(grid.bins / 2));
    for (std::size_t i = 0; i < values.size(); i += kLanes) {
        const std::size_t left = values.size() - i;
        const auto lanes = static_cast<__mmask16>(left >= kLanes ? 0xFFFFU : (1U << left) - 1U);
        const __m512 x = _mm512_maskz_loadu_ps(lanes, values.data() + i);
        const __mmask16 finite
            = _mm512_mask_cmp_ps_mask(lanes, _mm512_abs_ps(x), _mm512_set1_ps(kLargestBinned), _CMP_LE_OQ);
        const __m512 place = _mm512_fmadd_ps(x, scale, offset);
        const __m512i bin = _mm512_maskz_cvttps_epi32(lanes, place);
        const __m512 apart
            = _mm512_abs_ps(_mm512_sub_ps(_mm512_sub_ps(place, _mm512_maskz_cvtepi32_ps(lanes, bin)), half));
        const __mmask16 certain = _mm512_mask_cmp_ps_mask(finite, apart, sure, _CMP_LE_OQ);
        const __mmask16 outer = _mm512_mask_cmpneq_epi32_mask(certain, bin, middle);
        _mm512_storeu_si512(bins + result.outer, _mm512_maskz_compress_epi32(outer, bin));
        result.outer += static_cast<std::size_t>(__builtin_popcount(outer));
        result.odd += static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(lanes & ~finite)));
        const auto doubt = static_cast<__mmask16>(finite & ~certain);
        if (doubt != 0) {
            _mm512_storeu_ps(doubtful.data() + doubts, _mm512_maskz_compress_ps(doubt, x));
            doubts += static_cast<std::size_t>(__builtin_popcount(doubt));
        }
    }
    result.outer += byEdges(std::span(doubtful).first(doubts), grid, bins + result.outer).outer;
    return result;
}
#endif

} // namespace

BinnedValues outerBins(std::span<const float> values, const BinGrid &grid, std::uint32_t *bins)
{
#ifdef __x86_64__
    // A width so small or large that its inverse is no normal float32 number leaves nothing to estimate with.
    constexpr double kNormal = 0x1p-100;
    if (hasAvx512() && grid.bins <= kMostQuickBins && grid.width > kNormal && grid.width < 1 / kNormal)
        return quickly(values, grid, bins);
#endif
    return byEdges(values, grid, bins);
}

} // namespace halftone::calibration

#include "core/calibration/exact_divergence.h"

#include "core/base/vector_loops.h"
#include "core/calibration/quick_divergence.h"
#include "core/calibration/vector_log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halftone::calibration {
namespace {

/// Takes from bins with counts what those without are given.
struct Smooth
{
    [[gnu::always_inline]] static inline bool run(float *bins, std::size_t size)
    {
        std::uint32_t empty = 0;
#pragma omp simd reduction(+ : empty)
        for (std::size_t j = 0; j < size; ++j)
            empty += bins[j] == 0 ? 1U : 0U;
        const std::size_t filled = size - empty;
        const float taken
            = filled > 0 ? kEmptyBin * static_cast<float>(empty) / static_cast<float>(filled) : 1.0F;
        if (taken >= 1)
            return false;
#pragma omp simd
        for (std::size_t j = 0; j < size; ++j)
            bins[j] = bins[j] == 0 ? kEmptyBin : bins[j] - taken;
        return true;
    }
};

/// p ln(p / q) of every bin, in place of p. Rounded from double, since logarithms of float32 are no faster.
struct Terms
{
    [[gnu::always_inline]] static inline void run(float *reference, const float *candidate, std::size_t size,
                                                  float referenceSum, float candidateSum)
    {
#pragma omp simd
        for (std::size_t j = 0; j < size; ++j) {
            const float p = reference[j] / referenceSum;
            const float q = candidate[j] / candidateSum;
            const float ratio = p / q;
            const bool isNormal
                = ratio >= std::numeric_limits<float>::min() && ratio <= std::numeric_limits<float>::max();
            const auto log = static_cast<float>(vectorLog(isNormal ? double{ratio} : 1.0));
            reference[j] = isNormal ? p * log : std::numeric_limits<float>::quiet_NaN();
        }
    }
};

} // namespace

ExactDivergence::ExactDivergence(std::span<const std::uint64_t> counts, std::size_t levels)
    : m_levels(levels)
    , m_counts(counts.size())
    , m_sums(counts.size() + 1)
    , m_filled(counts.size() + 1)
{
    float fromLeft = 0;
    for (std::size_t j = 0; j < counts.size(); ++j) {
        m_counts[j] = static_cast<float>(counts[j]);
        fromLeft += m_counts[j];
        m_fromLeft.push_back(fromLeft);
        m_sums[j + 1] = m_sums[j] + double{m_counts[j]};
        m_filled[j + 1] = m_filled[j] + (m_counts[j] != 0 ? 1 : 0);
    }
}

ExactDivergence::Sums ExactDivergence::sumsOf(std::span<const std::size_t> candidates)
{
    for (std::size_t l = 0; l < kLanes; ++l) {
        if (l < candidates.size())
            fill(m_lanes[l], candidates[l]);
        else
            m_lanes[l].isDefined = false;
        if (!m_lanes[l].isDefined) {
            m_lanes[l].reference.clear();
            m_lanes[l].candidate.clear();
        }
    }
    return {sums(&Smoothed::reference), sums(&Smoothed::candidate)};
}

void ExactDivergence::operator()(std::span<const std::size_t> candidates, std::span<float> divergences)
{
    const Sums norms = sumsOf(candidates);
    for (std::size_t l = 0; l < kLanes; ++l) {
        Smoothed &lane = m_lanes[l];
        runFastest<Terms>(lane.reference.data(), std::as_const(lane.candidate).data(), lane.reference.size(),
                          norms.reference[l], norms.candidate[l]);
    }
    const auto terms = sums(&Smoothed::reference);
    for (std::size_t l = 0; l < candidates.size(); ++l) {
        const bool isFinite = m_lanes[l].isDefined && std::isfinite(terms[l]);
        divergences[l] = isFinite ? terms[l] : std::numeric_limits<float>::infinity();
    }
}

std::array<float, ExactDivergence::kLanes> ExactDivergence::sums(std::vector<float> Smoothed::*bins) const
{
    std::array<float, kLanes> sums{};
    std::array<const float *, kLanes> lanes{};
    std::size_t common = std::numeric_limits<std::size_t>::max();
    for (std::size_t l = 0; l < kLanes; ++l) {
        lanes[l] = (m_lanes[l].*bins).data();
        common = std::min(common, (m_lanes[l].*bins).size());
    }
    for (std::size_t j = 0; j < common; ++j) {
        for (std::size_t l = 0; l < kLanes; ++l)
            sums[l] += lanes[l][j];
    }
    for (std::size_t l = 0; l < kLanes; ++l) {
        for (std::size_t j = common; j < (m_lanes[l].*bins).size(); ++j)
            sums[l] += lanes[l][j];
    }
    return sums;
}

void ExactDivergence::fill(Smoothed &lane, std::size_t candidate)
{
    const Slice slice = sliceOf(m_counts.size(), candidate);
    const std::size_t size = slice.size();
    const float *const kept = m_counts.data() + slice.begin;
    lane.reference.assign(kept, kept + size);
    lane.reference.front() = m_fromLeft[slice.begin];
    lane.reference.back() = 0;
    for (std::size_t j = slice.end - 1; j < m_counts.size(); ++j)
        lane.reference.back() += m_counts[j];
    lane.candidate.resize(size);
    const std::size_t width = size / m_levels;
    for (std::size_t k = 0; k < m_levels; ++k) {
        // MXNet's asymmetry: the leftmost bin is not quantized.
        const std::size_t from = k * width;
        const std::size_t counted = std::max<std::size_t>(from, 1);
        const std::size_t to = k + 1 == m_levels ? size : from + width;
        const double total = m_sums[slice.begin + to] - m_sums[slice.begin + counted];
        const double filled = m_filled[slice.begin + to] - m_filled[slice.begin + counted];
        const float level = filled > 0 ? static_cast<float>(total) / static_cast<float>(filled) : 0;
        for (std::size_t j = from; j < to; ++j)
            lane.candidate[j] = lane.reference[j] != 0 ? level : 0;
    }
    lane.isDefined
        = runFastest<Smooth>(lane.reference.data(), size) && runFastest<Smooth>(lane.candidate.data(), size);
}

} // namespace halftone::calibration

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::calibration {

/// MXNet's divergences of many candidates of the entropy search (entropy.h). Its float32 sums are strictly sequential, so
/// that a single one waits for every addition; several go side by side.
class ExactDivergence
{
public:
    static constexpr std::size_t kLanes = 8;

    /// Needs: an odd number of counts
    ExactDivergence(std::span<const std::uint64_t> counts, std::size_t levels);

    struct Sums
    {
        std::array<float, kLanes> reference{};
        std::array<float, kLanes> candidate{};
    };

    /// What the distributions of some candidates are divided by; meaningless where one is not defined. Needs: at most
    /// kLanes.
    Sums sumsOf(std::span<const std::size_t> candidates);
    /// Of the candidates that sumsOf() was last asked about.
    bool isDefined(std::size_t lane) const { return m_lanes[lane].isDefined; }

    /// Infinite where a divergence is not defined. Needs: at most kLanes candidates.
    void operator()(std::span<const std::size_t> candidates, std::span<float> divergences);

private:
    /// The distribution that a candidate keeps and what quantizing makes of it, both smoothed, but not yet of sum 1.
    struct Smoothed
    {
        std::vector<float> reference;
        std::vector<float> candidate;
        bool isDefined = false;
    };

    /// Sequential within a lane.
    std::array<float, kLanes> sums(std::vector<float> Smoothed::*bins) const;
    void fill(Smoothed &lane, std::size_t candidate);

    std::size_t m_levels;
    std::vector<float> m_counts;
    std::vector<float> m_fromLeft; ///< sequential sums of the counts up to a bin, that one included
    std::vector<double> m_sums; ///< of the counts before a bin
    std::vector<double> m_filled;
    std::array<Smoothed, kLanes> m_lanes;
};

} // namespace halftone::calibration

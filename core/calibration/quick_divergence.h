#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::calibration {

/// Candidate k keeps the bins [begin, end) around the middle one.
struct Slice
{
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
};

inline Slice sliceOf(std::size_t bins, std::size_t candidate)
{
    return {bins / 2 - candidate, bins / 2 + candidate + 1};
}

inline constexpr float kEmptyBin = 1e-4F; ///< what a bin without counts is given

/// The divergence of each candidate of the entropy search (entropy.h) in double, from sums over the bins before each one:
/// in time proportional to the levels, whatever the number of bins.
class QuickDivergence
{
public:
    /// Needs: an odd number of counts
    QuickDivergence(std::span<const std::uint64_t> counts, std::size_t levels);

    /// Infinite where it is not defined; NaN where the sums are too coarse for it.
    double operator()(std::size_t candidate) const { return parts(candidate).divergence(total()); }
    /// With other sums of the two distributions, which a candidate is divided by, than the true ones.
    double normalisedBy(std::size_t candidate, double referenceSum, double candidateSum) const;

private:
    struct Parts
    {
        double mean = 0; ///< of ln(reference / candidate), neither of them normalised
        double candidateTotal = 1;

        double divergence(double total) const;
    };

    struct Sums
    {
        double count = 0;
        double filled = 0;
        double xLogX = 0;
        double log = 0;
        double inverse = 0;
        double inverse2 = 0;
    };

    double total() const { return m_sums[m_bins].count; }
    Parts parts(std::size_t candidate) const;
    Sums between(std::size_t begin, std::size_t end) const;
    /// self: Σ P ln P of the smoothed reference, not normalised
    Parts against(const Slice &slice, double first, double last, double filled, double taken,
                  double self) const;

    std::size_t m_levels;
    std::size_t m_bins;
    std::vector<Sums> m_sums;
    std::vector<double> m_counts; ///< of m_sums, where vectors find them
    std::vector<double> m_filled;
};

} // namespace halftone::calibration

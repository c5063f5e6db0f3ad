#pragma once

#include "core/calibration/collector.h"
#include "core/calibration/int8_error.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace halftone::calibration {

/// Both sides of a tensor's histogram together: counts of |x| in bins of one width, the first of half that and without the
/// zeros. Values are taken to lie evenly in their bins. Every figure costs time in proportion to the bins.
class FoldedHistogram
{
public:
    explicit FoldedHistogram(const TensorStatistics &statistics);

    std::size_t size() const { return m_counts.size(); }
    double width() const { return m_width; }
    double zeros() const { return m_zeros; }
    double count(std::size_t k) const { return m_counts[k]; }
    double lower(std::size_t k) const { return k == 0 ? 0 : (static_cast<double>(k) - 0.5) * m_width; }
    double upper(std::size_t k) const { return (static_cast<double>(k) + 0.5) * m_width; }
    double total() const { return m_total; } ///< of the counts, zeros included
    double signal() const { return m_signal; } ///< sum of squares

    /// Sum of squares of what codes of that step, up to `threshold`, lose. Needs: both above 0.
    double noise(double threshold, double step) const;
    /// In dB, of codes with that threshold; nothing for zeros and for a threshold that is not above 0.
    std::optional<double> sqnrDb(double threshold, CodeRange range) const;
    /// Of the finite values, beyond the threshold on either side.
    double clippedShare(double threshold) const;
    /// Kullback–Leibler in nats: the values' distribution against what is left of it in codes of that threshold, every code
    /// spread evenly over the values that it stands for, the last one over all that are clipped to it as well. Steady in the
    /// threshold, unlike the divergence of the entropy search (entropy.h), whose groups of whole bins jump over the values as
    /// a candidate grows. In time proportional to the codes. Needs: threshold above 0.
    double divergence(double threshold, CodeRange range) const;

private:
    double countBelow(double value) const;

    std::vector<double> m_counts;
    std::vector<double> m_below; ///< sums of the counts before a bin
    double m_density = 0; ///< sum over the bins of count * ln(count / width)
    double m_zeros;
    double m_width;
    double m_absMax;
    double m_total = 0;
    double m_signal = 0;
};

/// Steps from zero to the threshold: 127, or 255 where the codes begin at zero.
double levelsOf(CodeRange range);

} // namespace halftone::calibration

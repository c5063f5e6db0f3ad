#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::calibration {

/// Counts of values in equal bins over [-limit, limit], whose number is odd, so that one bin is centred on zero. Grows as
/// MXNet's calibration does (core/quantize/RULES.md, Q-histogram): bins of the same width are added on both sides. Edges
/// are those of NumPy's histogram of float32 values: rounded to float32, and the upper one belongs to the next bin.
/// Few values take little memory: a deep network has tens of thousands of tensors.
class Histogram
{
public:
    static constexpr std::size_t kFirstBins = 8001;
    /// Where growing would need more, three bins become one first. MXNet's own result is kept up to here.
    static constexpr std::size_t kMostBins = std::size_t{1} << 20;

    /// NaN and infinities are left out. `absMax`: the largest finite |x| among them. Zeros that come before anything
    /// else are kept in mind and counted once a range is known.
    void add(std::span<const float> values, float absMax);

    /// 0 until a value other than zero was added; there are no bins then.
    double limit() const { return m_limit; }
    std::size_t bins() const { return m_bins; } ///< odd; 0 while limit() is 0
    std::vector<std::uint64_t> counts() const; ///< of each bin
    double binWidth() const { return 2 * m_limit / static_cast<double>(m_bins); }
    /// Lower edge of bin `k`; that of the bin behind the last one is the limit.
    float edge(std::size_t k) const
    {
        return k == m_bins ? static_cast<float>(m_limit)
                           : static_cast<float>(-m_limit + static_cast<double>(k) * m_width);
    }
    std::uint64_t zerosBefore() const { return m_zerosBefore; } ///< while limit() is 0
    /// The first batch was nothing but zeros, and a later one was not: MXNet gives up there.
    bool beganWithZeros() const { return m_beganWithZeros; }
    bool isCoarsened() const { return m_isCoarsened; }

    /// Keeps only what counts, where that is little.
    void pack();

    bool operator==(const Histogram &other) const;

    /// A histogram from its parts, as a table holds them. Needs: an odd number of counts, or none, and then limit 0.
    static Histogram ofParts(double limit, std::vector<std::uint64_t> counts, bool isCoarsened);
    /// Of nothing but zeros.
    static Histogram ofZeros(std::uint64_t zeros);

private:
    /// A bin with a count.
    struct Filled
    {
        std::size_t bin = 0;
        std::uint64_t count = 0;
    };
    /// Up to so many stand in a list. As many again come in one call before it pays to have all bins.
    static constexpr std::size_t kMostFilled = 128;

    bool isPacked() const { return m_counts.empty(); }
    void unpack();
    void add(std::size_t bin, std::uint64_t count);
    void count(std::span<const float> values);
    void grow(double absMax);
    void widen(std::size_t more);
    void coarsen();

    double m_limit = 0;
    double m_width = 0; ///< of a bin
    std::size_t m_bins = 0;
    std::vector<std::uint64_t> m_counts; ///< of all bins, or none at all: then
    std::vector<Filled> m_filled; ///< by bin
    std::uint64_t m_zerosBefore = 0;
    bool m_beganWithZeros = false;
    bool m_isCoarsened = false;
};

} // namespace halftone::calibration

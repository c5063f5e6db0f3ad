#include "core/calibration/bin_values.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace halftone::calibration;

namespace {

/// The definition: a value lies in the last bin whose lower edge, rounded to float32, is not above it; the limit in the
/// last bin of all.
std::vector<std::uint32_t> binsByDefinition(const std::vector<float> &values, const BinGrid &grid)
{
    std::vector<float> edges;
    for (std::size_t k = 0; k < grid.bins; ++k)
        edges.push_back(static_cast<float>(-grid.limit + static_cast<double>(k) * grid.width));
    std::vector<std::uint32_t> bins;
    for (const float value : values) {
        if (!std::isfinite(value))
            continue;
        const auto above = std::upper_bound(edges.begin(), edges.end(), value);
        bins.push_back(static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(0, above - edges.begin() - 1)));
    }
    return bins;
}

void compare(const std::vector<float> &values, const BinGrid &grid)
{
    std::array<std::uint32_t, kMostValues + kBinsAhead> bins;
    const BinnedValues binned = outerBins(values, grid, bins.data());
    std::vector<std::uint32_t> expected = binsByDefinition(values, grid);
    QCOMPARE(binned.odd, values.size() - expected.size());
    std::erase(expected, static_cast<std::uint32_t>(grid.bins / 2));
    std::vector<std::uint32_t> got(bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(binned.outer));
    std::ranges::sort(got);
    std::ranges::sort(expected);
    QCOMPARE(got, expected);
}

BinGrid gridOf(double limit, std::size_t bins)
{
    return {limit, 2 * limit / static_cast<double>(bins), bins};
}

} // namespace

class TstBinValues : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void valuesLieBetweenTheEdgesOfTheirBins()
    {
        std::mt19937 engine(3);
        std::normal_distribution<float> draw;
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{1003}, kMostValues}) {
            std::vector<float> values(count);
            float most = 0;
            for (float &value : values) {
                value = draw(engine);
                most = std::max(most, std::abs(value));
            }
            for (const std::size_t bins : {std::size_t{3}, std::size_t{8001}, std::size_t{8775},
                                           std::size_t{65535}, std::size_t{300001}})
                compare(values, gridOf(double{most}, bins));
        }
    }

    /// One step of a float to either side of every edge, where estimates go wrong first.
    void valuesBesideEdgesLieOnTheirSide()
    {
        constexpr float kInfinite = std::numeric_limits<float>::infinity();
        for (const double limit : {1.0, 3.7, 1e-30, 2.5e30}) {
            const BinGrid grid = gridOf(double{static_cast<float>(limit)}, 8001);
            std::vector<float> values;
            for (std::size_t k = 1; k < grid.bins; ++k) {
                const auto edge = static_cast<float>(-grid.limit + static_cast<double>(k) * grid.width);
                for (const float value :
                     {edge, std::nextafter(edge, -kInfinite), std::nextafter(edge, kInfinite)})
                    values.push_back(value);
                if (values.size() + 3 > kMostValues || k + 1 == grid.bins) {
                    compare(values, grid);
                    values.clear();
                }
            }
            compare({static_cast<float>(grid.limit), -static_cast<float>(grid.limit)}, grid);
        }
    }

    void whatIsNotFiniteAndWhatIsZeroIsLeftOut()
    {
        constexpr float kInfinite = std::numeric_limits<float>::infinity();
        const std::vector<float> values{0.0F, -0.0F,  kInfinite, -kInfinite, std::nanf(""),
                                        1.0F, 1e-40F, -1.0F,     0.0F};
        compare(values, gridOf(1, 8001));
        compare(values, gridOf(1, 100001));
        compare({}, gridOf(1, 8001));
    }
};

QTEST_APPLESS_MAIN(TstBinValues)
#include "tst_bin_values.moc"

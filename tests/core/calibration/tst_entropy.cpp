#include "core/calibration/entropy.h"
#include "core/calibration/exact_divergence.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace halftone::calibration;

namespace {

/// Counts from a small generator, of several shapes; the script that recorded MXNet's answers has the same.
std::vector<std::uint64_t> countsOf(std::string_view shape, std::size_t bins)
{
    std::uint64_t state = 7;
    std::vector<std::uint64_t> counts;
    const auto middle = static_cast<std::int64_t>(bins / 2);
    const auto square = static_cast<std::int64_t>(bins * bins / 16);
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(bins); ++k) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto random = static_cast<std::int64_t>(state >> 40);
        const std::int64_t distance = std::abs(k - middle);
        std::int64_t count = 0;
        if (shape == "bell")
            count = (random >> 12) * std::max<std::int64_t>(0, square - distance * distance) / square;
        else if (shape == "sparse")
            count = (random & 31) == 0 ? random >> 20 : 0;
        else if (shape == "relu")
            count = k < middle ? 0 : (random >> 10) / (1 + distance / 8);
        else if (shape == "tails")
            count = (random >> 14) / (1 + distance * distance / 400);
        else
            count = 100 + (random >> 18);
        counts.push_back(static_cast<std::uint64_t>(count));
    }
    return counts;
}

struct Recorded
{
    const char *shape;
    std::size_t bins;
    std::size_t levels;
    std::size_t candidate;
    float divergence;
};

/// What MXNet 1.9.1's _contrib_calibrate_entropy gives for them, with edges over [-1, 1].
constexpr Recorded kRecorded[] = {
    {"bell", 1001, 255, 255, 0.101402156F},    {"bell", 1001, 511, 255, 0.0F},
    {"bell", 2001, 255, 510, 0.134028703F},    {"bell", 2001, 511, 512, 0.0906824544F},
    {"sparse", 1001, 255, 454, 0.0273829754F}, {"sparse", 1001, 511, 489, 0.0865361169F},
    {"sparse", 2001, 255, 997, 0.0355497003F}, {"sparse", 2001, 511, 998, 0.0475794859F},
    {"relu", 1001, 255, 498, 0.145980924F},    {"relu", 1001, 511, 415, 0.175381199F},
    {"relu", 2001, 255, 999, 0.155031666F},    {"relu", 2001, 511, 998, 0.133755952F},
    {"tails", 1001, 255, 379, 0.102569744F},   {"tails", 1001, 511, 414, 0.0345092863F},
    {"tails", 2001, 255, 375, 0.114812568F},   {"tails", 2001, 511, 402, 0.0482557118F},
    {"flat", 1001, 255, 500, 0.00724411849F},  {"flat", 1001, 511, 500, 0.0180422012F},
    {"flat", 2001, 255, 1000, 0.00864776503F}, {"flat", 2001, 511, 1000, 0.00732010789F},
};

/// With MXNet's float32 sums, one candidate at a time; infinite where it is not defined.
float sequentialDivergence(const Histogram &histogram, std::size_t levels, std::size_t candidate)
{
    float divergence = 0;
    ExactDivergence(histogram.counts(), levels)(std::span(&candidate, 1), std::span(&divergence, 1));
    return divergence;
}

} // namespace

class TstEntropy : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theCandidateAndItsDivergenceAreMxnets()
    {
        for (const Recorded &recorded : kRecorded) {
            const Histogram histogram = Histogram::ofParts(1, countsOf(recorded.shape, recorded.bins), false);
            const auto choice = chooseByEntropy(histogram, recorded.levels);
            QVERIFY(choice);
            QVERIFY(choice->isExact);
            QCOMPARE(choice->candidate, recorded.candidate);
            QVERIFY2(std::abs(choice->divergence - double{recorded.divergence})
                         <= 1e-6 * double{recorded.divergence} + 1e-9,
                     (std::string(recorded.shape) + " " + std::to_string(recorded.bins) + " "
                      + std::to_string(recorded.levels) + " " + std::to_string(choice->divergence))
                         .c_str());
        }
    }

    /// So many counts that float32 sums lose the small ones, and divergences that lie close together.
    void theChoiceIsTheLeastOfAllCandidatesInSequentialSums()
    {
        for (const char *shape : {"bell", "sparse", "relu", "tails", "flat"}) {
            for (const std::uint64_t scale : {1ULL, 5'000ULL, 3'000'000ULL}) {
                std::vector<std::uint64_t> counts = countsOf(shape, 1501);
                for (std::size_t k = 0; k < counts.size(); ++k)
                    counts[k] = counts[k] * (k % 7 == 0 ? 1 : scale);
                const Histogram histogram = Histogram::ofParts(1, counts, false);
                for (const std::size_t levels : {std::size_t{31}, kSignedLevels, kUnsignedLevels}) {
                    std::size_t best = 0;
                    float least = std::numeric_limits<float>::infinity();
                    for (std::size_t k = levels / 2; k <= counts.size() / 2; ++k) {
                        const float divergence = sequentialDivergence(histogram, levels, k);
                        if (divergence < least) {
                            least = divergence;
                            best = k;
                        }
                    }
                    const auto choice = chooseByEntropy(histogram, levels);
                    QCOMPARE(choice.has_value(), std::isfinite(least));
                    if (choice) {
                        QCOMPARE(choice->candidate, best);
                        QCOMPARE(choice->divergence, double{least});
                    }
                }
            }
        }
    }

    void theCurveIsWithinFloatsRoundingOfTheSequentialSums()
    {
        for (const char *shape : {"bell", "sparse", "relu", "tails", "flat"}) {
            const Histogram histogram = Histogram::ofParts(2, countsOf(shape, 801), false);
            for (const std::size_t levels : {std::size_t{31}, kSignedLevels}) {
                const DivergenceCurve curve = divergenceCurve(histogram, levels);
                QCOMPARE(curve.first, levels / 2);
                QCOMPARE(curve.divergences.size(), 400 - levels / 2 + 1);
                for (std::size_t k = 0; k < curve.divergences.size(); ++k) {
                    const double exact = double{sequentialDivergence(histogram, levels, curve.first + k)};
                    QVERIFY(std::isinf(exact) == std::isinf(curve.divergences[k]));
                    if (std::isfinite(exact))
                        QVERIFY2(std::abs(curve.divergences[k] - exact) < 5e-5 + 1e-3 * exact, shape);
                }
            }
        }
    }

    void noDivergenceIsFiniteWhereOneBinHasAllCounts()
    {
        std::vector<std::uint64_t> counts(8001);
        counts[0] = 10'000;
        QVERIFY(!chooseByEntropy(Histogram::ofParts(1, counts, false), kSignedLevels));
        QVERIFY(!chooseByEntropy(Histogram(), kSignedLevels));
    }

    void aStopRequestEndsTheSearch()
    {
        std::stop_source source;
        source.request_stop();
        const Histogram histogram = Histogram::ofParts(1, countsOf("bell", 2001), false);
        QVERIFY(!chooseByEntropy(histogram, kSignedLevels, source.get_token()));
    }
};

QTEST_APPLESS_MAIN(TstEntropy)
#include "tst_entropy.moc"

#include "core/calibration/calibrated.h"
#include "core/calibration/int8_error.h"
#include "core/io/arrays/npz.h"

#include <QDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace halftone;
using namespace halftone::calibration;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TensorStatistics statisticsOf(const std::vector<float> &values, std::size_t cut)
{
    Collector collector;
    for (std::size_t at = 0; at < values.size(); at += cut)
        collector.add(std::span(values).subspan(at, std::min(cut, values.size() - at)));
    return collector.statistics();
}

bool near(double got, double want, double tolerance = 1e-9)
{
    return got == want || std::abs(got - want) <= tolerance * std::abs(want);
}

/// The nearest number with `bits` significant ones and exponents from `lowest`, ties to even; infinite from `overflow` on.
double roundedTo(double value, int bits, int lowest, double overflow)
{
    if (std::abs(value) >= overflow)
        return std::copysign(std::numeric_limits<double>::infinity(), value);
    const int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
    const double step = std::ldexp(1.0, exponent - bits + 1);
    return std::nearbyint(value / step) * step; // exact: a power of two
}

struct Wanted
{
    std::uint64_t overflow = 0, subnormal = 0, underflow = 0;
    double maxRelative = 0, meanRelative = 0, rms = 0, sqnrDb = 0;
};

Wanted lossOf(const std::vector<float> &values, int bits, int lowest, double overflow)
{
    Wanted wanted;
    double signal = 0, noise = 0, relatives = 0;
    std::size_t kept = 0, nonZero = 0;
    for (const float value : values) {
        if (!std::isfinite(value))
            continue;
        const double rounded = roundedTo(value, bits, lowest, overflow);
        wanted.subnormal += value != 0 && std::abs(value) < std::ldexp(1.0, lowest) ? 1 : 0;
        wanted.underflow += value != 0 && rounded == 0 ? 1 : 0;
        if (std::isinf(rounded)) {
            ++wanted.overflow;
            continue;
        }
        ++kept;
        signal += double{value} * value;
        noise += (rounded - value) * (rounded - value);
        if (value != 0) {
            ++nonZero;
            const double relative = std::abs(rounded - value) / std::abs(double{value});
            relatives += relative;
            wanted.maxRelative = std::max(wanted.maxRelative, relative);
        }
    }
    wanted.meanRelative = nonZero > 0 ? relatives / static_cast<double>(nonZero) : 0;
    wanted.rms = kept > 0 ? std::sqrt(noise / static_cast<double>(kept)) : 0;
    wanted.sqnrDb = 10 * std::log10(signal / noise);
    return wanted;
}

void compareLoss(const FormatLoss &got, const Wanted &want)
{
    QCOMPARE(got.overflow, want.overflow);
    QCOMPARE(got.subnormal, want.subnormal);
    QCOMPARE(got.underflow, want.underflow);
    QVERIFY(near(got.maxRelative, want.maxRelative));
    QVERIFY(near(got.meanRelative, want.meanRelative));
    QVERIFY(near(got.rms, want.rms));
    QVERIFY(near(got.sqnrDb, want.sqnrDb));
}

/// Numbers of all magnitudes, with the borders of float16 and bfloat16 among them.
std::vector<float> wideValues(unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<float> values{0,          -0.0F,     65504,        65519.996F, 65520,
                              -65536,     0x1p-14F,  0x1.ffcp-15F, 0x1p-24F,   0x1p-25F,
                              0x1.8p-25F, -0x1p-26F, 1e-40F,       0x1p-149F,  3.4e38F};
    for (int i = 0; i < 20000; ++i)
        values.push_back(static_cast<float>(normal(random) * std::exp(6 * normal(random))));
    return values;
}

/// What most tensors hold: all of it in the range of float16, with zeros behind a ReLU and a few subnormal numbers of float16.
std::vector<float> everydayValues(unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values;
    for (int i = 0; i < 20000; ++i)
        values.push_back(std::max(-0.5F, normal(random)) + 0.5F);
    values.insert(values.end(), {-0.0F, 0, 65504, -65504, 0x1.004p-14F, 0x1.8p-15F, 0x1p-126F, 0x1.8p-25F});
    return values;
}

} // namespace

class TestCollector : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void statisticsAreThoseOfAPlainRecomputation()
    {
        for (unsigned seed = 0; seed < 6; ++seed) {
            std::vector<float> values = seed < 4 ? wideValues(seed) : everydayValues(seed);
            values.insert(values.begin() + 5, {kNaN, kInf, -kInf, kInf});
            std::map<int, std::uint64_t> exponents;
            std::uint64_t zeros = 0, negatives = 0;
            double low = kInf, high = -kInf, smallest = kInf;
            for (const float value : values) {
                if (!std::isfinite(value))
                    continue;
                zeros += value == 0 ? 1 : 0;
                negatives += value < 0 ? 1 : 0;
                low = std::min(low, double{value});
                high = std::max(high, double{value});
                if (value != 0) {
                    ++exponents[std::ilogb(value)];
                    smallest = std::min(smallest, std::abs(double{value}));
                }
            }
            for (const std::size_t cut : {values.size(), std::size_t{4096}, std::size_t{333}}) {
                const TensorStatistics got = statisticsOf(values, cut);
                QCOMPARE(got.count, std::uint64_t{values.size()});
                QCOMPARE(got.nan, std::uint64_t{1});
                QCOMPARE(got.positiveInfinite, std::uint64_t{2});
                QCOMPARE(got.negativeInfinite, std::uint64_t{1});
                QCOMPARE(got.zeros, zeros);
                QCOMPARE(got.negatives, negatives);
                QCOMPARE(got.min, low);
                QCOMPARE(got.max, high);
                QCOMPARE(got.smallestNonZero, smallest);
                for (int k = ExponentCounts::kLowest; k <= ExponentCounts::kHighest; ++k)
                    QCOMPARE(got.exponents.at(k), exponents[k]);
                compareLoss(got.fp16, lossOf(values, 11, -14, 65520));
                compareLoss(got.bf16, lossOf(values, 8, -126, 0x1.ffp127));
                std::uint64_t counted = 0;
                for (const std::uint64_t count : got.histogram.counts())
                    counted += count;
                QCOMPARE(counted, got.finite());
            }
        }
    }

    void aSmallSpreadBesideALargeMeanIsNotLost()
    {
        std::mt19937 random(7);
        std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
        std::vector<float> values(100'000);
        long double sum = 0;
        for (float &value : values)
            sum += value = 4096 + uniform(random);
        const long double mean = sum / static_cast<long double>(values.size());
        long double squares = 0;
        for (const float value : values)
            squares += (value - mean) * (value - mean);
        const TensorStatistics got = statisticsOf(values, 1000);
        QVERIFY(near(got.mean, static_cast<double>(mean), 1e-12));
        QVERIFY(near(got.deviation,
                     static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size())))));
        QCOMPARE(got.fp16.ulpAtAbsMax, 4.0); // 2^(12 - 10): the whole signal
    }

    void theHistogramGrowsAsTheRuleSays()
    {
        Histogram histogram;
        histogram.add(std::vector<float>{0, 0}, 0); // zeros alone settle no range
        QCOMPARE(histogram.limit(), 0.0);
        histogram.add(std::vector<float>{-1, 1, 0.5F}, 1);
        QCOMPARE(histogram.counts().size(), std::size_t{8001});
        QCOMPARE(histogram.counts()[4000], std::uint64_t{2});
        QCOMPARE(histogram.counts().front(), std::uint64_t{1});
        QCOMPARE(histogram.counts().back(), std::uint64_t{1});
        histogram.add(std::vector<float>{1.5F, kNaN, -kInf}, 1.5F);
        const double width = 2.0 / 8001;
        const auto added = static_cast<std::size_t>(std::floor(0.5 / width)) + 1;
        QCOMPARE(histogram.counts().size(), 8001 + 2 * added);
        QVERIFY(near(histogram.limit(), 1 + static_cast<double>(added) * width, 1e-12));
        QCOMPARE(histogram.counts()[4000 + added], std::uint64_t{2});
        QVERIFY(!histogram.isCoarsened());
    }

    void aRangeThatExplodesCostsNoMemory()
    {
        Histogram histogram;
        histogram.add(std::vector<float>{1e-30F, -1e-30F, 0}, 1e-30F);
        histogram.add(std::vector<float>{1e30F, 1}, 1e30F);
        QVERIFY(histogram.counts().size() <= Histogram::kMostBins);
        QVERIFY(histogram.counts().size() % 2 == 1);
        QVERIFY(histogram.isCoarsened());
        QVERIFY(histogram.limit() >= 1e30F);
        std::uint64_t all = 0;
        for (const std::uint64_t count : histogram.counts())
            all += count;
        QCOMPARE(all, std::uint64_t{5});
        QCOMPARE(histogram.counts()[histogram.counts().size() / 2], std::uint64_t{4});
    }

    void channelsHaveTheirOwnRanges()
    {
        // (2, 3, 2): before, channels, after
        const std::vector<float> values{1, 2, 3, 4, kNaN, 6, -1, -2, -3, kInf, -5, kNaN};
        const auto ranges = channelRanges(values, 2, 3, 2);
        QCOMPARE(ranges.size(), std::size_t{3});
        QCOMPARE(ranges[0].min, -2.0F);
        QCOMPARE(ranges[0].max, 2.0F);
        QCOMPARE(ranges[1].min, -3.0F);
        QCOMPARE(ranges[1].max, 4.0F);
        QCOMPARE(ranges[2].min, -5.0F);
        QCOMPARE(ranges[2].max, 6.0F);
        QCOMPARE(channelRanges({}, 0, 2, 4).size(), std::size_t{2});
    }

    void int8ErrorByHand()
    {
        // Step 1: codes are the numbers themselves, 200 is cut to 127.
        Int8Error error(127, CodeRange::Symmetric);
        error.add(std::vector<float>{3.25F, 200, kNaN, kInf});
        QVERIFY(near(*error.sqnrDb(), 10 * std::log10((3.25 * 3.25 + 200.0 * 200) / (0.0625 + 73.0 * 73))));
        Int8Error oneSided(255, CodeRange::OneSided);
        oneSided.add(std::vector<float>{200, -3});
        QVERIFY(near(*oneSided.sqnrDb(), 10 * std::log10(40009.0 / 9)));
        QVERIFY(!Int8Error(0, CodeRange::Symmetric).sqnrDb());
    }

    /// The histograms that MXNet 1.9.1 itself made of recorded batches.
    void histogramsAreThoseOfMxnet()
    {
        const QString shared = qEnvironmentVariable("HALFTONE_SHARED");
        if (shared.isEmpty())
            QSKIP("HALFTONE_SHARED names no folder of recorded histograms");
        const QDir folder(shared + "/fixtures/calibration");
        int seen = 0;
        for (const QString &file : folder.entryList({"*.npz"})) {
            const auto arrays = io::readNpz(folder.filePath(file).toStdString());
            QVERIFY(arrays.ok());
            std::map<std::string, tensor::Tensor> byName;
            for (const io::NamedTensor &array : arrays.value())
                byName.emplace(array.name, array.tensor);
            if (!byName.contains("mx_hist") || byName.at("mx_hist").elementCount() > Histogram::kMostBins)
                continue;
            Collector collector;
            for (int k = 0; byName.contains("batch_" + std::to_string(k)); ++k)
                collector.add(byName.at("batch_" + std::to_string(k)).values<float>());
            const Histogram histogram = collector.statistics().histogram;
            if (histogram.limit() == 0)
                continue; // nothing but zeros: MXNet counts them in bins of width 0
            const auto want = byName.at("mx_hist").values<std::int32_t>();
            QCOMPARE(histogram.counts().size(), want.size());
            std::int64_t ahead = 0; // counts that moved over this edge
            for (std::size_t k = 0; k < want.size(); ++k) {
                ahead += static_cast<std::int64_t>(histogram.counts()[k]) - want[k];
                QVERIFY2(std::abs(ahead) <= 2, qPrintable(file + " bin " + QString::number(k)));
            }
            ++seen;
        }
        QVERIFY(seen > 20);
    }
};

QTEST_GUILESS_MAIN(TestCollector)
#include "tst_collector.moc"

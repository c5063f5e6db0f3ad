#include "core/calibration/calibrated.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace halftone::calibration;

namespace {

TensorStatistics statisticsOf(const std::vector<float> &values)
{
    Collector collector;
    collector.add(values);
    return collector.statistics();
}

std::vector<float> normal(std::size_t count, bool isPositive = false)
{
    std::mt19937 engine(11);
    std::normal_distribution<float> draw;
    std::vector<float> values(count);
    for (float &value : values)
        value = isPositive ? std::abs(draw(engine)) : draw(engine);
    return values;
}

ThresholdOptions by(ThresholdMethod method, CodeType codes = CodeType::Int8)
{
    ThresholdOptions options;
    options.method = method;
    options.codes = codes;
    return options;
}

/// The definition, written out: 10 log10(signal / noise) of rounding to 127 or 255 steps.
double sqnrOf(const std::vector<float> &values, double threshold, double levels, bool isOneSided)
{
    double signal = 0;
    double noise = 0;
    for (const float value : values) {
        const double step = threshold / levels;
        const double code
            = std::clamp(std::nearbyint(double{value} / step), isOneSided ? 0 : -levels, levels);
        signal += double{value} * double{value};
        noise += (code * step - double{value}) * (code * step - double{value});
    }
    return 10 * std::log10(signal / noise);
}

} // namespace

class TstThresholds : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void minmaxIsTheLargestMagnitudeWithTheSqnrOfTheDefinition()
    {
        const std::vector<float> values = normal(5000);
        const Threshold threshold
            = chooseThreshold(statisticsOf(values), values, by(ThresholdMethod::MinMax));
        const float most
            = std::abs(*std::ranges::max_element(values, {}, [](float v) { return std::abs(v); }));
        QCOMPARE(threshold.value, double{most});
        QVERIFY(std::abs(*threshold.sqnrDb - sqnrOf(values, double{most}, 127, false)) < 1e-6);
        QCOMPARE(*threshold.sqnrDb, *threshold.sqnrDbMinMax);
    }

    void aPercentileLiesBetweenTheTwoValuesAtItsRank()
    {
        std::vector<float> values;
        for (int k = 0; k <= 1000; ++k)
            values.push_back(static_cast<float>(k % 2 == 0 ? k : -k));
        ThresholdOptions options = by(ThresholdMethod::Percentile);
        options.percentile = 99.25; // of 0..1000
        const Threshold exact = chooseThreshold(statisticsOf(values), values, options);
        QVERIFY(std::abs(exact.value - 992.5) < 1e-9);
        const Threshold binned = chooseThreshold(statisticsOf(values), options);
        QVERIFY(binned.errorBound > 0);
        QVERIFY(std::abs(binned.value - exact.value) <= binned.errorBound + 1);
    }

    void mseIsNeverWorseThanMinmax()
    {
        std::vector<float> values = normal(20'000);
        values.push_back(80);
        const TensorStatistics statistics = statisticsOf(values);
        const Threshold exact = chooseThreshold(statistics, values, by(ThresholdMethod::Mse));
        QVERIFY(*exact.sqnrDb >= *exact.sqnrDbMinMax);
        double best = 0;
        for (int step = 1; step <= 256; ++step)
            best = std::max(best, sqnrOf(values, 80.0 * step / 256, 127, false));
        QVERIFY(std::abs(*exact.sqnrDb - best) < 1e-6);
        QVERIFY(*chooseThreshold(statistics, by(ThresholdMethod::Mse)).sqnrDb > best - 0.1);
    }

    void sqnrFromTheHistogramIsThatOfTheValues()
    {
        for (const bool isPositive : {false, true}) {
            const std::vector<float> values = normal(50'000, isPositive);
            const TensorStatistics statistics = statisticsOf(values);
            const CodeRange range = isPositive ? CodeRange::OneSided : CodeRange::Symmetric;
            for (const double threshold : {0.5, 1.5, 3.0, statistics.absMax}) {
                const double wanted = sqnrOf(values, threshold, isPositive ? 255 : 127, isPositive);
                QVERIFY(std::abs(*sqnrFromHistogram(statistics, threshold, range) - wanted) < 0.1);
            }
        }
    }

    void theClippedShareIsThatOfTheValues()
    {
        const std::vector<float> values = normal(50'000);
        const auto clipped = std::ranges::count_if(values, [](float v) { return std::abs(v) > 2; });
        QVERIFY(std::abs(clippedShare(statisticsOf(values), 2) - static_cast<double>(clipped) / 50'000)
                < 2e-4);
        QCOMPARE(clippedShare(statisticsOf(values), 10), 0.0);
    }

    void oneSidedCodesAreForValuesWithoutNegativeOnesWhereTheTypeAllowsThem()
    {
        const TensorStatistics positive = statisticsOf(normal(100, true));
        const TensorStatistics both = statisticsOf(normal(100));
        QVERIFY(codeRangeOf(positive, CodeType::Int8) == CodeRange::Symmetric);
        QVERIFY(codeRangeOf(positive, CodeType::Uint8) == CodeRange::OneSided);
        QVERIFY(codeRangeOf(positive, CodeType::Auto) == CodeRange::OneSided);
        QVERIFY(codeRangeOf(both, CodeType::Auto) == CodeRange::Symmetric);
    }

    void entropyFallsBackWithANote()
    {
        const std::vector<float> constant(10'000, -2.0F);
        const Threshold fixed
            = chooseThreshold(statisticsOf(constant), constant, by(ThresholdMethod::Entropy));
        QCOMPARE(fixed.value, 2.0);
        QVERIFY(fixed.method == ThresholdMethod::MinMax);
        QVERIFY(!fixed.note.empty());
        const std::vector<float> few = normal(50);
        QVERIFY(chooseThreshold(statisticsOf(few), by(ThresholdMethod::Entropy)).method
                == ThresholdMethod::MinMax);
        const std::vector<float> zeros(100);
        const Threshold none = chooseThreshold(statisticsOf(zeros), zeros, by(ThresholdMethod::Entropy));
        QCOMPARE(none.value, 0.0);
        QVERIFY(!none.sqnrDb);
        QVERIFY(!none.note.empty());
    }

    void whatIsNotFiniteIsCountedInTheNote()
    {
        std::vector<float> values = normal(2000);
        values[3] = std::nanf("");
        const Threshold threshold
            = chooseThreshold(statisticsOf(values), values, by(ThresholdMethod::Entropy));
        QVERIFY(threshold.note.find("1 NaN") != std::string::npos);
        QVERIFY(std::isfinite(threshold.value));
    }

    void aRangeIsAllValuesOrASymmetricOrOneSidedThreshold()
    {
        TensorStatistics statistics = statisticsOf({-1.0F, 4.0F});
        Threshold threshold;
        threshold.value = 3;
        QCOMPARE(calibratedRange(statistics, threshold).min, -1.0F); // minmax
        threshold.keepsEnds = false;
        QCOMPARE(calibratedRange(statistics, threshold).min, -3.0F);
        QCOMPARE(calibratedRange(statistics, threshold).max, 3.0F);
        statistics = statisticsOf({0.0F, 4.0F});
        QCOMPARE(calibratedRange(statistics, threshold).min, 0.0F);
    }

    /// As the definition gives it: each channel coded in 127 steps of its own.
    void weightsAreJudgedByChannel()
    {
        constexpr std::size_t kChannels = 4;
        constexpr std::size_t kEach = 5000;
        std::vector<float> values = normal(kChannels * kEach);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] *= std::pow(0.1F, static_cast<float>(i / kEach));
        CalibratedTensor weight;
        weight.statistics = statisticsOf(values);
        QVERIFY(!channelSqnrDb(weight)); // no channels
        weight.channels = channelRanges(values, 1, kChannels, kEach);
        double signal = 0;
        double noise = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const ChannelRange &channel = weight.channels[i / kEach];
            const double step = std::max(-double{channel.min}, double{channel.max}) / 127;
            const double error = std::round(double{values[i]} / step) * step - double{values[i]};
            signal += double{values[i]} * double{values[i]};
            noise += error * error;
        }
        const double expected = 10 * std::log10(signal / noise);
        QVERIFY2(std::abs(channelSqnrDb(weight).value_or(0) - expected) < 0.3,
                 qPrintable(QString::number(expected)));
    }

    void methodsKeepTheirNames()
    {
        for (const auto method : {ThresholdMethod::MinMax, ThresholdMethod::Entropy,
                                  ThresholdMethod::Percentile, ThresholdMethod::Mse})
            QVERIFY(thresholdMethodNamed(nameOf(method)) == method);
        QVERIFY(!thresholdMethodNamed("naive"));
    }
};

QTEST_APPLESS_MAIN(TstThresholds)
#include "tst_thresholds.moc"

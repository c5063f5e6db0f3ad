#include "core/calibration/merging_collector.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace halftone::calibration;

namespace {

using Examples = std::vector<std::vector<float>>;

Examples grown()
{
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    Examples examples;
    for (int k = 0; k < 9; ++k) {
        std::vector<float> values(500);
        std::ranges::generate(values, [&] { return std::ldexp(normal(random), 3 * k - 12); });
        values[7] = 0;
        examples.push_back(std::move(values));
    }
    examples.push_back(std::vector<float>(500, 0.0F));
    examples[3][5] = std::numeric_limits<float>::infinity();
    examples[4][6] = std::nanf("");
    return examples;
}

MergingCollector of(const Examples &examples, std::size_t from, std::size_t to)
{
    MergingCollector collector;
    for (std::size_t k = from; k < to; ++k)
        collector.addExample(examples[k]);
    return collector;
}

bool areSame(const TensorStatistics &a, const TensorStatistics &b)
{
    const auto losses = [](const FormatLoss &loss) {
        return std::tuple(loss.aboveMax, loss.overflow, loss.subnormal, loss.underflow, loss.maxRelative,
                          loss.meanRelative, loss.rms, loss.maxAbs, loss.sqnrDb, loss.ulpAtAbsMax);
    };
    return a.count == b.count && a.nan == b.nan && a.positiveInfinite == b.positiveInfinite
        && a.zeros == b.zeros && a.negatives == b.negatives && a.min == b.min && a.max == b.max
        && a.mean == b.mean && a.deviation == b.deviation && a.smallestNonZero == b.smallestNonZero
        && a.exponents.counts == b.exponents.counts && losses(a.fp16) == losses(b.fp16)
        && losses(a.bf16) == losses(b.bf16) && a.histogram == b.histogram;
}

} // namespace

class TestMergingCollector : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void orderAndGroupsDoNotMatter()
    {
        Examples examples = grown();
        const TensorStatistics whole = of(examples, 0, examples.size()).statistics();
        QCOMPARE(whole.nan, std::uint64_t{1});
        std::mt19937 random(2);
        for (std::size_t cut = 0; cut <= examples.size(); ++cut) {
            std::ranges::shuffle(examples, random);
            MergingCollector joined = of(examples, cut, examples.size());
            joined.add(of(examples, 0, cut));
            QVERIFY(areSame(joined.statistics(), whole));
            MergingCollector taken;
            QVERIFY(taken.takeParts(joined.parts()));
            QVERIFY(areSame(taken.statistics(), whole));
        }
    }

    void binsHoldWhatLiesInThem()
    {
        const Examples examples = grown();
        const Histogram histogram = of(examples, 0, examples.size()).statistics().histogram;
        std::vector<std::uint64_t> expected(histogram.bins());
        for (const auto &example : examples) {
            for (const float value : example) {
                if (std::isfinite(value))
                    ++expected[static_cast<std::size_t>(
                        std::floor((double{value} + histogram.limit()) / histogram.binWidth()))];
            }
        }
        QVERIFY(histogram.counts() == expected);
        QCOMPARE(histogram.bins() % 2, std::size_t{1});
        QCOMPARE(std::exp2(std::round(std::log2(histogram.binWidth()))), histogram.binWidth());
        QVERIFY(histogram.bins() > 4096 && histogram.bins() <= 8193);
    }

    void endsOfTheScale_data()
    {
        QTest::addColumn<float>("value");
        for (const float value : {0x1p-149F, 0x1p-140F, 1.0F, -1.0F, 0x1.fffffep127F, -0x1.fffffep127F,
                                  0x1.fffffep-1F, 8191.0F, -8192.0F})
            QTest::addRow("%a", double{value}) << value;
    }

    void endsOfTheScale()
    {
        QFETCH(float, value);
        MergingCollector collector;
        collector.addExample(std::vector<float>{value, 0, value / 2});
        const Histogram histogram = collector.statistics().histogram;
        const auto counts = histogram.counts();
        QCOMPARE(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), std::uint64_t{3});
        QVERIFY(histogram.limit() >= std::abs(value));
        MergingCollector taken;
        QVERIFY(taken.takeParts(collector.parts()));
        QVERIFY(taken.statistics().histogram == histogram);
    }

    void aSpreadThatIsSmallBesideTheMeanIsKept()
    {
        Examples examples;
        for (int k = 0; k < 100; ++k)
            examples.push_back(
                std::vector<float>{1e6F + static_cast<float>(k % 2), 1e6F - static_cast<float>(k % 2)});
        const TensorStatistics statistics = of(examples, 0, examples.size()).statistics();
        QCOMPARE(statistics.mean, 1e6);
        QVERIFY(std::abs(statistics.deviation - std::sqrt(0.5)) < 1e-9);
        examples.clear();
        for (int k = 0; k < 100; ++k)
            examples.push_back(std::vector<float>(3, 1e6F + static_cast<float>(k % 2)));
        QVERIFY(std::abs(of(examples, 0, 100).statistics().deviation - 0.5) < 1e-6);
    }

    void zerosAlone()
    {
        const TensorStatistics statistics = of({{0, -0.0F}, {0}}, 0, 2).statistics();
        QCOMPARE(statistics.histogram.limit(), 0.0);
        QCOMPARE(statistics.zeros, std::uint64_t{3});
    }

    void partsThatNoHistogramHas()
    {
        DyadicHistogram histogram;
        DyadicHistogram::Parts parts{0, 0, 0, {1}};
        QVERIFY(histogram.takeParts(parts));
        for (const auto &[scale, zeros, first, counts] :
             std::vector<DyadicHistogram::Parts>{{-150, 0, 0, {1}},
                                                 {116, 0, 0, {1}},
                                                 {0, 3, 0, {1}},
                                                 {0, 0, -8193, {1}},
                                                 {0, 0, 8192, {1}},
                                                 {0, 0, 8191, {1, 1}},
                                                 {0, 0, 0, {}},
                                                 {DyadicHistogram::kNoScale, 0, 0, {1}}})
            QVERIFY(!histogram.takeParts({scale, zeros, first, counts}));
        QVERIFY(histogram.parts() == parts);
    }
};

QTEST_GUILESS_MAIN(TestMergingCollector)
#include "tst_merging_collector.moc"

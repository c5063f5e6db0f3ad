#include "core/calibration/histogram.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace halftone::calibration;

namespace {

std::uint64_t total(const Histogram &histogram)
{
    const auto counts = histogram.counts();
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

Histogram of(const std::vector<std::vector<float>> &batches)
{
    Histogram histogram;
    for (const std::vector<float> &batch : batches) {
        float most = 0;
        for (const float value : batch)
            most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
        histogram.add(batch, most);
    }
    return histogram;
}

} // namespace

class TstHistogram : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fewValuesCountAsManyDo()
    {
        // The same batches one by one, which stay few for a while, and behind one that is many from the beginning.
        std::vector<float> many(1000, 0.5F);
        many.front() = 1.0F;
        for (const float grown : {0.75F, 3.0F, 1e4F}) {
            Histogram packed = of({{1.0F}, {0.5F, 0.25F}, {grown, -grown}, {0.125F, 0.0F}});
            const Histogram dense = of({many, {0.5F, 0.25F}, {grown, -grown}, {0.125F, 0.0F}});
            QCOMPARE(packed.bins(), dense.bins());
            QCOMPARE(packed.limit(), dense.limit());
            std::vector<std::uint64_t> expected = dense.counts();
            // Without the other 999 of the first batch, whose bin that of 0.5 is.
            const auto largest = std::ranges::max_element(expected);
            QVERIFY(*largest >= 999);
            *largest -= 999;
            QVERIFY(packed.counts() == expected);
            const Histogram before = packed;
            packed.pack();
            QVERIFY(packed == before);
        }
    }

    void whatWasPackedGoesOnCounting()
    {
        std::vector<float> many(1000, 0.5F);
        many.front() = 1.0F;
        Histogram histogram = of({many});
        const Histogram twice = of({many, many});
        histogram.pack();
        histogram.add(many, 1.0F);
        QVERIFY(histogram == twice);
    }

    void everyValueLiesBetweenTheEdgesOfItsBin()
    {
        for (const float value : {-3.0F, -2.9999998F, -1e-30F, 0.0F, 0.1F, 1.4999F, 2.9999998F, 3.0F}) {
            const Histogram histogram = of({{3.0F}, {value}});
            std::vector<std::uint64_t> counts = histogram.counts();
            --counts.back(); // the 3 that settled the range
            const auto bin
                = static_cast<std::size_t>(std::ranges::find(counts, std::uint64_t{1}) - counts.begin());
            QVERIFY(bin < counts.size());
            QVERIFY(value >= histogram.edge(bin));
            QVERIFY(value < histogram.edge(bin + 1) || bin + 1 == counts.size());
        }
    }

    void growingAddsBinsOfTheSameWidthAndKeepsTheCounts()
    {
        const Histogram before = of({{-1.0F, 0.5F}});
        const Histogram after = of({{-1.0F, 0.5F}, {2.5F}});
        QCOMPARE(before.counts().size(), Histogram::kFirstBins);
        // (2.5 - 1) / (2 / 8001) = 6000.75: so many bins more on either side, and one.
        QCOMPARE(after.counts().size(), Histogram::kFirstBins + 2 * 6001);
        QVERIFY(std::abs(after.binWidth() - before.binWidth()) < 1e-12);
        QCOMPARE(total(after), 3U);
        QCOMPARE(after.counts()[6001], 1U); // -1 was in the first bin
        QVERIFY(!after.isCoarsened());
    }

    void aBatchWithinTheRangeChangesNoEdge() { QCOMPARE(of({{2.0F}, {0.5F, -2.0F}}).limit(), 2.0); }

    void beyondTheCapNeighboursAreMergedAndNoCountIsLost()
    {
        const Histogram histogram = of({{1e-3F, -1e-3F, 0.0F}, {1000.0F}});
        QVERIFY(histogram.counts().size() <= Histogram::kMostBins);
        QVERIFY(histogram.counts().size() % 2 == 1);
        QVERIFY(histogram.isCoarsened());
        QVERIFY(histogram.limit() >= 1000);
        QCOMPARE(total(histogram), 4U);
    }

    void zerosBeforeTheFirstOtherValueAreRemembered()
    {
        const Histogram histogram = of({{0.0F, 0.0F}, {1.0F}});
        QVERIFY(histogram.beganWithZeros());
        QCOMPARE(histogram.counts()[Histogram::kFirstBins / 2], 2U);
        QVERIFY(!of({{1.0F}, {0.0F}}).beganWithZeros());
    }

    void whatIsNotFiniteIsLeftOut()
    {
        const float infinite = std::numeric_limits<float>::infinity();
        const Histogram histogram = of({{1.0F, std::nanf(""), infinite, -infinite, 0.0F}});
        QCOMPARE(total(histogram), 2U);
        QCOMPARE(histogram.counts()[Histogram::kFirstBins / 2], 1U);
    }
};

QTEST_APPLESS_MAIN(TstHistogram)
#include "tst_histogram.moc"

#include "core/tune/cast_costs.h"

#include <QTest>

#include <vector>

using namespace halftone;
using tune::CastCosts;
using tune::CastTime;

class TestCastCosts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void timesOnALineGiveTheLine()
    {
        std::vector<CastTime> times;
        for (const double elements : {1e3, 4e3, 2e4, 1e5, 4e5})
            times.push_back({elements, 4 + 1e-4 * elements});
        const CastCosts costs = tune::fittedCosts(times, {});
        QVERIFY(qAbs(costs.each - 4) < 1e-9);
        QVERIFY(qAbs(costs.perElement - 1e-4) < 1e-12);
        QVERIFY(qAbs(costs.of(1e6) - 104) < 1e-6);
    }

    /// Two of nine are a hundred times too long; least squares would be off by a factor.
    void whatWasDisturbedTiltsNothing()
    {
        std::vector<CastTime> times;
        for (int k = 0; k < 9; ++k)
            times.push_back({1e3 * (1 << k), 4 + 1e-4 * 1e3 * (1 << k)});
        times[1].microseconds *= 100;
        times[7].microseconds *= 100;
        const CastCosts costs = tune::fittedCosts(times, {});
        QVERIFY2(qAbs(costs.perElement - 1e-4) < 2e-5, qPrintable(QString::number(costs.perElement)));
        QVERIFY2(qAbs(costs.each - 4) < 1, qPrintable(QString::number(costs.each)));
    }

    void timesOfOneSizeAreByTheElement()
    {
        const std::vector<CastTime> times{{1000, 7}, {1000, 5}, {1200, 6}};
        const CastCosts costs = tune::fittedCosts(times, {});
        QCOMPARE(costs.each, 0.0);
        QCOMPARE(costs.perElement, 0.005);
    }

    /// Larger ones that took less time: no cost is below zero.
    void noCostIsBelowZero()
    {
        const std::vector<CastTime> falling{{1000, 9}, {2000, 6}, {4000, 3}};
        const CastCosts flat = tune::fittedCosts(falling, {});
        QCOMPARE(flat.perElement, 0.0);
        QCOMPARE(flat.each, 6.0);
        const std::vector<CastTime> steep{{1000, 1}, {2000, 4}, {4000, 10}};
        const CastCosts through = tune::fittedCosts(steep, {});
        QCOMPARE(through.each, 0.0);
        QCOMPARE(through.perElement, 0.002);
    }

    void withoutTimesTheGuessStands()
    {
        const CastCosts costs = tune::fittedCosts({}, {3, 2e-4});
        QCOMPARE(costs.each, 3.0);
        QCOMPARE(costs.perElement, 2e-4);
    }
};

QTEST_GUILESS_MAIN(TestCastCosts)
#include "tst_cast_costs.moc"

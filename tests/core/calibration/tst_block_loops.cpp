#include "core/calibration/block_loops.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace halftone::calibration;

/// Against the definition, one value at a time.
class TestBlockLoops : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void binsOfAPowerOfTwo_data()
    {
        QTest::addColumn<QList<float>>("values");
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        const float nan = std::nanf("");
        QTest::newRow("none") << QList<float>();
        QTest::newRow("edges") << QList<float>{-0.5F, -0.25F, -1e-30F, -0.0F, 0, 1e-30F, 0.25F, 0.249F, 0.5F};
        QTest::newRow("zeros") << QList<float>(100, 0.0F);
        QTest::newRow("no number") << QList<float>{nan, kInfinity, -kInfinity};
        QTest::newRow("some no number, none in bin 0") << QList<float>{nan, 3, kInfinity, 7, -kInfinity, 2};
        QTest::newRow("some no number, all below 0") << QList<float>{nan, -3, -7};
        QTest::newRow("some no number") << QList<float>{nan, 3, 0.125F, -7};
        std::mt19937 random(3);
        std::normal_distribution<float> normal;
        QList<float> many;
        for (int k = 0; k < 2048; ++k)
            many.append(k % 3 == 0 ? 0.0F : normal(random));
        many[77] = nan;
        QTest::newRow("many") << many;
    }

    void binsOfAPowerOfTwo()
    {
        QFETCH(QList<float>, values);
        constexpr double kWidth = 0.25;
        std::vector<std::int32_t> expected;
        for (const float value : values)
            if (std::isfinite(value))
                expected.push_back(static_cast<std::int32_t>(std::floor(value / kWidth)));
        std::vector<std::int32_t> bins(static_cast<std::size_t>(values.size()));
        const BinsOfWidth found = binsOfWidth({values.data(), bins.size()}, 1 / kWidth, bins.data());
        QCOMPARE(found.zeroth, static_cast<std::uint32_t>(std::ranges::count(expected, 0)));
        QCOMPARE(found.least, expected.empty() ? 0 : std::ranges::min(expected));
        QCOMPARE(found.most, expected.empty() ? 0 : std::ranges::max(expected));
        bins.resize(found.others);
        std::erase(expected, 0);
        QCOMPARE(bins, expected);
    }
};

QTEST_APPLESS_MAIN(TestBlockLoops)
#include "tst_block_loops.moc"

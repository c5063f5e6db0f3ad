#include "core/calibration/vector_log.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using halftone::calibration::vectorLog;

class TestVectorLog : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalsTheMathematicalLibrarysWithinTwoRoundings()
    {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<double> exponent(-300, 300);
        for (int i = 0; i < 200'000; ++i) {
            const double x = i % 2 == 0 ? std::exp2(exponent(random)) : 1 + exponent(random) / 1000;
            const double want = std::log(x);
            QVERIFY2(std::abs(vectorLog(x) - want)
                         <= 2 * std::numeric_limits<double>::epsilon() * std::max(std::abs(want), 0x1p-52),
                     qPrintable(QString::number(x, 'g', 17)));
        }
    }

    void oneAndPowersOfTwoAreExact()
    {
        QCOMPARE(vectorLog(1), 0.0);
        for (const int k : {-1022, -30, -1, 1, 2, 1023})
            QCOMPARE(vectorLog(std::ldexp(1.0, k)), std::log(std::ldexp(1.0, k)));
    }
};

QTEST_GUILESS_MAIN(TestVectorLog)
#include "tst_vector_log.moc"

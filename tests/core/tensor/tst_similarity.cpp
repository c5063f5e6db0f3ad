#include "core/tensor/class_overlap.h"
#include "core/tensor/similarity.h"

#include <QTest>

#include <cmath>

using namespace halftone::tensor;

/// Values worked out by hand.
class TstSimilarity : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void psnrIsThePeakOverTheMeanSquare()
    {
        const float right[] = {0, 0, 0, 0};
        const float found[] = {1, -1, 1, -1}; // mean square 1
        QVERIFY(std::abs(psnrDb(right, found, 255) - 48.130803608679) < 1e-9); // 20 log10 255
        QCOMPARE(psnrDb(right, found, 1), 0.0);
        const float half[] = {0, 0, 0, 2};
        QCOMPARE(psnrDb(right, half, 10), 20.0); // mean square 1 of peak square 100
    }

    void nothingDifferentIsInfinitelyGood() { QVERIFY(std::isinf(psnrDb(kOnes, kOnes, 1))); }

    void psnrOfNaNIsNaN()
    {
        const float found[] = {1, NAN};
        QVERIFY(std::isnan(psnrDb(kOnes, found, 1)));
    }

    void cosineIsThatOfTheAngle()
    {
        const float r[] = {3, 0};
        const float x[] = {1, 1};
        QVERIFY(std::abs(cosineOf(r, x) - std::sqrt(0.5)) < 1e-12);
        const float back[] = {-5, 0};
        QCOMPARE(cosineOf(r, back), -1.0);
        const float zero[] = {0, 0};
        QCOMPARE(cosineOf(zero, zero), 1.0);
        QCOMPARE(cosineOf(r, zero), 0.0);
    }

    void meanIouCountsAllMapsTogether()
    {
        ClassOverlap overlap;
        QVERIFY(!overlap.meanIou());
        const std::int64_t right[] = {0, 0, 1, 1, 255};
        const std::int64_t found[] = {0, 1, 1, 1, 7}; // what is not judged says nothing of class 7
        overlap.add(right, found);
        QCOMPARE(*overlap.meanIou(), (1.0 / 2 + 2.0 / 3) / 2);
        const std::int64_t more[] = {2, 2};
        const std::int64_t foundMore[] = {0, 0}; // a class that is never found counts with 0
        overlap.add(more, foundMore);
        QCOMPARE(*overlap.meanIou(), (1.0 / 4 + 2.0 / 3 + 0) / 3);
    }

private:
    static constexpr float kOnes[] = {1, 1};
};

QTEST_APPLESS_MAIN(TstSimilarity)
#include "tst_similarity.moc"

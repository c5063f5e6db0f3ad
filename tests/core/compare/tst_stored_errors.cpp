#include "core/compare/stored_errors.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace halftone;
using compare::StoredErrors;

/// Figures of a layer that are put away between two examples.
class TestStoredErrors : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// To the last bit: sums are exact, and so is the envelope of relative errors.
    void figuresAreThoseOfMetricsThatWereNeverPutAway()
    {
        std::mt19937 random(5);
        std::uniform_real_distribution<float> of(-3, 3);
        tensor::ErrorMetrics whole;
        StoredErrors stored;
        for (int example = 0; example < 40; ++example) {
            std::vector<float> reference(97);
            std::vector<float> values(97);
            for (std::size_t k = 0; k < reference.size(); ++k) {
                reference[k] = std::ldexp(of(random), example % 7);
                values[k] = reference[k] + of(random) * 1e-3F;
            }
            if (example == 11)
                values[5] = std::numeric_limits<float>::infinity();
            tensor::ErrorMetrics woken = stored.metrics();
            for (tensor::ErrorMetrics *metrics : {&whole, &woken}) {
                metrics->add(reference, values);
                metrics->endExample();
            }
            stored = StoredErrors(woken);
        }
        const tensor::ErrorFigures want = whole.figures();
        const tensor::ErrorFigures got = stored.metrics().figures();
        QCOMPARE(got.count, want.count);
        QCOMPARE(got.overflow, want.overflow);
        QVERIFY(got.maxAbs == want.maxAbs);
        QVERIFY(got.meanAbs == want.meanAbs);
        QVERIFY(got.rmse == want.rmse);
        QVERIFY(got.maxRelative == want.maxRelative);
        QVERIFY(got.sqnrDb == want.sqnrDb);
        QVERIFY(got.cosine == want.cosine || (std::isnan(got.cosine) && std::isnan(want.cosine)));
    }
};

QTEST_APPLESS_MAIN(TestStoredErrors)
#include "tst_stored_errors.moc"

#include "core/tensor/error_metrics.h"
#include "core/tensor/top_classes.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace halftone::tensor;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

ErrorFigures figuresOf(const std::vector<float> &r, const std::vector<float> &x)
{
    ErrorMetrics metrics;
    metrics.add(r, x);
    return metrics.figures();
}

bool near(double got, double want, double tolerance = 1e-12)
{
    return std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
}

/// The definitions, in long double and two passes.
ErrorFigures byDefinition(const std::vector<float> &r, const std::vector<float> &x)
{
    long double abs = 0, dd = 0, rr = 0, xx = 0, rx = 0, most = 0, relative = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        const long double d = static_cast<long double>(x[i]) - r[i];
        most = std::max(most, std::fabs(d));
        abs += std::fabs(d);
        dd += d * d;
        rr += static_cast<long double>(r[i]) * r[i];
        xx += static_cast<long double>(x[i]) * x[i];
        rx += static_cast<long double>(r[i]) * x[i];
    }
    const auto n = static_cast<long double>(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) {
        const long double d = std::fabs(static_cast<long double>(x[i]) - r[i]);
        relative
            = std::max(relative, d / (std::fabs(static_cast<long double>(r[i])) + 1e-3L * std::sqrt(rr / n)));
    }
    ErrorFigures f;
    f.maxAbs = static_cast<double>(most);
    f.meanAbs = static_cast<double>(abs / n);
    f.rmse = static_cast<double>(std::sqrt(dd / n));
    f.relativeL2 = static_cast<double>(std::sqrt(dd / rr));
    f.cosine = static_cast<double>(rx / (std::sqrt(rr) * std::sqrt(xx)));
    f.sqnrDb = static_cast<double>(10 * std::log10(rr / dd));
    f.maxRelative = static_cast<double>(relative);
    return f;
}

} // namespace

class TestErrorMetrics : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void smallArraysByHand()
    {
        const ErrorFigures f = figuresOf({3, 4}, {3, 5}); // d = 0, 1
        QCOMPARE(f.count, std::uint64_t{2});
        QCOMPARE(f.maxAbs, 1.0);
        QCOMPARE(f.meanAbs, 0.5);
        QVERIFY(near(f.rmse, std::sqrt(0.5)));
        QVERIFY(near(*f.relativeL2, 0.2)); // 1 / 5
        QVERIFY(near(f.cosine, 29 / (5 * std::sqrt(34.0))));
        QVERIFY(near(f.sqnrDb, 10 * std::log10(25.0)));
        QVERIFY(near(f.maxRelative, 1 / (4 + 1e-3 * std::sqrt(12.5)), 1e-6));
    }

    void equalArraysAreExact()
    {
        const ErrorFigures f = figuresOf({1, -2, 0}, {1, -2, 0});
        QCOMPARE(f.maxAbs, 0.0);
        QCOMPARE(f.maxRelative, 0.0);
        QVERIFY(near(f.cosine, 1));
        QVERIFY(std::isinf(f.sqnrDb) && f.sqnrDb > 0);
        const ErrorFigures none = figuresOf({}, {});
        QVERIFY(std::isinf(none.sqnrDb) && none.sqnrDb > 0);
    }

    void zerosHaveNoRelativeError()
    {
        const ErrorFigures both = figuresOf({0, 0}, {0, 0});
        QVERIFY(!both.relativeL2);
        QCOMPARE(both.cosine, 1.0);
        const ErrorFigures one = figuresOf({0, 0}, {0, 1});
        QVERIFY(!one.relativeL2);
        QCOMPARE(one.cosine, 0.0);
        QVERIFY(std::isinf(one.sqnrDb) && one.sqnrDb < 0);
    }

    void nanAndInfinityAreCountedAndNotHidden()
    {
        const ErrorFigures f = figuresOf({1, 2, 3, kNaN, 5}, {1, kNaN, -kInf, kNaN, 5});
        QCOMPARE(f.nan, std::uint64_t{1}); // the fourth is none of the other's making
        QCOMPARE(f.overflow, std::uint64_t{1});
        QVERIFY(std::isnan(f.sqnrDb));
        QVERIFY(std::isnan(f.maxAbs));
        const ErrorFigures overflow = figuresOf({1, 2}, {1, kInf});
        QCOMPARE(overflow.nan, std::uint64_t{0});
        QCOMPARE(overflow.overflow, std::uint64_t{1});
        QVERIFY(std::isinf(overflow.maxAbs));
        QVERIFY(std::isinf(overflow.sqnrDb) && overflow.sqnrDb < 0);
    }

    void randomArraysFollowTheDefinitionsHoweverTheyAreCut()
    {
        for (unsigned seed = 0; seed < 20; ++seed) {
            std::mt19937 random(seed);
            std::normal_distribution<float> normal;
            std::vector<float> r(5000 + seed * 37);
            std::vector<float> x(r.size());
            // Errors in proportion, absolute, and both: each makes other points the worst ones.
            for (std::size_t i = 0; i < r.size(); ++i) {
                r[i] = std::exp(2 * normal(random)) * (i % 2 == 0 ? 1.0F : -1.0F);
                x[i] = r[i]
                    + normal(random)
                        * (seed % 3 == 0       ? 1e-3F * r[i]
                               : seed % 3 == 1 ? 1e-3F
                                               : 1e-4F * r[i] + 1e-5F);
            }
            const ErrorFigures want = byDefinition(r, x);
            for (const std::size_t cut : {r.size(), std::size_t{1000}, std::size_t{7}}) {
                ErrorMetrics metrics;
                for (std::size_t at = 0; at < r.size(); at += cut) {
                    const std::size_t length = std::min(cut, r.size() - at);
                    metrics.add(std::span(r).subspan(at, length), std::span(x).subspan(at, length));
                }
                const ErrorFigures got = metrics.figures();
                QVERIFY(near(got.maxAbs, want.maxAbs));
                QVERIFY(near(got.meanAbs, want.meanAbs));
                QVERIFY(near(got.rmse, want.rmse));
                QVERIFY(near(*got.relativeL2, *want.relativeL2));
                QVERIFY(near(got.cosine, want.cosine));
                QVERIFY(near(got.sqnrDb, want.sqnrDb, 1e-10));
                QVERIFY2(near(got.maxRelative, want.maxRelative, 1e-6), // distances are kept as floats
                         qPrintable(QStringLiteral("seed %1").arg(seed)));
            }
        }
    }

    void theFirstClassesAreThoseOfNumpy()
    {
        using Places = std::vector<std::size_t>;
        QCOMPARE(topClasses(std::vector<float>{1, 3, 2, 3}, 2), (Places{1, 3}));
        QCOMPARE(topClasses(std::vector<float>{1, kNaN, 5, kNaN}, 3), (Places{1, 3, 2}));
        QCOMPARE(topClasses(std::vector<float>{2, 1}, 5), (Places{0, 1}));
        QCOMPARE(topClasses({}, 5), Places());
    }
};

QTEST_GUILESS_MAIN(TestErrorMetrics)
#include "tst_error_metrics.moc"

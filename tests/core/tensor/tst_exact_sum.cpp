#include "core/tensor/error_metrics.h"
#include "core/tensor/exact_sum.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace halftone::tensor;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

ExactSum sumOf(const std::vector<double> &values)
{
    ExactSum sum;
    for (const double value : values)
        sum.add(value);
    return sum;
}

std::vector<double> wide(std::size_t count)
{
    std::mt19937 random(7);
    std::uniform_int_distribution<int> exponent(-1074, 1000);
    std::uniform_real_distribution<double> mantissa(-2, 2);
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return std::ldexp(mantissa(random), exponent(random)); });
    return values;
}

} // namespace

class TestExactSum : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsRounded()
    {
        QCOMPARE(sumOf({}).value(), 0.0);
        QCOMPARE(sumOf({1e308, 1.0, -1e308}).value(), 1.0);
        QCOMPARE(sumOf({0x1p-1074, 0x1p1000, -0x1p1000}).value(), 0x1p-1074);
        QCOMPARE(sumOf({-3.5, 1.25}).value(), -2.25);
        QCOMPARE(sumOf({0x1p-1074, -0x1p-1073}).value(), -0x1p-1074);
        const auto split = sumOf({0x1p60, 1.0, 0x1p-20}).split();
        QCOMPARE(split.high, 0x1p60);
        QCOMPARE(split.low, 1.0 + 0x1p-20);
        const double tenth = 0.1;
        ExactSum product;
        product.addProduct(tenth, tenth);
        product.add(-tenth * tenth);
        QCOMPARE(product.value(), std::fma(tenth, tenth, -(tenth * tenth)));
    }

    void orderAndGroupsDoNotMatter()
    {
        std::vector<double> values = wide(2000);
        const ExactSum whole = sumOf(values);
        std::mt19937 random(1);
        for (int round = 0; round < 5; ++round) {
            std::ranges::shuffle(values, random);
            const auto middle = values.begin() + 100 * (round + 1);
            ExactSum joined = sumOf({values.begin(), middle});
            joined.add(sumOf({middle, values.end()}));
            QVERIFY(joined.parts() == whole.parts());
            QCOMPARE(joined.value(), whole.value());
        }
        for (double &value : values)
            value = -value;
        ExactSum none = whole;
        none.add(sumOf(values));
        QVERIFY(none.parts() == ExactSum().parts());
    }

    void whatIsNotFiniteStays()
    {
        QCOMPARE(sumOf({1.0, kInf}).value(), kInf);
        QCOMPARE(sumOf({1.0, -kInf}).value(), -kInf);
        QVERIFY(std::isnan(sumOf({kInf, -kInf}).value()));
        QVERIFY(std::isnan(sumOf({1.0, std::nan("")}).value()));
    }

    void partsAreChecked()
    {
        ExactSum taken;
        QVERIFY(taken.takeParts(sumOf({-1.5, 1e200}).parts()));
        QCOMPARE(taken.value(), 1e200);
        taken.add(-1e200);
        QCOMPARE(taken.value(), -1.5);
        const auto digits = [](std::uint32_t first, std::vector<std::int64_t> all) {
            ExactSum::Parts parts;
            parts.first = first;
            parts.digits = std::move(all);
            return parts;
        };
        QVERIFY(!taken.takeParts(digits(ExactSum::kDigits, {1})));
        QVERIFY(!taken.takeParts(digits(0xFFFFFFFF, {})));
        QVERIFY(!taken.takeParts(digits(0, std::vector<std::int64_t>(ExactSum::kDigits + 1))));
        QVERIFY(!taken.takeParts(digits(0, {std::int64_t{1} << 32})));
        QVERIFY(!taken.takeParts(digits(0, {-1})));
        QCOMPARE(taken.value(), -1.5);
    }

    void hullsDoNotDependOnTheOrder()
    {
        // On a line, nearly on a line, and anywhere.
        std::mt19937 random(3);
        std::uniform_real_distribution<float> uniform(0, 1);
        std::vector<std::pair<float, float>> points;
        for (int k = 1; k < 3000; ++k) {
            const float r = static_cast<float>(k) * 0.001F;
            points.emplace_back(r, r * 0.25F);
            points.emplace_back(r, r * 0.1F);
            points.emplace_back(uniform(random), uniform(random) * 1e-3F);
        }
        const auto hullOf = [&points](std::size_t from, std::size_t to) {
            RelativeEnvelope hull;
            for (std::size_t k = from; k < to; ++k)
                hull.add(points[k].first, points[k].second);
            return hull;
        };
        const RelativeEnvelope whole = hullOf(0, points.size());
        QVERIFY(whole.points().size() < 100);
        for (int round = 0; round < 5; ++round) {
            std::ranges::shuffle(points, random);
            RelativeEnvelope joined = hullOf(0, 1000);
            joined.add(hullOf(1000, points.size()));
            QVERIFY(joined.points() == whole.points());
            double most = 0;
            for (const auto &[r, d] : points)
                most = std::max(most, double{d} / (double{r} + 0.01));
            QVERIFY(std::abs(joined.largest(0.01) - most) <= 1e-15 * most);
        }
    }

    void figuresOfExamplesAddUp()
    {
        std::mt19937 random(5);
        std::normal_distribution<float> normal;
        std::vector<std::vector<float>> examples(7, std::vector<float>(333));
        for (auto &example : examples)
            std::ranges::generate(example, [&] { return normal(random); });
        const auto metricsOf = [&examples](const std::vector<std::size_t> &which) {
            ErrorMetrics metrics;
            for (const std::size_t k : which) {
                std::vector<float> values = examples[k];
                for (float &value : values)
                    value *= 1 + 0.01F * static_cast<float>(k);
                metrics.add(examples[k], values);
                metrics.endExample();
            }
            return metrics;
        };
        const ErrorFigures whole = metricsOf({0, 1, 2, 3, 4, 5, 6}).figures();
        ErrorMetrics joined = metricsOf({5, 1, 6});
        joined.add(metricsOf({3}));
        joined.add(ErrorMetrics::ofParts(metricsOf({2, 0, 4}).parts()));
        const ErrorFigures figures = joined.figures();
        QCOMPARE(figures.count, whole.count);
        for (const auto figure : {&ErrorFigures::maxAbs, &ErrorFigures::meanAbs, &ErrorFigures::rmse,
                                  &ErrorFigures::cosine, &ErrorFigures::sqnrDb, &ErrorFigures::maxRelative})
            QVERIFY(figures.*figure == whole.*figure); // to the last bit
        QVERIFY(figures.relativeL2 == whole.relativeL2);
    }
};

QTEST_GUILESS_MAIN(TestExactSum)
#include "tst_exact_sum.moc"

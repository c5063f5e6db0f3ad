#include "core/backends/reference/kernels.h"
#include "core/backends/reference/quantized.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/mxnet/operator_rows.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <set>

using namespace halftone;
using backends::reference::Computes;
using backends::reference::ComputesRaw;
using backends::reference::Moves;
using kernels::Operation;
using ops::Distribution;
using tensor::DType;

namespace {

/// MXNet's operators that have a struct but no reference kernel, and why.
const std::map<std::string_view, const char *> kWithoutKernel{
    {"_foreach", "the runner goes through its body"},
    {"_while_loop", "the runner goes through its bodies"},
    {"_cond", "the runner goes through its bodies"},
};

std::vector<float> run(Operation operation, const std::vector<std::vector<float>> &inputs = {})
{
    const auto kernel = backends::reference::referenceBackend()->prepare(operation);
    if (!kernel.ok())
        qFatal("%s", kernel.error().message().c_str());
    std::vector<const std::byte *> from;
    for (const auto &input : inputs)
        from.push_back(reinterpret_cast<const std::byte *>(input.data()));
    std::vector<std::vector<float>> results;
    std::vector<std::byte *> to;
    for (const auto &output : operation.outputs)
        results.emplace_back(static_cast<std::size_t>(output.shape.elementCount().value()));
    for (auto &result : results)
        to.push_back(reinterpret_cast<std::byte *>(result.data()));
    if (const auto done = kernel.value()->run(from, to); !done.ok())
        qFatal("%s", done.error().message().c_str());
    return results[0];
}

Operation operation(ops::Operator op, std::vector<tensor::Shape> inputs, std::vector<tensor::Shape> outputs,
                    std::uint64_t seed = 1)
{
    Operation made{std::move(op), "op", {}, {}};
    for (auto &shape : inputs)
        made.inputs.push_back({DType::F32, std::move(shape)});
    for (auto &shape : outputs)
        made.outputs.push_back({DType::F32, std::move(shape)});
    made.seed = seed;
    return made;
}

struct Moments
{
    double mean = 0;
    double variance = 0;
};

Moments momentsOf(const std::vector<float> &values)
{
    Moments moments;
    for (const float value : values)
        moments.mean += value / static_cast<double>(values.size());
    for (const float value : values)
        moments.variance += std::pow(value - moments.mean, 2) / static_cast<double>(values.size());
    return moments;
}

constexpr std::int64_t kDraws = 200000;

} // namespace

class TestReferenceBackend : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyOperatorHasAKernel();
    void momentsAreTheDistributions_data();
    void momentsAreTheDistributions();
    void sampledMomentsAreTheDistributions_data() { momentsAreTheDistributions_data(); }
    void sampledMomentsAreTheDistributions();
    void whatIsDrawnFollowsFromTheSeed();
    void parametersThatNoDistributionHasAreRefused_data();
    void parametersThatNoDistributionHasAreRefused();
    void classesAreDrawnByTheirChances();
    void shufflingKeepsRows();
    void fourierIsTheDefinition_data();
    void fourierIsTheDefinition();
};

void TestReferenceBackend::everyOperatorHasAKernel()
{
    std::set<std::string_view> missing;
    for (const dialect::mxnet::OperatorRow &row : dialect::mxnet::operatorRows()) {
        const bool has = ops::visit(
            []<class Op>(const Op &) { return Computes<Op, float> || Moves<Op> || ComputesRaw<Op>; },
            row.prototype);
        if (has == kWithoutKernel.contains(row.name))
            missing.insert(row.name);
    }
    for (const std::string_view name : missing)
        qWarning("%s", std::string(name).c_str());
    QVERIFY(missing.empty());
}

void TestReferenceBackend::momentsAreTheDistributions_data()
{
    QTest::addColumn<int>("distribution");
    QTest::addColumn<double>("first");
    QTest::addColumn<double>("second");
    QTest::addColumn<double>("mean");
    QTest::addColumn<double>("variance");
    const auto row = [](const char *name, Distribution distribution, double first, double second, double mean,
                        double variance) {
        QTest::newRow(name) << static_cast<int>(distribution) << first << second << mean << variance;
    };
    row("uniform", Distribution::Uniform, -1, 3, 1, 16.0 / 12);
    row("normal", Distribution::Normal, 2, 0.5, 2, 0.25);
    row("gamma", Distribution::Gamma, 2, 3, 6, 18);
    row("exponential", Distribution::Exponential, 4, 0, 0.25, 1.0 / 16);
    row("poisson", Distribution::Poisson, 4, 0, 4, 4);
    row("negative binomial", Distribution::NegativeBinomial, 3, 0.4, 4.5, 11.25);
    row("generalized negative binomial", Distribution::GeneralizedNegativeBinomial, 2, 0.3, 2, 3.2);
    row("integer", Distribution::Integer, 0, 5, 2, 2);
}

void TestReferenceBackend::momentsAreTheDistributions()
{
    QFETCH(int, distribution);
    QFETCH(double, first);
    QFETCH(double, second);
    QFETCH(double, mean);
    QFETCH(double, variance);
    const Moments moments = momentsOf(run(operation(
        ops::Random{static_cast<Distribution>(distribution), first, second, false, ops::Dims{kDraws}}, {},
        {{kDraws}})));
    // Five standard errors of the mean; of the variance, those of a distribution with a kurtosis of 9.
    QVERIFY(std::abs(moments.mean - mean) < 5 * std::sqrt(variance / kDraws));
    QVERIFY(std::abs(moments.variance - variance) < 5 * variance * std::sqrt(8.0 / kDraws));
}

void TestReferenceBackend::sampledMomentsAreTheDistributions()
{
    QFETCH(int, distribution);
    QFETCH(double, first);
    QFETCH(double, second);
    QFETCH(double, mean);
    QFETCH(double, variance);
    if (static_cast<Distribution>(distribution) == Distribution::Integer)
        return; // MXNet has no such sampler
    const std::vector<std::vector<float>> parameters{{static_cast<float>(first)},
                                                     {static_cast<float>(second)}};
    const Moments moments
        = momentsOf(run(operation(ops::RandomSample{static_cast<Distribution>(distribution), {kDraws}},
                                  {{1}, {1}}, {{1, kDraws}}),
                        parameters));
    QVERIFY(std::abs(moments.mean - mean) < 5 * std::sqrt(variance / kDraws));
    QVERIFY(std::abs(moments.variance - variance) < 5 * variance * std::sqrt(8.0 / kDraws));
}

void TestReferenceBackend::whatIsDrawnFollowsFromTheSeed()
{
    const ops::Random normal{Distribution::Normal, 0, 1, false, ops::Dims{8}};
    const auto drawn = [&](std::uint64_t seed) { return run(operation(normal, {}, {{8}}, seed)); };
    QCOMPARE(drawn(7), drawn(7));
    QVERIFY(drawn(7) != drawn(8));
    QVERIFY(kernels::seedOf("noise0") != kernels::seedOf("noise1"));
}

void TestReferenceBackend::parametersThatNoDistributionHasAreRefused_data()
{
    QTest::addColumn<int>("distribution");
    QTest::addColumn<double>("first");
    QTest::addColumn<double>("second");
    const auto row = [](const char *name, Distribution distribution, double first, double second) {
        QTest::newRow(name) << static_cast<int>(distribution) << first << second;
    };
    row("bounds turned around", Distribution::Uniform, 1, 0);
    row("negative deviation", Distribution::Normal, 0, -1);
    row("no shape", Distribution::Gamma, 0, 1);
    row("no rate", Distribution::Exponential, 0, 0);
    row("endless rate", Distribution::Poisson, HUGE_VAL, 0);
    row("no number", Distribution::Poisson, std::nan(""), 0);
    row("chance above 1", Distribution::NegativeBinomial, 3, 2);
    row("no chance", Distribution::NegativeBinomial, 3, 0);
    row("negative mean", Distribution::GeneralizedNegativeBinomial, -1, 1);
    row("empty range", Distribution::Integer, 3, 3);
}

void TestReferenceBackend::parametersThatNoDistributionHasAreRefused()
{
    QFETCH(int, distribution);
    QFETCH(double, first);
    QFETCH(double, second);
    const auto kernel = backends::reference::referenceBackend()->prepare(operation(
        ops::Random{static_cast<Distribution>(distribution), first, second, false, ops::Dims{4}}, {}, {{4}}));
    QVERIFY(kernel.ok());
    std::vector<float> values(4);
    std::byte *const to[] = {reinterpret_cast<std::byte *>(values.data())};
    const auto done = kernel.value()->run({}, to);
    QVERIFY(!done.ok());
    QVERIFY(done.error().code == Errc::BadInput);
}

void TestReferenceBackend::classesAreDrawnByTheirChances()
{
    const std::vector<float> classes
        = run(operation(ops::Multinomial{{kDraws}, true, DType::F32}, {{1, 4}}, {{1, kDraws}, {1, kDraws}}),
              {{1, 0, 2, 5}}); // chances need not add up to 1
    for (const auto &[wanted, chance] : std::map<float, double>{{0, 0.125}, {1, 0}, {2, 0.25}, {3, 0.625}}) {
        const double share = static_cast<double>(std::ranges::count(classes, wanted)) / kDraws;
        QVERIFY(std::abs(share - chance) <= 5 * std::sqrt(chance * (1 - chance) / kDraws));
    }
}

void TestReferenceBackend::shufflingKeepsRows()
{
    constexpr std::int64_t kRows = 100;
    std::vector<float> rows;
    for (int i = 0; i < kRows; ++i)
        rows.insert(rows.end(), {static_cast<float>(i), static_cast<float>(-i)});
    const std::vector<float> shuffled = run(operation(ops::Shuffle{}, {{kRows, 2}}, {{kRows, 2}}), {rows});
    QVERIFY(shuffled != rows);
    std::set<float> seen;
    for (std::size_t i = 0; i < shuffled.size(); i += 2) {
        QCOMPARE(shuffled[i], -shuffled[i + 1]);
        seen.insert(shuffled[i]);
    }
    QCOMPARE(seen.size(), static_cast<std::size_t>(kRows));
}

void TestReferenceBackend::fourierIsTheDefinition_data()
{
    QTest::addColumn<int>("length");
    for (const int length : {1, 2, 7, 8, 12, 30, 97})
        QTest::addRow("%d", length) << length;
}

void TestReferenceBackend::fourierIsTheDefinition()
{
    QFETCH(int, length);
    const auto n = static_cast<std::size_t>(length);
    std::vector<float> values;
    for (std::size_t i = 0; i < 2 * n; ++i)
        values.push_back(std::sin(static_cast<float>(3 * i * i + 1)));
    const std::vector<float> spectrum
        = run(operation(ops::DFT{.pairsInAxis = true}, {{2, length}}, {{2, 2 * length}}), {values});
    for (std::size_t k = 0; k < n; ++k) {
        std::complex<double> sum = 0;
        for (std::size_t i = 0; i < n; ++i)
            sum += static_cast<double>(values[n + i])
                * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k) / length);
        QVERIFY(std::abs(sum.real() - static_cast<double>(spectrum[2 * (n + k)])) < 1e-5 * length);
        QVERIFY(std::abs(sum.imag() - static_cast<double>(spectrum[2 * (n + k) + 1])) < 1e-5 * length);
    }
    const std::vector<float> back
        = run(operation(ops::DFT{.inverse = true, .pairsInAxis = true}, {{2, 2 * length}}, {{2, length}}),
              {spectrum});
    for (std::size_t i = 0; i < back.size(); ++i) // the inverse is not divided by the length
        QVERIFY(std::abs(back[i] - values[i] * static_cast<float>(length))
                < 1e-4F * static_cast<float>(length));
}

QTEST_GUILESS_MAIN(TestReferenceBackend)
#include "tst_reference_backend.moc"

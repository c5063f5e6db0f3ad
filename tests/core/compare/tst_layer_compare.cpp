#include "core/backends/reference/reference_backend.h"
#include "core/compare/layer_compare.h"
#include "core/dialect/registry.h"
#include "core/interpret/random_params.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/join.h"
#include "core/mixed/convert_model.h"
#include "core/policy/policy_json.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

using namespace halftone;
using namespace halftone::compare;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const std::string kSample = HALFTONE_SOURCE_DIR "/resources/sample/";

template <class T>
T take(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message().c_str());
    return std::move(result).value();
}

Tensor floats(Shape shape, const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(DType::F32, std::move(shape), std::move(bytes));
}

Tensor drawn(const Shape &shape, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(*shape.elementCount()));
    for (float &value : values)
        value = normal(random);
    return floats(shape, values);
}

graph::Model sample()
{
    return take(io::loadModel(kSample + "digits-symbol.json")).model;
}

interpret::Feed samplePictures(std::size_t count)
{
    const auto arrays = take(io::readNpz(kSample + "digits-test.npz"));
    for (const io::NamedTensor &array : arrays) {
        if (array.name == "data")
            return {{"data", kernels::sliceRows(array.tensor, 0, count)}};
    }
    qFatal("the sample has no data");
}

policy::Policy policyOf(const std::string &file)
{
    return take(policy::readPolicy(test::readFile(kSample + file)));
}

LayerCompare compareOf(const ComparedModels &models, const CompareSettings &settings = {})
{
    return take(LayerCompare::create(models, {backends::reference::referenceBackend({1, false})}, settings));
}

Comparison compared(const ComparedModels &models, const interpret::Feed &feed,
                    const CompareSettings &settings = {})
{
    LayerCompare compare = compareOf(models, settings);
    if (take(compare.add(feed)) != Room::Enough)
        qFatal("no room");
    return compare.result();
}

std::string nameOf(const graph::Model &model, const Comparison &comparison, std::optional<std::size_t> layer)
{
    return layer ? model.graph.node(comparison.layers[*layer].node).name : std::string();
}

/// Fully connected layers with a skip over every second one.
graph::Model network(int layers, std::int64_t width, std::int64_t examples, std::uint64_t seed)
{
    test::GraphBuilder g;
    auto value = g.variable("data");
    auto skip = value;
    for (int k = 0; k < layers; ++k) {
        const std::string n = std::to_string(k);
        auto next = g.op("FullyConnected", "fc" + n, {value, g.variable("fc" + n + "_weight")},
                         {{"num_hidden", std::to_string(width)}, {"no_bias", "True"}});
        next = g.op("Activation", "act" + n, {next}, {{"act_type", "tanh"}});
        if (k % 2 == 1) {
            next = g.op("elemwise_add", "add" + n, {next, skip});
            skip = next;
        }
        value = next;
    }
    return take(interpret::withRandomParameters(g.model({value}), {{"data", Shape{examples, width}}}, seed));
}

std::size_t peakOfProcess()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        if (word != "VmHWM:")
            continue;
        std::size_t kilobytes = 0;
        status >> kilobytes;
        return kilobytes << 10;
    }
    return 0;
}

bool forgetPeak()
{
    std::ofstream file("/proc/self/clear_refs");
    return static_cast<bool>(file << "5" << std::flush);
}

} // namespace

class TestLayerCompare : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingLoweredMeansNoDifference()
    {
        const graph::Model model = sample();
        const Comparison comparison = compared(take(pairByName(model, model)), samplePictures(10));
        QVERIFY(comparison.layers.size() > 20);
        for (const LayerErrors &layer : comparison.layers) {
            QVERIFY(layer.cumulative);
            QCOMPARE(layer.cumulative->maxAbs, 0.0);
            QVERIFY(std::isinf(layer.cumulative->sqnrDb));
        }
        QVERIFY(!comparison.firstDivergence && !comparison.firstUnclean);
        QCOMPARE(comparison.outputs.at(0).agreement->top1, 1.0);
        QCOMPARE(comparison.outputs.at(0).agreement->divergence, 0.0);
    }

    void theOverflowIsFoundWhereItHappens()
    {
        const graph::Model model = sample();
        const auto all = take(mixed::convertModel(model, policyOf("all-float16.policy.json"), false));
        const Comparison comparison
            = compared(convertedPair(model, all.model, all.conversion), samplePictures(20));
        const LayerErrors &first = comparison.layers.at(*comparison.firstDivergence);
        QCOMPARE(model.graph.node(first.node).op, std::string("sum"));
        QCOMPARE(first.dtype, DType::F16);
        QVERIFY(first.cumulative->overflow > 0);
        const auto tuned
            = take(mixed::convertModel(model, policyOf("all-float16-but-sum.policy.json"), false));
        const Comparison mended
            = compared(convertedPair(model, tuned.model, tuned.conversion), samplePictures(20));
        QVERIFY(!mended.firstDivergence);
        QVERIFY(mended.outputs.at(0).figures.sqnrDb > 40);
    }

    /// Behind a fault everything differs: it counts that nothing before it is named.
    void plantedFaultsAreNamedFirst()
    {
        int named = 0;
        for (unsigned seed = 0; seed < 100; ++seed) {
            std::mt19937 random(seed);
            const int layers = std::uniform_int_distribution(4, 12)(random);
            const graph::Model model = network(layers, 24, 4, seed);
            policy::Policy policy;
            policy.target = seed % 2 == 0 ? DType::F16 : DType::BF16;
            auto converted = take(mixed::convertModel(model, policy, false));
            const int faulty = std::uniform_int_distribution(0, layers - 1)(random);
            const float size = std::uniform_real_distribution(0.1F, 1.0F)(random);
            for (tensor::Array &array : converted.model.parameters) {
                if (dialect::dialectNamed("mxnet")->variableOf(array.name)
                    != "fc" + std::to_string(faulty) + "_weight")
                    continue;
                std::vector<float> values = array.values.values<float>();
                for (float &value : values)
                    value *= 1 + size * std::normal_distribution<float>()(random);
                array.values = floats(array.shape, values);
            }
            const Comparison comparison
                = compared(convertedPair(model, converted.model, converted.conversion),
                           {{"data", drawn({4, 24}, seed)}});
            named += nameOf(model, comparison, comparison.firstDivergence) == "fc" + std::to_string(faulty);
        }
        qInfo("%d of 100 named", named);
        QVERIFY(named >= 99);
    }

    /// The same policy applied to one node alone, every other one held in float32.
    void anIsolatedLayerIsARunWithOnlyThatOneLowered()
    {
        const graph::Model model = sample();
        const interpret::Feed feed = samplePictures(2);
        const auto all = take(mixed::convertModel(model, policyOf("all-float16-but-sum.policy.json"), false));
        CompareSettings settings;
        settings.isolated = true;
        const Comparison comparison
            = compared(convertedPair(model, all.model, all.conversion), feed, settings);
        int lowered = 0;
        for (const LayerErrors &layer : comparison.layers) {
            if (!layer.isolated)
                continue;
            ++lowered;
            policy::Policy alone;
            for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
                if (!model.graph.isVariable(id))
                    alone.nodeOverrides[model.graph.node(id).name]
                        = id == layer.node ? DType::F16 : DType::F32;
            }
            const auto one = take(mixed::convertModel(model, alone, false));
            const Comparison want = compared(convertedPair(model, one.model, one.conversion), feed);
            const std::string name = model.graph.node(layer.node).name;
            QVERIFY2(want.outputs[0].figures.maxAbs == layer.isolatedAtOutputs->maxAbs, name.c_str());
            QVERIFY2(want.outputs[0].figures.rmse == layer.isolatedAtOutputs->rmse, name.c_str());
            for (const LayerErrors &other : want.layers) {
                if (other.node == layer.node && other.output == layer.output)
                    QVERIFY2(other.cumulative->rmse == layer.isolated->rmse, name.c_str());
            }
        }
        QVERIFY(lowered > 15);
    }

    void figuresDoNotDependOnBatches()
    {
        const graph::Model model = sample();
        const auto converted = take(mixed::convertModel(model, policy::Policy(), false));
        const ComparedModels models = convertedPair(model, converted.model, converted.conversion);
        CompareSettings settings;
        settings.isolated = true;
        const interpret::Feed feed = samplePictures(5);
        const Comparison whole = compared(models, feed, settings);
        LayerCompare compare = compareOf(models, settings);
        for (std::size_t first = 0; first < 5; first += 2)
            QVERIFY(take(compare.add({{"data", kernels::sliceRows(feed.at("data"), first, 2)}}))
                    == Room::Enough);
        const Comparison cut = compare.result();
        for (std::size_t k = 0; k < whole.layers.size(); ++k) {
            const auto &a = *whole.layers[k].cumulative;
            const auto &b = *cut.layers[k].cumulative;
            QCOMPARE(a.count, b.count);
            QCOMPARE(a.maxAbs, b.maxAbs);
            QVERIFY(a.rmse == b.rmse || std::abs(a.rmse / b.rmse - 1) < 1e-12);
            QVERIFY(a.maxRelative == b.maxRelative || std::abs(a.maxRelative / b.maxRelative - 1) < 1e-6);
            QCOMPARE(whole.layers[k].isolated.has_value(), cut.layers[k].isolated.has_value());
        }
        QCOMPARE(whole.outputs[0].agreement->top5, cut.outputs[0].agreement->top5);
    }

    void memoryStaysUnderItsLimit()
    {
        // A chain whose every third node also reads the one before its input: 150 values of 1 MiB on each side.
#ifdef HALFTONE_SANITIZED
        constexpr std::int64_t kElements = 1 << 14; // the process's memory is not asked for then
#else
        constexpr std::int64_t kElements = 1 << 18;
#endif
        constexpr std::size_t kValue = kElements * sizeof(float);
        test::GraphBuilder g;
        auto value = g.variable("data");
        auto before = value;
        for (int k = 0; k < 150; ++k) {
            const std::string name = "node" + std::to_string(k);
            const auto next = k % 3 == 2 ? g.op("elemwise_add", name, {value, before})
                : k % 3 == 1             ? g.op("FullyConnected", name, {value, g.variable(name + "_weight")},
                                                {{"num_hidden", "2"}, {"no_bias", "True"}})
                                         : g.op("Activation", name, {value}, {{"act_type", "softsign"}});
            before = value;
            value = next;
        }
        const Shape shape{kElements / 2, 2};
        const graph::Model model
            = take(interpret::withRandomParameters(g.model({value}), {{"data", shape}}, 5));
        const auto converted = take(mixed::convertModel(model, policy::Policy(), false));
        const ComparedModels models = convertedPair(model, converted.model, converted.conversion);
        const interpret::Feed feed{{"data", drawn(shape, 1)}};
        CompareSettings settings;
        settings.memoryLimit = 15 * kValue;
        LayerCompare bounded = compareOf(models, settings);
        [[maybe_unused]] const bool canMeasure = forgetPeak();
        const std::size_t atStart = peakOfProcess();
        QVERIFY(take(bounded.add(feed)) == Room::Enough);
        const std::size_t grown = peakOfProcess() - atStart;
        const Comparison got = bounded.result();
        std::size_t all = 0; // of the reference alone
        for (const LayerErrors &layer : got.layers)
            all += layer.cumulative->count * sizeof(float);
        QVERIFY(all >= 10 * settings.memoryLimit);
        QVERIFY(got.peakBytes <= settings.memoryLimit);
#ifdef HALFTONE_SANITIZED
        const bool isMeant = false; // what the sanitizer keeps is no fault of the comparison
#else
        const bool isMeant = canMeasure;
#endif
        if (isMeant)
            QVERIFY2(grown <= settings.memoryLimit, qPrintable(QString::number(grown)));
        const Comparison want = compared(models, feed);
        for (std::size_t k = 0; k < got.layers.size(); ++k)
            QCOMPARE(got.layers[k].cumulative->rmse, want.layers[k].cumulative->rmse);
    }

    void aBatchWithoutRoomIsGivenUpAndCanBeForgotten()
    {
        const graph::Model model = network(6, 64, 64, 3);
        const ComparedModels models = take(pairByName(model, model));
        CompareSettings settings;
        settings.memoryLimit = 64 * 64 * 4 * 3;
        LayerCompare compare = compareOf(models, settings);
        QVERIFY(take(compare.add({{"data", drawn({64, 64}, 1)}})) == Room::TooSmall);
        compare.forget();
        QVERIFY(take(compare.add({{"data", drawn({16, 64}, 1)}})) == Room::Enough);
        for (const LayerErrors &layer : compare.result().layers)
            QCOMPARE(layer.cumulative->count, std::uint64_t{16 * 64});
    }

    void anUncleanReferenceIsNamed()
    {
        test::GraphBuilder g;
        const auto x = g.variable("data");
        const auto log = g.op("log", "the_log", {g.op("abs", "positive", {x})});
        const graph::Model model = g.model({g.op("relu", "last", {log})});
        const Comparison comparison
            = compared(take(pairByName(model, model)), {{"data", floats({1, 2}, {1, 0})}});
        QCOMPARE(nameOf(model, comparison, comparison.firstUnclean), std::string("the_log"));
    }

    /// log 0 is -infinity, and its exponential 0: as masks of attention are.
    void anInfinityInsideCountsWhereTheOtherHasAnother()
    {
        const auto network = [](const char *shift) {
            test::GraphBuilder g;
            const auto x = g.op("_plus_scalar", "shift", {g.variable("data")}, {{"scalar", shift}});
            return g.model({g.op("exp", "last", {g.op("log", "the_log", {x})})});
        };
        const graph::Model model = network("0");
        const auto of = [&](const char *shift) {
            LayerCompare compare = compareOf(take(pairByName(model, network(shift))));
            if (take(compare.add({{"data", floats({1, 3}, {1, 0, 4})}})) != Room::Enough)
                qFatal("no room");
            if (compare.firstUnclean()) // the head is clean
                qFatal("not comparable");
            return compare.result();
        };
        const Comparison same = of("0");
        QCOMPARE(nameOf(model, same, same.firstUnclean), std::string("the_log"));
        QVERIFY(!same.firstDivergence);
        QCOMPARE(same.layers[1].notFinite, std::uint64_t{1});
        QCOMPARE(same.layers[1].cumulative->count, std::uint64_t{2});
        QVERIFY(std::isinf(same.layers[1].cumulative->sqnrDb) && same.layers[1].cumulative->sqnrDb > 0);
        const Comparison finite = of("1");
        QCOMPARE(finite.layers[1].cumulative->count, std::uint64_t{3});
        QCOMPARE(finite.layers[1].cumulative->overflow, std::uint64_t{1});
        QCOMPARE(finite.layers[1].cumulative->nan, std::uint64_t{0});
        const Comparison undefined = of("-0.5");
        QCOMPARE(undefined.layers[1].cumulative->overflow, std::uint64_t{0});
        QCOMPARE(undefined.layers[1].cumulative->nan, std::uint64_t{1});
    }

    void whatHasNoCounterpartIsTold()
    {
        test::GraphBuilder a;
        const auto x = a.variable("data");
        const graph::Model one = a.model({a.op("relu", "same", {a.op("abs", "here", {x})})});
        test::GraphBuilder b;
        const auto y = b.variable("data");
        const graph::Model two = b.model({b.op("relu", "same", {b.op("square", "there", {y})})});
        const ComparedModels models = take(pairByName(one, two));
        const Unmatched unmatched = unmatchedNodes(models);
        QCOMPARE(unmatched.reference, std::vector<std::string>{"here"});
        QCOMPARE(unmatched.other, std::vector<std::string>{"there"});
        const Comparison comparison = compared(models, {{"data", floats({1, 2}, {1, -3})}});
        QCOMPARE(nameOf(one, comparison, comparison.firstDivergence), std::string("same"));
        QVERIFY(!comparison.layers.at(0).cumulative);
        test::GraphBuilder c;
        const auto z = c.variable("data");
        const graph::Model three = c.model({z, c.op("relu", "same", {z})});
        QCOMPARE(pairByName(one, three).error().where, std::string("heads"));
    }

    void agreementByHand()
    {
        ClassAgreement logits(Scores::Logits);
        logits.add(std::vector<float>{0, std::log(3.0F)}, std::vector<float>{0, 0}); // ¼, ¾ against ½, ½
        const Agreement got = *logits.result();
        QCOMPARE(got.top1, 0.0); // the tie goes to the lower place
        QCOMPARE(got.top5, 1.0);
        QVERIFY(std::abs(got.divergence - (0.25 * std::log(0.5) + 0.75 * std::log(1.5))) < 1e-7);
        ClassAgreement shares(Scores::Probabilities);
        shares.add(std::vector<float>{0.25F, 0.75F, 0}, std::vector<float>{0.5F, 0.5F, 0});
        QVERIFY(std::abs(shares.result()->divergence - got.divergence) < 1e-7);
    }

    void aComparisonStops()
    {
        const graph::Model model = network(6, 64, 64, 3);
        LayerCompare compare = compareOf(take(pairByName(model, model)));
        std::stop_source stop;
        stop.request_stop();
        const auto stopped = compare.add({{"data", drawn({64, 64}, 1)}}, {stop.get_token(), {}});
        QVERIFY(!stopped.ok());
        QCOMPARE(stopped.error().code, Errc::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestLayerCompare)
#include "tst_layer_compare.moc"

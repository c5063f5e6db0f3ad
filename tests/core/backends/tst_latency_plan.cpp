#include "core/backends/backend_entry.h"
#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/mixed/convert_model.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace halftone;
using graph::Entry;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

using Shapes = std::unordered_map<std::string, Shape>;
using Values = std::vector<std::vector<float>>;

constexpr double kFloat32Tolerance = 1e-5; ///< sums of up to a few thousand products, in another order
/// e^x makes an absolute error of x a relative one of the result, and the scores before the softmax reach 24 times a
/// squared gain of 1.375.
constexpr double kSoftmaxTolerance = 45 * 1.2e-7 * 8;
constexpr double kBfloat16Tolerance
    = 4e-2; ///< a few operators deep: 2^-8 each, and fused ones round less often

Result<infer::TypedModel> typedOf(const graph::Model &model, const Shapes &inputs)
{
    Shapes known = inputs;
    for (const tensor::Array &array : model.parameters)
        known.emplace(dialect::dialectNamed("mxnet")->variableOf(array.name), array.shape);
    infer::TypedModel typed{model, {}, {}};
    HALFTONE_TRY(typed.shapes, infer::inferShapes(model.graph, known));
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const auto variables, infer::classifyVariables(model, {}, warnings));
    std::vector<DType> ofVariables;
    for (const infer::Variable &variable : variables)
        ofVariables.push_back(variable.type);
    HALFTONE_TRY(typed.types, infer::inferTypes(model.graph, ofVariables));
    return typed;
}

Result<std::unique_ptr<kernels::LatencyPlan>>
planOf(const graph::Model &model, const Shapes &inputs, std::shared_ptr<kernels::PlanCache> cache = nullptr,
       kernels::PlanLayout layout = kernels::PlanLayout::Measured)
{
    HALFTONE_TRY(const infer::TypedModel typed, typedOf(model, inputs));
    HALFTONE_TRY(const auto backend, backends::planningBackend(backends::kDefaultBackend, 2));
    return backend->plan(typed, {std::move(cache), layout});
}

/// Parameters drawn at random, statistics of normalisations that do something.
graph::Model withParameters(const graph::Model &bare, const Shapes &inputs)
{
    auto model = interpret::withRandomParameters(bare, inputs, 3);
    if (!model.ok())
        qFatal("%s", model.error().message().c_str());
    for (tensor::Array &array : model.value().parameters) {
        if (array.shape.rank() != 1)
            continue;
        std::vector<float> values(array.values.elementCount());
        for (std::size_t k = 0; k < values.size(); ++k) // positive, as a variance has to be
            values[k] = 0.5F + 0.125F * static_cast<float>((k * 7 + array.name.size()) % 8);
        const std::string name = array.name;
        array = test::floatArray(name, values);
    }
    return std::move(model).value();
}

/// Values in [-1, 1) that depend on the place.
std::vector<float> wave(std::size_t count)
{
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = static_cast<float>(static_cast<int>(k * 37 % 256) - 128) / 128;
    return values;
}

std::size_t countOf(const Shape &shape)
{
    return static_cast<std::size_t>(*shape.elementCount());
}

Values runPlan(kernels::LatencyPlan &plan)
{
    const auto done = plan.run();
    if (!done.ok())
        qFatal("%s", done.error().message().c_str());
    Values outputs;
    for (std::size_t k = 0; k < plan.outputs().size(); ++k) {
        const auto &desc = plan.outputs()[k].desc;
        const auto bytes = plan.output(k);
        const Tensor wide
            = tensor::castTo(Tensor::owning(desc.dtype, desc.shape, {bytes.begin(), bytes.end()}), DType::F32)
                  .value();
        outputs.push_back(wide.values<float>());
    }
    return outputs;
}

void feed(kernels::LatencyPlan &plan)
{
    for (std::size_t k = 0; k < plan.inputs().size(); ++k) {
        const std::vector<float> values = wave(countOf(plan.inputs()[k].desc.shape));
        std::memcpy(plan.input(k).data(), values.data(), plan.input(k).size());
    }
}

/// The same model node by node, nothing fused.
Values runNodes(const graph::Model &model, const Shapes &inputs)
{
    auto interpreter = interpret::Interpreter::create(model, {backends::reference::referenceBackend()});
    if (!interpreter.ok())
        qFatal("%s", interpreter.error().message().c_str());
    interpret::Feed fed;
    for (const auto &[name, shape] : inputs) {
        const std::vector<float> values = wave(countOf(shape));
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        fed.emplace(name, Tensor::owning(DType::F32, shape, std::move(bytes)));
    }
    const auto results = interpreter.value().run(fed);
    if (!results.ok())
        qFatal("%s", results.error().message().c_str());
    Values outputs;
    for (const Tensor &result : results.value()) {
        const Tensor wide = tensor::castTo(result, DType::F32).value();
        outputs.push_back(wide.values<float>());
    }
    return outputs;
}

/// The largest difference over the largest value, over all outputs.
double distance(const Values &a, const Values &b)
{
    double worst = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        double difference = 0;
        double largest = 1e-30;
        for (std::size_t i = 0; i < a[k].size(); ++i) {
            difference
                = std::max(difference, std::abs(static_cast<double>(a[k][i]) - static_cast<double>(b[k][i])));
            largest = std::max(largest, std::abs(static_cast<double>(b[k][i])));
            if (std::isnan(a[k][i]) != std::isnan(b[k][i]))
                return INFINITY;
        }
        worst = std::max(worst, difference / largest);
    }
    return worst;
}

/// A convolution with everything that belongs to it named after it.
Entry conv(test::GraphBuilder &g, const std::string &name, Entry x, int filters, int kernel, int stride = 1)
{
    const std::string k = std::to_string(kernel);
    const std::string p = std::to_string(kernel / 2);
    const std::string s = std::to_string(stride);
    return g.op("Convolution", name, {x, g.variable(name + "_weight"), g.variable(name + "_bias")},
                {{"kernel", "(" + k + ", " + k + ")"},
                 {"pad", "(" + p + ", " + p + ")"},
                 {"stride", "(" + s + ", " + s + ")"},
                 {"num_filter", std::to_string(filters)}});
}

Entry norm(test::GraphBuilder &g, const std::string &name, Entry x)
{
    return g.op("BatchNorm", name,
                {x, g.variable(name + "_gamma"), g.variable(name + "_beta"),
                 g.variable(name + "_moving_mean"), g.variable(name + "_moving_var")},
                {{"fix_gamma", "False"}});
}

Entry relu(test::GraphBuilder &g, const std::string &name, Entry x)
{
    return g.op("Activation", name, {x}, {{"act_type", "relu"}});
}

const Shapes kPicture{{"data", Shape{1, 3, 20, 20}}};

/// Two bottlenecks of a residual network, the second one with a stride.
graph::Model residual()
{
    test::GraphBuilder g;
    const Entry stem = relu(g, "stem_relu", norm(g, "stem_bn", conv(g, "stem", g.variable("data"), 32, 3)));
    Entry x = relu(g, "a_relu0", norm(g, "a_bn0", conv(g, "a_conv0", stem, 16, 1)));
    x = norm(g, "a_bn1", conv(g, "a_conv1", x, 32, 3));
    const Entry sum = relu(g, "a_out", g.op("elemwise_add", "a_sum", {x, stem}));
    x = relu(g, "b_relu0", norm(g, "b_bn0", conv(g, "b_conv0", sum, 16, 1, 2)));
    x = norm(g, "b_bn1", conv(g, "b_conv1", x, 48, 3));
    const Entry shortcut = norm(g, "b_bn2", conv(g, "b_conv2", sum, 48, 1, 2));
    x = relu(g, "b_out", g.op("elemwise_add", "b_sum", {x, shortcut}));
    x = g.op("Pooling", "pool", {x}, {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
    return g.model({g.op("FullyConnected", "fc", {x, g.variable("fc_weight"), g.variable("fc_bias")},
                         {{"num_hidden", "10"}})});
}

/// A dense block and its transition.
graph::Model dense()
{
    test::GraphBuilder g;
    Entry x = conv(g, "stem", g.variable("data"), 32, 3);
    for (const std::string layer : {"a", "b", "c"}) {
        Entry y = relu(g, layer + "_relu", norm(g, layer + "_bn", x));
        y = conv(g, layer + "_conv", y, 16, 3);
        x = g.op("Concat", layer + "_concat", {x, y}, {{"num_args", "2"}, {"dim", "1"}});
    }
    x = conv(g, "transition", relu(g, "t_relu", norm(g, "t_bn", x)), 24, 1);
    return g.model(
        {g.op("Pooling", "t_pool", {x}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "avg"}})});
}

/// Operators that oneDNN has no primitive for between such that it has.
graph::Model mixedNetwork()
{
    test::GraphBuilder g;
    Entry x = conv(g, "conv", g.variable("data"), 24, 3);
    x = g.op("_mul_scalar", "scale", {x}, {{"scalar", "0.5"}});
    x = g.op("erf", "erf", {x});
    x = g.op("transpose", "swap", {x}, {{"axes", "(0, 2, 3, 1)"}});
    x = g.op("LayerNorm", "ln", {x, g.variable("ln_gamma"), g.variable("ln_beta")});
    x = g.op("Reshape", "rows", {x}, {{"shape", "(1, 100, -1)"}});
    // A summand that no other reads, behind another function of the product.
    const Entry other = g.op("batch_dot", "other", {x, x}, {{"transpose_b", "True"}});
    x = g.op("batch_dot", "scores", {x, x}, {{"transpose_b", "True"}});
    x = g.op("_mul_scalar", "quarter", {x}, {{"scalar", "0.25"}});
    x = g.op("elemwise_add", "both", {other, x});
    x = g.op("softmax", "softmax", {x});
    return g.model({x, g.op("sum", "sum", {x}, {{"axis", "1"}})});
}

/// The end of a detector: [class, score, corners] of every place, the best first and those that overlap it gone. Scores
/// differ by far more than a rounding: between equal ones the order would be one of the last bit.
graph::Model detector()
{
    test::GraphBuilder g;
    const Entry features = relu(g, "features_relu", conv(g, "features", g.variable("data"), 32, 3, 2));
    const auto rows = [&g](const std::string &name, Entry x, const char *width) {
        x = g.op("transpose", name + "_last", {x}, {{"axes", "(0, 2, 3, 1)"}});
        return g.op("Reshape", name + "_rows", {x}, {{"shape", std::string("(0, -1, ") + width + ")"}});
    };
    const Entry score = g.op("sigmoid", "chance", {rows("score", conv(g, "score", features, 1, 1), "1")});
    const Entry centre = rows("centre", conv(g, "centre", features, 2, 1), "2");
    const Entry half = g.op("_plus_scalar", "half",
                            {g.op("abs", "size", {rows("extent", conv(g, "extent", features, 2, 3), "2")})},
                            {{"scalar", "0.5"}});
    const Entry begin = g.op("broadcast_sub", "begin", {centre, half});
    const Entry end = g.op("broadcast_add", "end", {centre, half});
    const Entry zero = g.op("zeros_like", "class", {score});
    const Entry all = g.op("Concat", "boxes", {zero, score, begin, end}, {{"num_args", "4"}, {"dim", "-1"}});
    return g.model(
        {g.op("_contrib_box_nms", "nms", {all},
              {{"overlap_thresh", "0.5"}, {"valid_thresh", "0.01"}, {"topk", "40"}, {"id_index", "0"}}),
         all});
}

} // namespace

class LatencyPlanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aPlanGivesWhatTheNodesGive_data();
    void aPlanGivesWhatTheNodesGive();
    void whatIsFusedIsOneStep();
    void aFunctionThatRoundingLeavesAloneGoesBeforeACast();
    void aNormalisationThatNarrowsAtItsEndIsOneStep();
    void aProducerWithAnotherReaderIsNotFused();
    void stridesSinkAndPoolsRise();
    void partsOfAConcatenationAreNotCopied();
    void runsRepeatBitForBitWhateverTheArenaHeld();
    void aSecondPlanTakesItsWeightsFromTheCache();
    void anEditedInputGivesAnotherResult();
    void aStoppedRunSaysSo();
    void whatNobodyComputesIsNamed();
};

void LatencyPlanTest::initTestCase()
{
    if (!backends::backendTable().front().makesPlans)
        QSKIP("this build has no oneDNN");
}

void LatencyPlanTest::aPlanGivesWhatTheNodesGive_data()
{
    QTest::addColumn<int>("network");
    QTest::addColumn<int>("batch");
    QTest::addColumn<bool>("narrow");
    QTest::addColumn<bool>("channelsLast");
    const char *const names[] = {"residual", "dense", "mixed", "detector"};
    for (int network = 0; network < 4; ++network) {
        for (const int batch : {1, 2}) {
            if (network == 2 && batch == 2) // its Reshape says one picture
                continue;
            for (const int kind : {0, 1, 2, 3}) {
                if (network == 3 && kind % 2 != 0) // bfloat16 makes scores equal
                    continue;
                QTest::addRow("%s, batch %d, %s, %s", names[network], batch,
                              kind % 2 != 0 ? "bfloat16" : "float32", kind > 1 ? "channels last" : "blocked")
                    << network << batch << (kind % 2 != 0) << (kind > 1);
            }
        }
    }
}

void LatencyPlanTest::aPlanGivesWhatTheNodesGive()
{
    QFETCH(int, network);
    QFETCH(int, batch);
    QFETCH(bool, narrow);
    QFETCH(bool, channelsLast);
    const Shapes inputs{{"data", Shape{batch, 3, 20, 20}}};
    const graph::Model bare = network == 0 ? residual()
        : network == 1                     ? dense()
        : network == 2                     ? mixedNetwork()
                                           : detector();
    graph::Model model = withParameters(bare, inputs);
    if (narrow) {
        policy::Policy policy;
        policy.target = DType::BF16;
        auto converted = mixed::convertModel(model, policy, false);
        QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
        model = converted.value().model;
    }
    const auto plan = planOf(model, inputs, nullptr,
                             channelsLast ? kernels::PlanLayout::ChannelsLast : kernels::PlanLayout::Blocked);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    QCOMPARE(plan.value()->layout() == kernels::PlanLayout::ChannelsLast, channelsLast);
    feed(*plan.value());
    const double apart = distance(runPlan(*plan.value()), runNodes(model, inputs));
    const double wide = network == 2 ? kSoftmaxTolerance : kFloat32Tolerance;
    QVERIFY2(apart < (narrow ? kBfloat16Tolerance : wide), qPrintable(QString::number(apart)));
}

void LatencyPlanTest::whatIsFusedIsOneStep()
{
    const auto plan = planOf(withParameters(residual(), kPicture), kPicture);
    QVERIFY(plan.ok());
    QVector<std::vector<std::string>> groups;
    for (const kernels::PlanStep &step : plan.value()->steps())
        groups << step.nodes;
    QVERIFY(groups.contains(std::vector<std::string>{"stem", "stem_bn", "stem_relu"}));
    QVERIFY(groups.contains(std::vector<std::string>{"a_conv1", "a_bn1", "a_sum", "a_out"}));
}

/// As a conversion leaves it that casts before a function that both sides may compute: rounding swaps no two values, and so the convolution
/// may apply it first. 0.1 is no bfloat16, and what rounds up to it would be cut before.
void LatencyPlanTest::aFunctionThatRoundingLeavesAloneGoesBeforeACast()
{
    for (const std::string most : {"6", "0.1"}) {
        test::GraphBuilder g;
        const Entry y = conv(g, "first", g.variable("data"), 16, 3);
        const Entry narrow = g.op("amp_cast", "narrow", {y}, {{"dtype", "bfloat16"}});
        const Entry cut = g.op("clip", "cut", {narrow}, {{"a_min", "0"}, {"a_max", most}});
        const graph::Model model = withParameters(g.model({cut}), kPicture);
        const auto plan = planOf(model, kPicture);
        QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
        const bool isFused = std::ranges::any_of(plan.value()->steps(), [](const kernels::PlanStep &step) {
            return step.op == "Convolution" && step.nodes.back() == "cut";
        });
        QCOMPARE(isFused, most == "6");
        feed(*plan.value());
        const double off = distance(runPlan(*plan.value()), runNodes(model, kPicture));
        QVERIFY2(off < 0x1p-7,
                 qPrintable(QString::number(off))); // a neighbour, where sums are added in another order
    }
}

/// As a conversion leaves it that casts where fewest bytes are: gamma in float32, beta behind the cast.
void LatencyPlanTest::aNormalisationThatNarrowsAtItsEndIsOneStep()
{
    const Shapes rows{{"data", {1, 4, 6, 24}}};
    for (const bool isNarrow : {true, false}) { // its root, too: no float32 normalisation any more
        test::GraphBuilder g;
        const auto narrowed = [&g](const std::string &name, Entry x) {
            return g.op("amp_cast", name, {x}, {{"dtype", "bfloat16"}});
        };
        const auto mean = [&g](const std::string &name, Entry x) {
            return g.op("mean", name, {x}, {{"axis", "-1"}, {"keepdims", "True"}});
        };
        const Entry x = g.variable("data");
        const Entry apart = g.op("broadcast_sub", "apart", {x, mean("middle", x)});
        const Entry variance = mean("variance", g.op("square", "squares", {apart}));
        Entry root = g.op("sqrt", "root", {g.op("_plus_scalar", "sure", {variance}, {{"scalar", "0.001"}})});
        if (!isNarrow)
            root = g.op("amp_cast", "back", {narrowed("early", root)}, {{"dtype", "float32"}});
        Entry y = g.op("broadcast_div", "unit", {apart, root});
        y = narrowed("narrow",
                     g.op("broadcast_mul", "scaled", {y, g.variable("gamma", {{"__shape__", "(24,)"}})}));
        y = g.op("broadcast_add", "shifted",
                 {y, narrowed("narrow_beta", g.variable("beta", {{"__shape__", "(24,)"}}))});
        const graph::Model model = withParameters(g.model({y}), rows);
        const auto plan = planOf(model, rows);
        QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
        const auto computes = std::ranges::count_if(plan.value()->steps(), [](const kernels::PlanStep &step) {
            return step.kind == kernels::StepKind::Compute;
        });
        QCOMPARE(computes == 1, isNarrow);
        feed(*plan.value());
        const double off = distance(runPlan(*plan.value()), runNodes(model, rows));
        QVERIFY2(off < kBfloat16Tolerance, qPrintable(QString::number(off)));
    }
}

/// Defect D-fused-residual: the convolution's own value is a head, so the sum may not swallow it.
void LatencyPlanTest::aProducerWithAnotherReaderIsNotFused()
{
    test::GraphBuilder g;
    const Entry x = conv(g, "first", g.variable("data"), 16, 3);
    const Entry y = conv(g, "second", x, 16, 3);
    const Entry sum = relu(g, "out", g.op("elemwise_add", "sum", {y, x}));
    const Entry again = conv(g, "third", y, 16, 1);
    const graph::Model model = withParameters(g.model({sum, again, y}), kPicture);
    const auto plan = planOf(model, kPicture);
    QVERIFY(plan.ok());
    feed(*plan.value());
    const double apart = distance(runPlan(*plan.value()), runNodes(model, kPicture));
    QVERIFY2(apart < kFloat32Tolerance, qPrintable(QString::number(apart)));
}

void LatencyPlanTest::stridesSinkAndPoolsRise()
{
    // Every reader of a_out has stride 2, so a_conv1 computes a quarter and its other summand is thinned out.
    const auto strided = planOf(withParameters(residual(), kPicture), kPicture);
    QVERIFY(strided.ok());
    std::size_t ofGroup = 0;
    for (const kernels::PlanStep &step : strided.value()->steps())
        ofGroup += step.op == "Subsampling" && step.nodes.back() == "a_out" ? 1 : 0;
    QCOMPARE(ofGroup, std::size_t{1});
    const auto pooled = planOf(withParameters(dense(), kPicture), kPicture);
    QVERIFY(pooled.ok());
    std::string last;
    for (const kernels::PlanStep &step : pooled.value()->steps())
        if (step.kind == kernels::StepKind::Compute)
            last = step.op;
    QCOMPARE(last, std::string("Convolution"));
}

void LatencyPlanTest::partsOfAConcatenationAreNotCopied()
{
    // One picture, multiples of 16 channels, and blocks of them: no step at all.
    const auto plan
        = planOf(withParameters(dense(), kPicture), kPicture, nullptr, kernels::PlanLayout::Blocked);
    QVERIFY(plan.ok());
    for (const kernels::PlanStep &step : plan.value()->steps())
        QVERIFY2(step.op != "Concat", step.kernel.c_str());
}

void LatencyPlanTest::runsRepeatBitForBitWhateverTheArenaHeld()
{
    for (const graph::Model &bare : {residual(), dense(), mixedNetwork()}) {
        const auto plan = planOf(withParameters(bare, kPicture), kPicture);
        QVERIFY(plan.ok());
        feed(*plan.value());
        const Values first = runPlan(*plan.value());
        for (const float other : {std::numeric_limits<float>::quiet_NaN(), 1e9F}) {
            const std::vector<float> filled(countOf(plan.value()->inputs()[0].desc.shape), other);
            std::memcpy(plan.value()->input(0).data(), filled.data(), plan.value()->input(0).size());
            runPlan(*plan.value());
            feed(*plan.value());
            QCOMPARE(distance(runPlan(*plan.value()), first), 0.0);
        }
    }
}

void LatencyPlanTest::aSecondPlanTakesItsWeightsFromTheCache()
{
    const graph::Model model = withParameters(residual(), kPicture);
    const auto cache = std::make_shared<kernels::PlanCache>();
    const auto first = planOf(model, kPicture, cache);
    const std::size_t entries = cache->size();
    const auto second = planOf(model, kPicture, cache);
    QVERIFY(first.ok() && second.ok() && entries > 0);
    QCOMPARE(cache->size(), entries);
    feed(*first.value());
    feed(*second.value());
    QCOMPARE(distance(runPlan(*second.value()), runPlan(*first.value())), 0.0);
}

void LatencyPlanTest::anEditedInputGivesAnotherResult()
{
    const auto plan = planOf(withParameters(residual(), kPicture), kPicture);
    QVERIFY(plan.ok());
    feed(*plan.value());
    const Values first = runPlan(*plan.value());
    std::memset(plan.value()->input(0).data(), 0, plan.value()->input(0).size());
    QVERIFY(distance(runPlan(*plan.value()), first) > 0);
}

void LatencyPlanTest::aStoppedRunSaysSo()
{
    const auto plan = planOf(withParameters(residual(), kPicture), kPicture);
    QVERIFY(plan.ok());
    std::stop_source stop;
    stop.request_stop();
    const auto done = plan.value()->run({stop.get_token(), {}});
    QVERIFY(!done.ok());
    QCOMPARE(done.error().code, Errc::Cancelled);
}

void LatencyPlanTest::whatNobodyComputesIsNamed()
{
    const auto alone = backends::backendTable().front().make({2, true, nullptr});
    const auto typed = typedOf(withParameters(mixedNetwork(), kPicture), kPicture);
    QVERIFY(typed.ok());
    const auto plan = alone->plan(typed.value(), {});
    QVERIFY(!plan.ok());
    QCOMPARE(plan.error().code, Errc::Unsupported);
    QCOMPARE(plan.error().where, std::string("erf"));
}

QTEST_GUILESS_MAIN(LatencyPlanTest)
#include "tst_latency_plan.moc"

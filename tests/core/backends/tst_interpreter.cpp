#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/io/model_io.h"
#include "tests/support/build_graph.h"
#include "tests/support/malformed.h"

#include <QTest>

#include <chrono>
#include <cstring>
#include <thread>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

Tensor floats(Shape shape, const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(DType::F32, std::move(shape), std::move(bytes));
}

Tensor constant(const Shape &shape, float value)
{
    return floats(shape, std::vector<float>(static_cast<std::size_t>(*shape.elementCount()), value));
}

kernels::BackendChain reference(unsigned threads = 1)
{
    return {backends::reference::referenceBackend({threads, false})};
}

interpret::Interpreter interpreterOf(const graph::Model &model)
{
    auto made = interpret::Interpreter::create(model, reference());
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

/// y = x · wᵀ (2 inputs, 2 units), z = relu(y), w = y + z.
graph::Model smallModel()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    const auto y
        = g.op("FullyConnected", "y", {x, g.variable("w")}, {{"num_hidden", "2"}, {"no_bias", "True"}});
    const auto z = g.op("relu", "z", {y});
    return g.model({g.op("elemwise_add", "sum", {y, z})});
}

/// Delegates to the reference but for one operator.
class Refuses final : public kernels::Backend
{
public:
    std::string_view name() const override { return "picky"; }
    kernels::Support support(DType) const override { return kernels::Support::Native; }
    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        ++asked;
        return unsupported({}, operation.opName + " is not to its taste");
    }
    mutable int asked = 0;
};

} // namespace

class TestInterpreter : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void valuesFollowTheGraph()
    {
        auto interpreter = interpreterOf(smallModel());
        QCOMPARE(interpreter.inputs(), (std::vector<std::string>{"x", "w"}));
        const auto heads
            = interpreter.run({{"x", floats({1, 2}, {1, 2})}, {"w", floats({2, 2}, {1, 1, -1, 0})}});
        QVERIFY(heads.ok());
        QCOMPARE(heads.value()[0].values<float>(), (std::vector<float>{6, -1}));
    }

    /// As in a mapped file, where nobody aligns them.
    void parametersThatLieAskewAreCopiedOnceForAllModels()
    {
        graph::Model model = smallModel();
        const auto bytes = std::make_shared<std::vector<std::byte>>(4 * sizeof(float) + 64);
        const std::size_t askew = 1 + (64 - reinterpret_cast<std::uintptr_t>(bytes->data()) % 64) % 64;
        constexpr std::array kValues{1.0F, 1.0F, -1.0F, 0.0F};
        std::memcpy(bytes->data() + askew, kValues.data(), sizeof(kValues));
        const Tensor weights(DType::F32, {2, 2}, std::span(*bytes).subspan(askew, sizeof(kValues)), bytes);
        model.parameters = {{"w", tensor::Storage::Dense, weights.shape(), weights, {}},
                            {"even", tensor::Storage::Dense, {1}, constant({1}, 3), {}}};
        interpret::ReadableParameters readable;
        const auto first = readable.of(model);
        const auto second = readable.of(model);
        QVERIFY(first.ok() && second.ok());
        const Tensor &copy = first.value().parameters[0].values;
        QVERIFY(copy.place() != weights.place());
        QCOMPARE(copy.values<float>(), std::vector<float>(kValues.begin(), kValues.end()));
        QCOMPARE(second.value().parameters[0].values.place(), copy.place());
        QCOMPARE(first.value().parameters[1].values.place(), model.parameters[1].values.place());
    }

    void batchMayChangeFromRunToRun()
    {
        auto interpreter = interpreterOf(smallModel());
        for (const std::int64_t batch : {1, 3, 2, 1}) {
            const auto heads = interpreter.run({{"x", constant({batch, 2}, 1)}, {"w", constant({2, 2}, 1)}});
            QVERIFY(heads.ok());
            QCOMPARE(heads.value()[0].shape(), (Shape{batch, 2}));
            QCOMPARE(heads.value()[0].values<float>(),
                     std::vector<float>(static_cast<std::size_t>(2 * batch), 4.0F));
        }
    }

    void whatAKernelNeedsForItselfIsWhatItReadsAndMakes()
    {
        graph::Model model = smallModel();
        auto feedsAll = interpreterOf(model);
        const auto fed = feedsAll.start({{"x", constant({3, 2}, 1)}, {"w", constant({2, 2}, 1)}},
                                        interpret::Prepare::WhenComputed);
        QVERIFY(fed.ok());
        QCOMPARE(fed.value().scratchBytes(), std::size_t{0}); // no weights that are packed
        model.hasParameters = true;
        model.parameters.push_back({"arg:w", tensor::Storage::Dense, Shape{2, 2}, constant({2, 2}, 1), {}});
        auto interpreter = interpreterOf(model);
        const auto run = interpreter.start({{"x", constant({3, 2}, 1)}}, interpret::Prepare::WhenComputed);
        QVERIFY(run.ok());
        QCOMPARE(run.value().scratchBytes(), (3 * 2 + 2 * 2 + 3 * 2) * sizeof(float));
        QCOMPARE(run.value().peakBytes(), 3 * (3 * 2) * sizeof(float)); // y, z and their sum
    }

    /// A pattern that the shape fits would not tell what is wrong.
    void anInputWhoseNumberTheModelFixesIsToldByWhatFixesIt()
    {
        test::GraphBuilder g;
        const auto y = g.op("Convolution", "y", {g.variable("x"), g.variable("w")},
                            {{"kernel", "(1, 1)"}, {"num_filter", "2"}, {"no_bias", "True"}});
        graph::Model model = g.model({g.op("Reshape", "row", {y}, {{"shape", "(1, 8)"}})});
        model.hasParameters = true;
        const Shape weights{2, 3, 1, 1};
        model.parameters.push_back({"arg:w", tensor::Storage::Dense, weights, constant(weights, 1), {}});
        auto interpreter = interpreterOf(model);
        QVERIFY(interpreter.run({{"x", constant({1, 3, 2, 2}, 1)}}).ok());
        const auto two = interpreter.run({{"x", constant({2, 3, 2, 2}, 1)}});
        QVERIFY(!two.ok());
        QCOMPARE(two.error().where, std::string("x"));
        QCOMPARE(two.error().found, std::string("an array of shape (2, 3, 2, 2)"));
        QVERIFY2(two.error().expected.starts_with("a shape that row accepts"), two.error().message().c_str());
        const auto grey = interpreter.run({{"x", constant({1, 1, 2, 2}, 1)}});
        QVERIFY(!grey.ok());
        QCOMPARE(grey.error().expected, std::string("one of shape (?, 3, ?, ?)"));
    }

    void aParameterThatIsFedCountsInsteadOfTheStoredOne()
    {
        graph::Model model = smallModel();
        model.hasParameters = true;
        model.parameters.push_back({"arg:w", tensor::Storage::Dense, Shape{2, 2}, constant({2, 2}, 1), {}});
        const auto chain = backends::backendChain("cpu", 1); // its kernels pack what is stored
        QVERIFY(chain.ok());
        auto interpreter = interpret::Interpreter::create(model, chain.value());
        QVERIFY(interpreter.ok());
        const interpret::Feed stored{{"x", constant({1, 2}, 1)}};
        const interpret::Feed other{{"x", constant({1, 2}, 1)}, {"w", constant({2, 2}, 3)}};
        for (int k = 0; k < 2; ++k) {
            QCOMPARE(interpreter.value().run(stored).value()[0].values<float>(), (std::vector<float>{4, 4}));
            QCOMPARE(interpreter.value().run(other).value()[0].values<float>(), (std::vector<float>{12, 12}));
        }
    }

    void anInputOfTheWrongShapeIsBlamedAndNoParameter()
    {
        graph::Model model = smallModel();
        model.hasParameters = true;
        model.parameters.push_back({"arg:w", tensor::Storage::Dense, Shape{2, 2}, constant({2, 2}, 1), {}});
        auto interpreter = interpreterOf(model);
        const auto heads = interpreter.run({{"x", constant({1, 3}, 1)}});
        QVERIFY(!heads.ok());
        QCOMPARE(heads.error().code, Errc::BadInput);
        QCOMPARE(heads.error().where, std::string("x"));
        QVERIFY2(heads.error().found.find("(1, 3)") != std::string::npos, heads.error().message().c_str());
    }

    void tapsSeeEveryNodeInOrderAndMayStopTheRun()
    {
        const graph::Model model = smallModel();
        auto interpreter = interpreterOf(model);
        std::vector<std::string> seen;
        interpret::RunOptions options;
        options.tap = [&](const interpret::NodeValue &value) -> Result<void> {
            seen.push_back(model.graph.node(value.node).name + " by " + std::string(value.kernel));
            return value.outputs.size() == 1 ? Result<void>() : Result<void>(badInput("tap", "outputs"));
        };
        const interpret::Feed feed{{"x", constant({1, 2}, 1)}, {"w", constant({2, 2}, 1)}};
        QVERIFY(interpreter.run(feed, options).ok());
        QCOMPARE(seen, (std::vector<std::string>{"y by reference", "z by reference", "sum by reference"}));
        options.tap = [](const interpret::NodeValue &) { return Result<void>(badInput("here", "enough")); };
        QCOMPARE(interpreter.run(feed, options).error().where, std::string("here"));
    }

    void aValueIsFreedAfterItsLastReader()
    {
        constexpr int kNodes = 40;
        constexpr std::size_t kBytes = 16 << 20;
        test::GraphBuilder g;
        auto value = g.variable("x");
        for (int i = 0; i < kNodes; ++i)
            value = g.op("relu", "r" + std::to_string(i), {value});
        auto interpreter = interpreterOf(g.model({value}));
        const interpret::Feed feed{{"x", constant({kBytes / 4}, 1)}};
        const std::size_t before = test::peakMemory();
        QVERIFY(interpreter.run(feed).ok());
        // Fed, copied to where it is aligned, read and written; all values together are 640 MB.
        QVERIFY(!test::kIsMemoryOurs || test::peakMemory() - before < 6 * kBytes);
    }

    void whatOneBackendRefusesTheNextComputes()
    {
        const auto picky = std::make_shared<Refuses>();
        auto interpreter = interpret::Interpreter::create(
            smallModel(), {picky, backends::reference::referenceBackend({1, false})});
        QVERIFY(interpreter.ok());
        const interpret::Feed feed{{"x", constant({1, 2}, 1)}, {"w", constant({2, 2}, 1)}};
        QVERIFY(interpreter.value().run(feed).ok());
        QCOMPARE(picky->asked, 3);
        QVERIFY(interpreter.value().run(feed).ok());
        QCOMPARE(picky->asked, 3); // kernels are kept
        auto alone = interpret::Interpreter::create(smallModel(), {picky});
        const auto refused = alone.value().run(feed);
        QCOMPARE(refused.error().code, Errc::Unsupported);
        QCOMPARE(refused.error().where, std::string("y"));
    }

    void unknownOperatorsRefuseBeforeAnythingRuns()
    {
        test::GraphBuilder g;
        const auto x = g.variable("x");
        const auto made
            = interpret::Interpreter::create(g.model({g.op("my_operator", "mine", {x})}), reference());
        QVERIFY(!made.ok());
        QCOMPARE(made.error().code, Errc::Unsupported);
        QCOMPARE(made.error().where, std::string("mine"));
        QVERIFY(made.error().found.find("my_operator") != std::string::npos);
    }

    void inputsAreAskedForByNameAndLabelsAreNot()
    {
        test::GraphBuilder g;
        const auto x = g.variable("data");
        const graph::Model model
            = g.model({g.op("SoftmaxOutput", "softmax", {x, g.variable("softmax_label")})});
        auto interpreter = interpreterOf(model);
        QCOMPARE(interpreter.inputs(), std::vector<std::string>{"data"});
        QVERIFY(interpreter.run({{"data", constant({2, 4}, 1)}}).ok());
        QCOMPARE(interpreter.run({}).error().where, std::string("data"));
        const auto misspelt = interpreter.run({{"data", constant({2, 4}, 1)}, {"dat", constant({1}, 1)}});
        QVERIFY(misspelt.error().message().find("did you mean data") != std::string::npos);
    }

    /// Mode all casts the label as well, since the operator's rule wants one type.
    void labelsThatAreCastAreNotAskedFor()
    {
        test::GraphBuilder g;
        const auto x = g.variable("data");
        const auto cast
            = g.op("amp_cast", "label_cast", {g.variable("softmax_label")}, {{"dtype", "float32"}});
        const auto softmax = g.op("SoftmaxOutput", "softmax", {x, cast});
        auto interpreter = interpreterOf(g.model({softmax}));
        QCOMPARE(interpreter.inputs(), std::vector<std::string>{"data"});
        QVERIFY(interpreter.run({{"data", constant({2, 4}, 1)}}).ok());
        // A cast that something else reads, a head say, is data.
        QCOMPARE(interpreterOf(g.model({softmax, cast})).inputs().size(), std::size_t{2});
    }

    void dataOfAnotherTypeIsConverted()
    {
        graph::Model model = smallModel();
        model.hasParameters = true;
        model.parameters.push_back({"arg:w", tensor::Storage::Dense, Shape{2, 2}, constant({2, 2}, 1), {}});
        auto interpreter = interpreterOf(model);
        const std::vector<double> values{1, 2};
        std::vector<std::byte> bytes(2 * sizeof(double));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        const auto heads = interpreter.run({{"x", Tensor::owning(DType::F64, Shape{1, 2}, bytes)}});
        QVERIFY2(heads.ok(), heads.ok() ? "" : heads.error().message().c_str());
        QCOMPARE(heads.value()[0].values<float>(), (std::vector<float>{6, 6}));
    }

    void aLongNodeStopsWithinASecond()
    {
        test::GraphBuilder g;
        const auto x = g.variable("x");
        const auto conv = g.op("Convolution", "conv", {x, g.variable("w")},
                               {{"kernel", "(3,3)"}, {"num_filter", "256"}, {"no_bias", "True"}});
        auto interpreter = interpreterOf(g.model({conv}));
        std::stop_source stop;
        interpret::RunOptions options;
        options.progress.stop = stop.get_token();
        const interpret::Feed feed{{"x", constant({16, 256, 128, 128}, 1)},
                                   {"w", constant({256, 256, 3, 3}, 1)}};
        std::chrono::steady_clock::time_point asked;
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            asked = std::chrono::steady_clock::now();
            stop.request_stop();
        });
        const auto heads = interpreter.run(feed, options);
        const auto ended = std::chrono::steady_clock::now();
        later.join();
        QVERIFY(!heads.ok());
        QCOMPARE(heads.error().code, Errc::Cancelled);
        QVERIFY(ended - asked < std::chrono::seconds(1));
    }

    void randomParametersDependOnSeedAndNameAlone()
    {
        const auto values = [](std::uint64_t seed) {
            const auto filled = interpret::withRandomParameters(smallModel(), {{"x", Shape{1, 2}}}, seed);
            return filled.value().parameters.at(0).values.values<float>();
        };
        QCOMPARE(values(1), values(1));
        QVERIFY(values(1) != values(2));
        QCOMPARE(values(1).size(), std::size_t{4});
        const auto open = interpret::withRandomParameters(smallModel(), {}, 1);
        QCOMPARE(open.error().where, std::string("x"));
    }

    /// Examples may be fed several at a time: a written first extent binds nobody.
    void axesOfOnnxInputsAreAsTheModelSays()
    {
        graph::Graph graph(dialect::onnx::onnxDialect(17));
        const auto add = [&graph](const char *op, const char *name, graph::Attributes attributes,
                                  const std::vector<graph::Entry> &inputs) {
            graph::NodeDef def{op, name, std::move(attributes), {}, op == dialect::onnx::kVariableOp};
            return graph::Entry{graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
        };
        const auto input = [&](const char *name, const char *shape) {
            return add("Input", name, {{"type", "float32"}, {"shape", shape}}, {});
        };
        const auto sum = add("Add", "s", {}, {input("a", "[N,3]"), input("b", "[N,?]")});
        graph.setHeads({add("Add", "y", {}, {sum, input("c", "[1,3]")})});
        interpret::Interpreter interpreter = interpreterOf({std::move(graph), {}, false});
        const auto run = [&](const Shape &a, const Shape &b, const Shape &c) {
            const auto heads
                = interpreter.run({{"a", constant(a, 1)}, {"b", constant(b, 1)}, {"c", constant(c, 1)}});
            return heads.ok() ? std::string() : heads.error().message();
        };
        QCOMPARE(run({2, 3}, {2, 1}, {1, 3}), std::string());
        QCOMPARE(run({2, 3}, {2, 3}, {2, 3}), std::string());
        const std::string names = run({2, 3}, {1, 3}, {1, 3}); // which could be broadcast
        QVERIFY2(names.find("b: dimension N is 1, but 2 in a") != std::string::npos, names.c_str());
        QVERIFY(run({2, 4}, {2, 4}, {1, 1}).find("a: an array of shape (2, 4)") != std::string::npos);
        QVERIFY(run({2, 3}, {2, 3}, {3}).find("rank 2") != std::string::npos);
    }

    void loopsRunTheirBodies()
    {
        const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/bodies/foreach-symbol.json", {{}, true});
        QVERIFY(loaded.ok());
        auto made = interpret::Interpreter::create(loaded.value().model, reference());
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        QVERIFY(!made.value().inputs().empty());
    }
};

QTEST_GUILESS_MAIN(TestInterpreter)
#include "tst_interpreter.moc"

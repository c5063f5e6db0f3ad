#include "core/graph/traverse.h"
#include "core/io/arrays/npz.h"
#include "core/tune/front_json.h"
#include "core/tune/model_oracle.h"
#include "core/tune/search.h"
#include "tests/support/fake_runtime.h"
#include "tests/support/onnx_builder.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace halftone;
using tensor::DType;

namespace {

constexpr std::int64_t kWidth = 16;

/// x, MatMul, Relu, Gemm
graph::Model network()
{
    test::OnnxBuilder g(17);
    const graph::Entry x = g.input("x", "float32", "[1,16]");
    const graph::Entry w = g.input("w", "float32", "[16,16]");
    const graph::Entry v = g.input("v", "float32", "[16,16]");
    const graph::Entry first = g.op("MatMul", "first", {}, {x, w});
    const graph::Entry relu = g.op("Relu", "relu", {}, {first});
    const graph::Entry second = g.op("Gemm", "second", {}, {relu, v});
    std::vector<float> values;
    for (int k = 0; k < kWidth * kWidth; ++k)
        values.push_back(static_cast<float>(k % 7 - 3) / 16);
    return {g.withHeads({second}),
            {test::OnnxBuilder::floats("w", {kWidth, kWidth}, values),
             test::OnnxBuilder::floats("v", {kWidth, kWidth}, values)},
            true};
}

/// Does the node read 16 bits?
bool isNarrow(const infer::TypedModel &model, const char *name)
{
    const graph::Graph &graph = model.model.graph;
    const graph::NodesByName ids = graph::operatorsByName(graph);
    const auto found = ids.find(name);
    return found != ids.end() && tensor::isHalf(model.types.of(graph.inputs(found->second)[0]));
}

constexpr const char *kWords = "Fake Runtime 1.0: Could not find an implementation";

test::Refusal g_refusal; ///< of the test that runs

} // namespace

/// A search on a runtime that has no kernel for some of what the lists lower.
class RefusalsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(test::addFakeRuntime([](const infer::TypedModel &model) { return g_refusal(model); }));
        std::vector<float> x(kWidth, 0.5F);
        x[3] = -1.25F;
        const auto array = test::OnnxBuilder::floats("x", {1, kWidth}, x);
        const std::vector<io::NamedTensor> feed{{"x", array.values}};
        QVERIFY(io::writeNpz(feed, m_folder.filePath("x.npz").toStdString()).ok());
    }

    void theSearchGoesOnWithoutWhatIsRefused()
    {
        g_refusal = [](const infer::TypedModel &model) -> std::optional<Error> {
            return isNarrow(model, "first") ? std::optional(unsupported("first", kWords)) : std::nullopt;
        };
        const tune::TuneTask task = taskFor();
        const auto found = searched(task);
        QVERIFY2(found.ok(), found.ok() ? "" : found.error().message().c_str());
        const tune::Front &front = found.value();
        const std::string why = std::string("MatMul is refused: ") + kWords;
        QCOMPARE(front.refusals(), std::vector<std::string>{"1 node in float32: " + why});
        bool isSecondLowered = false;
        for (const tune::Point &point : front.points) {
            const policy::Policy policy
                = tune::adoptedPolicy(front, *task.policy, task.source->model.graph, point.labels);
            QCOMPARE(policy.nodeOverrides.at("first"), DType::F32);
            QCOMPARE(policy.reasons.at("first"), "float32: " + why);
            isSecondLowered = isSecondLowered || !policy.nodeOverrides.contains("second");
        }
        QVERIFY(isSecondLowered);
        const auto json
            = tune::frontJson(front, std::vector<std::string>(front.points.size()), std::nullopt, "float16");
        QCOMPARE(json.at("refused").size(), std::size_t{1});
        QCOMPARE(json.at("refused").at(0).at("node").get<std::string>(), std::string("first"));
    }

    void whereNothingIsLeftItEnds()
    {
        g_refusal = [](const infer::TypedModel &model) -> std::optional<Error> {
            for (const char *const name : {"first", "second"})
                if (isNarrow(model, name))
                    return unsupported(name, kWords);
            return std::nullopt;
        };
        const auto found = searched(taskFor());
        QVERIFY(!found.ok());
        QCOMPARE(found.error().code, Errc::Unsupported);
        QVERIFY(found.error().message().find(kWords) != std::string::npos);
    }

    /// Each alone is taken, and both are.
    void aMixtureThatIsRefusedIsNotOffered()
    {
        g_refusal = [](const infer::TypedModel &model) -> std::optional<Error> {
            return isNarrow(model, "first") && !isNarrow(model, "second")
                ? std::optional(unsupported("second", kWords))
                : std::nullopt;
        };
        const tune::TuneTask task = taskFor();
        tune::ModelOracle oracle(task);
        const auto timed = oracle.profile({});
        QVERIFY2(timed.ok(), timed.ok() ? "" : timed.error().message().c_str());
        tune::Labels labels;
        for (const tune::Group &group : timed.value().groups)
            labels.push_back(group.name == "first" ? tune::Label::Target : tune::Label::Float32);
        const auto measured = oracle.measure(labels, {});
        QVERIFY2(measured.ok(), measured.ok() ? "" : measured.error().message().c_str());
        QVERIFY(!measured.value().isClean);
        QVERIFY(measured.value().refusal.find(kWords) != std::string::npos);
    }

private:
    tune::TuneTask taskFor() const
    {
        tune::TuneTask task;
        auto source = std::make_shared<io::LoadedModel>();
        source->model = network();
        task.source = source;
        auto shapes = infer::inferShapes(source->model.graph, {});
        if (!shapes.ok())
            qFatal("shapes of the network");
        task.shapes = std::make_shared<const infer::ShapeMap>(std::move(shapes).value());
        auto policy = std::make_shared<policy::Policy>();
        policy->target = DType::F16;
        policy->castParams = true;
        task.policy = policy;
        task.compare.examples.inputs = m_folder.filePath("x.npz").toStdString();
        task.latency.backend = "fake-runtime";
        task.latency.threads = task.compare.threads = 1;
        return task;
    }

    static Result<tune::Front> searched(const tune::TuneTask &task)
    {
        tune::ModelOracle oracle(task);
        tune::SearchSettings settings;
        settings.points = 2;
        return tune::search(oracle, settings);
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(RefusalsTest)
#include "tst_refusals.moc"

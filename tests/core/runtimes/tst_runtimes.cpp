#include "core/backends/backend_entry.h"
#include "core/backends/backends.h"
#include "core/infer/infer_types.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/runtimes/handed_model.h"
#include "core/runtimes/runtimes.h"
#include "tests/support/onnx_builder.h"

#include <QFile>
#include <QTest>

#include <chrono>
#include <thread>

using namespace halftone;
using tensor::DType;

namespace {

/// Half floats, as bits.
const std::vector<std::uint16_t> kFed{0x3C00, 0xC000, 0x3800, 0x0001, 0x7BFF, 0x8000};

/// x, first, second, third (whose value is "third_value"), last: all in float16. `name`: of the second node, which the toy runtime may know.
infer::TypedModel chain(const char *name)
{
    test::OnnxBuilder g(17);
    const graph::Entry x = g.input("x", "float16", "[2,3]");
    const graph::Entry first = g.op("Relu", "first", {}, {x});
    const graph::Entry second = g.op("Neg", name, {}, {first});
    const graph::Entry third = g.op("Sigmoid", "third_value", {}, {second});
    const graph::Entry last = g.op("Abs", "last", {}, {third});
    infer::TypedModel typed{{g.withHeads({last}), {}, true}, {}, {}, {}, {}};
    const auto shapes = infer::inferShapes(typed.model.graph, {});
    const auto types = infer::inferTypes(typed.model.graph, std::vector{DType::F16});
    if (!shapes.ok() || !types.ok())
        qFatal("types or shapes of the chain");
    typed.shapes = shapes.value();
    typed.types = types.value();
    return typed;
}

Result<std::unique_ptr<kernels::LatencyPlan>> planOf(const infer::TypedModel &model)
{
    HALFTONE_TRY(const auto backend, backends::planningBackend("ort", 1));
    return backend->plan(model, {});
}

void feed(kernels::LatencyPlan &plan)
{
    std::ranges::copy(std::as_bytes(std::span(kFed)), plan.input(0).begin());
}

using Names = std::vector<std::string>;

} // namespace

/// A plan in a runtime: the toy of tests/app/toy/toy_runtime.cpp, whose rows are known.
class RuntimesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void theTableHasIt();
    void noChainFallsBack();
    void aPrecisionIsRefused();
    void outputsAreTheRuntimes();
    void rowsNameNodesAndTypes();
    void stepsAreTimedWithoutTheFirstRun();
    void aRefusalNamesTheNode();
    void aCrashTellsTheLastWords();
    void aHangIsEnded();
    void aStopIsObeyed();
    void layersGiveValues();
    void operatorsOfLibrariesAreHandedOver();
    void anOldVersionIsRefused();
};

void RuntimesTest::initTestCase()
{
    qputenv("HALFTONE_ORT", HALFTONE_TOY_RUNTIME);
    qputenv("HALFTONE_OPENVINO", HALFTONE_TEST_DATA);
    qputenv("HALFTONE_RUNTIME", HALFTONE_RUNTIME_PROGRAM);
}

void RuntimesTest::theTableHasIt()
{
    const auto info = backends::backendInfo("ort");
    QVERIFY2(info.ok(), info.ok() ? "" : info.error().message().c_str());
    QVERIFY(info.value().wholeModels && info.value().makesPlans && info.value().available);
    QCOMPARE(info.value().file, std::string(HALFTONE_TOY_RUNTIME));
    const auto names = backends::providersOf("ort");
    QVERIFY(names.ok());
    QCOMPARE(names.value(), Names{"CPUExecutionProvider"});
    const auto absent = backends::planningBackend("openvino", 1);
    QVERIFY(!absent.ok());
    QCOMPARE(absent.error().code, Errc::Unsupported);
    QVERIFY(absent.error().found.find("pip install openvino") != std::string::npos);
}

void RuntimesTest::noChainFallsBack()
{
    const auto chain = backends::backendChain("ort", 1);
    QVERIFY(!chain.ok());
    QCOMPARE(chain.error().code, Errc::Unsupported);
}

void RuntimesTest::aPrecisionIsRefused()
{
    const auto backend = backends::planningBackend("ort", 1, DType::F16);
    QVERIFY(!backend.ok());
    QCOMPARE(backend.error().code, Errc::BadCall);
}

void RuntimesTest::outputsAreTheRuntimes()
{
    auto plan = planOf(chain("second"));
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    feed(*plan.value());
    QVERIFY(plan.value()->run().ok());
    QVERIFY(plan.value()->lastRunMs().has_value());
    const auto bytes = plan.value()->output(0);
    QVERIFY(std::ranges::equal(bytes, std::as_bytes(std::span(kFed)))); // the toy gives what it is fed
    QVERIFY(!plan.value()->arenaBytes().has_value());
    QCOMPARE(plan.value()->runtime()->name, std::string("ONNX Runtime"));
    QCOMPARE(plan.value()->runtime()->version, std::string("1.22.0"));
    QCOMPARE(plan.value()->runtime()->device, std::string("CPUExecutionProvider"));
}

void RuntimesTest::rowsNameNodesAndTypes()
{
    auto plan = planOf(chain("second"));
    QVERIFY(plan.ok());
    const auto steps = plan.value()->steps();
    QCOMPARE(steps.size(), std::size_t{5});
    using kernels::StepKind;
    QCOMPARE(steps[0].kind, StepKind::Cast); // its own, of what is fed
    QCOMPARE(steps[0].nodes, Names{"x"});
    QCOMPARE(steps[0].asked, DType::Unknown);
    QCOMPARE(steps[1].kind, StepKind::Compute);
    QCOMPARE(steps[1].nodes, Names{"first"});
    QCOMPARE(steps[1].asked, DType::F16);
    QCOMPARE(steps[1].dtype, DType::F32);
    QCOMPARE(steps[1].told, std::string("float"));
    QCOMPARE(steps[2].nodes,
             (Names{"second", "third_value", "last"})); // what it needs, and what follows the last row
    QCOMPARE(steps[3].kind, StepKind::Runtime);
    QVERIFY(steps[3].nodes.empty());
    QCOMPARE(steps[3].op, std::string("Shuffle"));
    QCOMPARE(steps[3].told, std::string("toy_work: float"));
    QCOMPARE(steps[4].kind, StepKind::Reorder);
}

void RuntimesTest::stepsAreTimedWithoutTheFirstRun()
{
    auto plan = planOf(chain("second"));
    QVERIFY(plan.ok());
    const auto times = plan.value()->timeSteps(3);
    QVERIFY2(times.ok(), times.ok() ? "" : times.error().message().c_str());
    QCOMPARE(times.value(), std::vector(3, std::vector<double>{3, 10, 20, 5, 2}));
}

void RuntimesTest::aRefusalNamesTheNode()
{
    const auto plan = planOf(chain("toy_refuses"));
    QVERIFY(!plan.ok());
    QCOMPARE(plan.error().code, Errc::Unsupported);
    QCOMPARE(plan.error().where, std::string("toy_refuses"));
    QVERIFY(plan.error().found.find("Could not find an implementation for Frobnicate(1) node with name")
            != std::string::npos);
}

void RuntimesTest::aCrashTellsTheLastWords()
{
    auto plan = planOf(chain("toy_crashes"));
    QVERIFY(plan.ok());
    const auto done = plan.value()->run();
    QVERIFY(!done.ok());
    QCOMPARE(done.error().code, Errc::Unsupported);
    QVERIFY(done.error().found.find("signal 6") != std::string::npos);
    QVERIFY(done.error().found.find("the toy falls over") != std::string::npos);
    QVERIFY(!plan.value()->run().ok()); // and stays gone
}

void RuntimesTest::aHangIsEnded()
{
    auto plan = planOf(chain("toy_hangs"));
    QVERIFY(plan.ok());
    qputenv("HALFTONE_RUNTIME_LIMIT", "1");
    const auto done = plan.value()->run();
    qunsetenv("HALFTONE_RUNTIME_LIMIT");
    QVERIFY(!done.ok());
    QCOMPARE(done.error().code, Errc::Unsupported);
    QVERIFY(done.error().expected.find("HALFTONE_RUNTIME_LIMIT") != std::string::npos);
}

void RuntimesTest::aStopIsObeyed()
{
    auto plan = planOf(chain("toy_hangs"));
    QVERIFY(plan.ok());
    std::stop_source source;
    Progress progress;
    progress.stop = source.get_token();
    std::jthread stops([&source] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        source.request_stop();
    });
    const auto done = plan.value()->run(progress);
    QVERIFY(!done.ok());
    QCOMPARE(done.error().code, Errc::Cancelled);
}

void RuntimesTest::layersGiveValues()
{
    const infer::TypedModel model = chain("second");
    const auto values = tensor::Tensor::owning(
        DType::F16, {2, 3}, {std::as_bytes(std::span(kFed)).begin(), std::as_bytes(std::span(kFed)).end()});
    std::size_t taken = 0;
    const auto done = runtimes::layerValues(
        {"ort", 1}, model, model.model.graph.heads(), {{"x", values}},
        [&](std::size_t place, const tensor::Tensor &value) -> Result<void> {
            taken += place == 0 && std::ranges::equal(value.bytes(), values.bytes()) ? 1 : 0;
            return {};
        });
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    QCOMPARE(taken, std::size_t{1});
}

/// A runtime has kernels of its own for them; functions of this program only stand for them here.
void RuntimesTest::operatorsOfLibrariesAreHandedOver()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx_calls/fast_gelu.onnx");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    infer::TypedModel typed{loaded.value().model, {}, {}, {}, {}};
    const auto shapes = infer::inferShapes(typed.model.graph, {});
    const auto types = infer::inferTypes(typed.model.graph, std::vector{DType::F32});
    QVERIFY(shapes.ok() && types.ok());
    typed.shapes = shapes.value();
    typed.types = types.value();
    const auto handed = runtimes::HandedModel::make(typed);
    QVERIFY2(handed.ok(), handed.ok() ? "" : handed.error().message().c_str());
    QFile file(QString::fromStdString(handed.value().file()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    QVERIFY(bytes.contains("FastGelu") && bytes.contains("com.microsoft"));
}

void RuntimesTest::anOldVersionIsRefused()
{
    qputenv("TOY_VERSION", "1.19.2");
    const auto plan = planOf(chain("second"));
    qunsetenv("TOY_VERSION");
    QVERIFY(!plan.ok());
    QCOMPARE(plan.error().code, Errc::Unsupported);
    QVERIFY(plan.error().found.find("1.20 or later") != std::string::npos);
}

QTEST_GUILESS_MAIN(RuntimesTest)
#include "tst_runtimes.moc"

#include "core/backends/backend_entry.h"
#include "core/backends/cuda/backend.h"
#include "core/dialect/dialect.h"
#include "core/hardware/catalogue.h"
#include "core/interpret/random_params.h"
#include "core/io/arrays/npz.h"
#include "core/machines/local_chips.h"
#include "core/report/roofline.h"
#include "core/session/derive.h"
#include "core/session/figures.h"
#include "core/tune/front_json.h"
#include "core/tune/model_oracle.h"
#include "core/tune/search.h"
#include "tests/core/backends/cuda/host_gpu.h"
#include "tests/support/build_graph.h"

#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <cmath>

using namespace halftone;
using tensor::DType;
using tensor::Shape;

namespace {

/// The host as a GPU whose events are moments of the host's clock, so that steps and runs take the time that they take.
class TimedHostGpu final : public test::HostGpu
{
public:
    Result<std::unique_ptr<backends::cuda::Timer>> makeTimer(std::size_t marks) override
    {
        return std::unique_ptr<backends::cuda::Timer>(std::make_unique<Clock>(marks));
    }

private:
    struct Clock final : backends::cuda::Timer
    {
        explicit Clock(std::size_t marks)
            : moments(marks)
        {
        }
        Result<void> mark(std::size_t k) override
        {
            moments[k] = std::chrono::steady_clock::now();
            return {};
        }
        Result<double> microseconds(std::size_t k) override
        {
            return std::chrono::duration<double, std::micro>(moments[k + 1] - moments[k]).count();
        }
        std::vector<std::chrono::steady_clock::time_point> moments;
    };
};

} // namespace

/// What stands above plans, over the CUDA backend with the host as its device: latency, steps, limits and a search.
class TestTuneGpu : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void latencyIsThatOfTheDevice();
    void aSearchIsTimedByTheDevice();

private:
    session::Snapshot snapshotIn(DType target) const;

    QTemporaryDir m_folder;
    std::shared_ptr<const io::LoadedModel> m_source;
    std::shared_ptr<const infer::ShapeMap> m_shapes;
};

/// A convolution, a ReLU and a layer, and eight examples for them.
void TestTuneGpu::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
    QVERIFY(backends::addBackend(
        {.name = "host-gpu",
         .architecture = "sm_90",
         .bandwidth = 3352,
         .device = "this machine as a GPU",
         .why = "a test's",
         .makesPlans = true,
         .make = [gpu = std::make_shared<TimedHostGpu>()](const backends::BackendUse &use) {
             return backends::cuda::cudaBackend(gpu, {}, use.fallback);
         }}));
    test::GraphBuilder g;
    const graph::Entry conv
        = g.op("Convolution", "conv", {g.variable("x"), g.variable("conv_weight"), g.variable("conv_bias")},
               {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "8"}});
    const graph::Entry relu = g.op("Activation", "relu", {conv}, {{"act_type", "relu"}});
    const graph::Entry full
        = g.op("FullyConnected", "full", {relu, g.variable("full_weight"), g.variable("full_bias")},
               {{"num_hidden", "10"}});
    const Shape shape{1, 4, 8, 8};
    auto model = interpret::withRandomParameters(g.model({full}), {{"x", shape}}, 5);
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().message().c_str());
    auto source = std::make_shared<io::LoadedModel>();
    source->model = std::move(model).value();
    source->modelPath = m_folder.filePath("three-symbol.json").toStdString();
    std::unordered_map<std::string, Shape> known{{"x", shape}};
    for (const tensor::Array &array : source->model.parameters)
        known.emplace(dialect::variableOf(source->model.graph, array.name), array.shape);
    auto shapes = infer::inferShapes(source->model.graph, known);
    QVERIFY(shapes.ok());
    m_shapes = std::make_shared<const infer::ShapeMap>(std::move(shapes).value());
    m_source = std::move(source);

    std::vector<float> values(8 * 4 * 8 * 8);
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<float>((k * 37) % 101) / 50.0F - 1.0F;
    const auto bytes = std::as_bytes(std::span(values));
    const io::NamedTensor array{
        "x", tensor::Tensor::owning(DType::F32, Shape{8, 4, 8, 8}, {bytes.begin(), bytes.end()})};
    QVERIFY(io::writeNpz(std::span(&array, 1), m_folder.filePath("x.npz").toStdString()).ok());
}

session::Snapshot TestTuneGpu::snapshotIn(DType target) const
{
    policy::Policy policy;
    policy.target = target;
    policy.castParams = true;
    const auto derived = session::derive({m_source->model, m_source->modelPath, policy, m_shapes.get()});
    if (!derived.ok())
        qFatal("%s", derived.error().message().c_str());
    session::Snapshot snapshot;
    snapshot.revision = 1;
    snapshot.source = m_source;
    snapshot.shapes = m_shapes;
    snapshot.policy = std::make_shared<const policy::Policy>(policy);
    snapshot.rules = derived.value().rules;
    snapshot.converted = derived.value().converted;
    return snapshot;
}

void TestTuneGpu::latencyIsThatOfTheDevice()
{
    session::LatencyMeter meter;
    session::LatencyOptions options;
    options.backend = "host-gpu";
    options.settings = {1, 5, false};
    const session::Snapshot snapshot = snapshotIn(DType::F16);
    const auto measured = meter.measure(snapshot, options);
    QVERIFY2(measured.ok(), measured.ok() ? "" : measured.error().message().c_str());
    const session::LatencyFigures &figures = measured.value();
    QVERIFY(figures.native);
    QVERIFY(!figures.versus.byDevice); // a person asks how long it takes, copies and all
    for (const latency::Latency *one : {&figures.fp32, &figures.mixed}) {
        QVERIFY(one->deviceMs && *one->deviceMs > 0);
        QVERIFY(*one->deviceMs <= one->medianMs * 3); // the same clock here, on a machine with other work
        QVERIFY(one->launches && one->launches->planned >= 2); // ReLU is part of the convolution's kernel
        std::set<std::string> nodes;
        double limit = 0;
        for (const latency::LayerLatency &layer : one->layers) {
            nodes.insert(layer.step.nodes.begin(), layer.step.nodes.end());
            limit += layer.limitUs.value_or(0) / 1e3;
        }
        for (const char *name : {"conv", "relu", "full"})
            QVERIFY2(nodes.contains(name), name);
        QVERIFY(limit > 0 && std::abs(one->limitMs.value_or(0) - limit) < 1e-12);
    }
    // The layer reads 512 + 5120 + 10 values and writes 10, of 4 bytes: at 3352 GB/s.
    const auto full = std::ranges::find_if(figures.fp32.layers, [](const latency::LayerLatency &layer) {
        return std::ranges::find(layer.step.nodes, "full") != layer.step.nodes.end();
    });
    QVERIFY(full != figures.fp32.layers.end());
    QVERIFY2(full->step.multiplies, full->step.kernel.c_str());
    QCOMPARE(full->step.flops, 2.0 * 512 * 10);
    const auto conv = std::ranges::find_if(figures.fp32.layers, [](const latency::LayerLatency &layer) {
        return std::ranges::find(layer.step.nodes, "conv") != layer.step.nodes.end();
    });
    QVERIFY(conv != figures.fp32.layers.end());
    QCOMPARE(conv->step.flops, 2.0 * 8 * 8 * 8 * 4 * 3 * 3); // outputs, taps
    const double least = (512 + 5120 + 10 + 10) * 4 / 3352e9 * 1e6;
    QVERIFY2(std::abs(full->limitUs.value_or(0) - least) < 0.02 * least,
             qPrintable(QString::number(full->limitUs.value_or(0)) + " of " + QString::number(least)));

    options.settings.byDevice = true;
    const auto versus = meter.versus(snapshot, options);
    QVERIFY(versus.ok() && versus.value().byDevice && versus.value().ratio > 0);
    options.backend = std::string(backends::kDefaultBackend); // which has no clock of its own
    const auto wall = meter.versus(snapshot, options);
    if (wall.ok())
        QVERIFY(!wall.value().byDevice);
}

void TestTuneGpu::aSearchIsTimedByTheDevice()
{
    tune::TuneTask task;
    task.source = m_source;
    task.shapes = m_shapes;
    auto policy = std::make_shared<policy::Policy>();
    policy->target = DType::F16;
    policy->castParams = true;
    task.policy = policy;
    task.compare.examples.inputs = m_folder.filePath("x.npz").toStdString();
    task.latency.backend = "host-gpu";
    tune::ModelOracle oracle(task);
    tune::SearchSettings settings;
    settings.points = 2;
    settings.trials = 1;
    const auto found = tune::search(oracle, settings);
    QVERIFY2(found.ok(), found.ok() ? "" : found.error().message().c_str());
    std::size_t measured = 0;
    for (const tune::Point &point : found.value().points) {
        if (!point.measured)
            continue;
        ++measured;
        QVERIFY(point.measured->byDevice);
        QVERIFY(point.measured->milliseconds > 0);
        QVERIFY(point.measured->isClean);
    }
    QVERIFY2(measured >= 2, qPrintable(QString::number(measured))); // float32, and all in float16
    const auto json = tune::frontJson(found.value(), std::vector<std::string>(found.value().points.size()),
                                      std::nullopt, "float16");
    for (const auto &point : json.at("points"))
        QCOMPARE(point.at("timed_by").get<std::string>(), std::string("device"));
}

QTEST_GUILESS_MAIN(TestTuneGpu)
#include "tst_tune_gpu.moc"

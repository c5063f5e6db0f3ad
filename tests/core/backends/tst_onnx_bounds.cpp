#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/dialect.h"
#include "core/interpret/interpreter.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

graph::Model loadedModel(const QString &name)
{
    const QString path = QStringLiteral(HALFTONE_TEST_DATA "/onnx_refused/") + name + QStringLiteral(".onnx");
    auto loaded = io::loadModel(path.toStdString());
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded.value().model);
}

Tensor floats(Shape shape, const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(DType::F32, std::move(shape), std::move(bytes));
}

/// Ones for every input that is not held.
interpret::Feed onesFor(const graph::Model &model)
{
    interpret::Feed feed;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const graph::NodeDef &node = model.graph.node(id);
        const auto isHeld = [&node](const tensor::Array &array) { return array.name == node.name; };
        if (!model.graph.isVariable(id) || std::ranges::any_of(model.parameters, isHeld))
            continue;
        const Shape shape = dialect::of(model.graph).declaredShape(model.graph, node);
        feed.emplace(node.name,
                     floats(shape, std::vector<float>(static_cast<std::size_t>(*shape.elementCount()), 1)));
    }
    return feed;
}

Result<std::vector<Tensor>> ran(const graph::Model &model, const interpret::RunLimits &limits = {})
{
    HALFTONE_TRY(auto interpreter,
                 interpret::Interpreter::create(model, {backends::reference::referenceBackend({1, false})}));
    interpret::RunOptions options;
    options.limits = limits;
    return interpreter.run(onesFor(model), options);
}

/// What is wrong with `got` as the answer to a Cast that both backends give, or nothing.
QString castDifference(DType from, DType to, bool saturates, const kernels::BackendChain &one,
                       const kernels::BackendChain &other)
{
    const std::vector<double> given{0,      -0.0,    1,        -1,        0.3,         2.5, 3.5,  127,
                                    128,    255,     256,      448,       464,         500, -500, 65504,
                                    65520,  -70000,  1e30,     -1e30,     2e9,         5e9, -5e9, 1e-10,
                                    0x1p-9, 0x1p-10, HUGE_VAL, -HUGE_VAL, std::nan("")};
    std::vector<std::byte> bytes(given.size() * tensor::sizeOf(from));
    tensor::narrow(given.data(), given.size(), from, bytes.data());
    const Tensor data
        = Tensor::owning(from, Shape{static_cast<std::int64_t>(given.size())}, std::move(bytes));
    kernels::Operation operation{
        ops::Cast{to, false, saturates}, "Cast", {{from, data.shape()}}, {{to, data.shape()}}, {}, 1, 0};
    std::vector<std::vector<std::byte>> results;
    for (const kernels::BackendChain *chain : {&one, &other}) {
        std::vector<std::byte> result(given.size() * tensor::sizeOf(to));
        for (const auto &backend : *chain) {
            auto kernel = backend->prepare(operation);
            if (!kernel.ok())
                continue;
            const std::byte *const input[] = {data.bytes().data()};
            std::byte *const output[] = {result.data()};
            if (const auto done = kernel.value()->run(input, output); !done.ok())
                return QString::fromStdString(done.error().message());
            break;
        }
        results.push_back(std::move(result));
    }
    std::vector<double> left(given.size());
    std::vector<double> right(given.size());
    tensor::widen(to, results[0].data(), left.size(), left.data());
    tensor::widen(to, results[1].data(), right.size(), right.data());
    for (std::size_t k = 0; k < given.size(); ++k)
        if (!(left[k] == right[k] || (std::isnan(left[k]) && std::isnan(right[k]))))
            return QStringLiteral("%1 becomes %2 and %3").arg(given[k]).arg(left[k]).arg(right[k]);
    return {};
}

} // namespace

/// What ONNX files can ask for and nothing computes: attributes and values that an operator does not have, and work without end. All of it is
/// refused by name before it begins.
class TestOnnxBounds : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsNotComputedIsRefusedByName_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("softmax_axi") << QStringList{"n: axi", "Softmax", "axis"};
        QTest::newRow("average_pool_dilations") << QStringList{"n: dilations", "AveragePool"};
        QTest::newRow("resize_antialias") << QStringList{"n: antialias", "Resize"};
        QTest::newRow("depth_to_space_crd") << QStringList{"n: mode", "crd", "DCR, CRD"};
        QTest::newRow("lstm_layout") << QStringList{"n: layout", "7", "0 or 1"};
        QTest::newRow("reduce_keepdims") << QStringList{"n: keepdims", "2", "0 or 1"};
        QTest::newRow("attention_window_23") << QStringList{"n: left_window_size", "Attention"};
        QTest::newRow("attention_one_past") << QStringList{"n: past_value", "both"};
        QTest::newRow("roi_align_samples") << QStringList{"n: ", "1099511627776 samples", "1e12"};
        QTest::newRow("einsum_endless") << QStringList{"n: ", "floating-point operations"};
        QTest::newRow("loop_scan") << QStringList{"1099511627776 iterations"};
        QTest::newRow("loop_largest") << QStringList{"9223372036854775807 iterations", "hours"};
    }

    void whatIsNotComputedIsRefusedByName()
    {
        QFETCH(QStringList, words);
        QElapsedTimer timer;
        timer.start();
        const auto outputs = ran(loadedModel(QString::fromLatin1(QTest::currentDataTag())));
        QVERIFY(!outputs.ok());
        const QString message = QString::fromStdString(outputs.error().message());
        for (const QString &word : words)
            QVERIFY2(message.contains(word), qPrintable(message + " lacks " + word));
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
    }

    /// Exporters give the largest trip count there is where a condition ends a loop.
    void aLoopThatItsConditionEndsRuns()
    {
        const auto outputs = ran(loadedModel(QStringLiteral("loop_while")));
        QVERIFY2(outputs.ok(), outputs.ok() ? "" : outputs.error().message().c_str());
        QVERIFY(outputs.value()[1].shape() == (Shape{5, 2, 3}));
    }

    void loopsAreNotRunForShapesAlone_data()
    {
        QTest::addColumn<QString>("why");
        QTest::newRow("loop_scan") << "iterations";
        QTest::newRow("loop_doubling") << "bytes in a body";
    }

    void loopsAreNotRunForShapesAlone()
    {
        QFETCH(QString, why);
        const graph::Model model = loadedModel(QString::fromLatin1(QTest::currentDataTag()));
        const auto outputs = ran(model, {1000, std::size_t{1} << 20});
        QVERIFY(!outputs.ok());
        QCOMPARE(outputs.error().code, Errc::Unsupported);
        QVERIFY2(QString::fromStdString(outputs.error().message()).contains(why),
                 outputs.error().message().c_str());
    }

    /// The average of a plane of ones over a region is the share of its points that lie on the plane.
    void regionsMayBeAsLargeAsTheyLike()
    {
        const std::vector<float> regions{-5e8F, -5e8F, 5e8F, 5e8F, 0, 0, 1e9F, 1e9F};
        for (const bool maximum : {false, true}) {
            ops::RoiAlign op;
            op.maximum = maximum;
            op.height = op.width = 7;
            op.halfPixel = true;
            const kernels::Operation operation{
                op,
                "RoiAlign",
                {{DType::F32, Shape{1, 1, 5, 5}}, {DType::F32, Shape{2, 4}}, {DType::I64, Shape{2}}},
                {{DType::F32, Shape{2, 1, 7, 7}}},
                {},
                1,
                0};
            auto kernel = backends::reference::referenceBackend({1, false})->prepare(operation);
            QVERIFY2(kernel.ok(), kernel.ok() ? "" : kernel.error().message().c_str());
            const std::vector<float> plane(25, 1);
            const std::vector<std::int64_t> batches(2, 0);
            std::vector<float> result(98, -1);
            const std::byte *const inputs[] = {reinterpret_cast<const std::byte *>(plane.data()),
                                               reinterpret_cast<const std::byte *>(regions.data()),
                                               reinterpret_cast<const std::byte *>(batches.data())};
            std::byte *const outputs[] = {reinterpret_cast<std::byte *>(result.data())};
            const auto done = kernel.value()->run(inputs, outputs);
            QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
            // About 7 of 142,857,143 points on each side, in the one bin that holds the plane.
            for (std::size_t k = 0; k < result.size(); ++k) {
                const bool holdsPlane = k == 24 || k == 49;
                if (maximum)
                    QVERIFY(holdsPlane ? result[k] > 0.2F && result[k] <= 1 : result[k] == 0);
                else
                    QVERIFY(holdsPlane ? result[k] > 1e-15F && result[k] < 1e-14F : result[k] == 0);
            }
        }
    }

    void backendsCastAlike_data()
    {
        QTest::addColumn<int>("from");
        QTest::addColumn<int>("to");
        constexpr std::array kTypes{DType::F32,    DType::F64, DType::F16, DType::BF16, DType::F8E4M3FN,
                                    DType::F8E5M2, DType::I8,  DType::U8,  DType::I16,  DType::U16,
                                    DType::I32,    DType::U32, DType::I64, DType::U64,  DType::Bool};
        for (const DType from : kTypes)
            for (const DType to : kTypes)
                QTest::addRow("%s to %s", std::string(tensor::nameOf(from)).c_str(),
                              std::string(tensor::nameOf(to)).c_str())
                    << static_cast<int>(from) << static_cast<int>(to);
    }

    void backendsCastAlike()
    {
        QFETCH(int, from);
        QFETCH(int, to);
        const auto cpu = backends::backendChain("cpu", 1);
        QVERIFY(cpu.ok());
        const kernels::BackendChain reference{backends::reference::referenceBackend({1, false})};
        for (const bool saturates : {false, true}) {
            const QString wrong = castDifference(static_cast<DType>(from), static_cast<DType>(to), saturates,
                                                 reference, cpu.value());
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }
};

QTEST_GUILESS_MAIN(TestOnnxBounds)
#include "tst_onnx_bounds.moc"

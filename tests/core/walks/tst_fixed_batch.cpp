#include "core/dialect/onnx/onnx_dialect.h"
#include "core/io/arrays/npz.h"
#include "core/kernels/join.h"
#include "core/walks/calibrate.h"
#include "core/walks/compare.h"
#include "core/walks/examples.h"
#include "core/walks/fixed_batch.h"
#include "core/walks/independent_examples.h"
#include "core/walks/run.h"
#include "core/walks/walk_examples.h"
#include "tests/support/build_graph.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>

using namespace halftone;
using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::size_t kAllExamples = 23;
constexpr std::size_t kColumns = 3;

Tensor rowsTensor(tensor::Shape shape, const std::vector<float> &values)
{
    return Tensor::owning(DType::F32, std::move(shape),
                          {reinterpret_cast<const std::byte *>(values.data()),
                           reinterpret_cast<const std::byte *>(values.data() + values.size())});
}

/// Takes four examples by a shape that is written inside, and gives 2·data.
graph::Model ofFourInside(const graph::Attributes &input = {})
{
    test::GraphBuilder g;
    const graph::Entry row = g.op("Reshape", "row", {g.variable("data", input)}, {{"shape", "(4, 3)"}});
    return g.model({g.op("_mul_scalar", "twice", {row}, {{"scalar", "2"}})});
}

/// Is declared to take four: of any multiple of four it would make something else.
graph::Model ofFourDeclared()
{
    const dialect::Dialect &dialect = dialect::onnx::onnxDialect(13);
    graph::Graph graph(dialect);
    const auto add = [&graph](const char *op, const char *name, std::vector<graph::Entry> inputs) {
        graph::NodeDef def{op, name, {}, {}};
        def.slots = {0, 1};
        def.outputs.emplace_back(name);
        return graph::Entry{graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
    };
    const std::array<std::int64_t, 2> dims{4, -1};
    const auto bytes = std::as_bytes(std::span(dims));
    const graph::Entry data{
        graph.add(dialect.makeVariable("data", {{"type", "float32"}, {"shape", "[4,3]"}}), {})};
    const graph::Entry shape{
        graph.add(dialect.makeVariable("shape", {{"type", "int64"}, {"shape", "[2]"}}), {})};
    const graph::Entry row = add("Reshape", "row", {data, shape});
    graph.setHeads({add("Add", "twice", {row, row})});
    tensor::Array array;
    array.name = "shape";
    array.shape = tensor::Shape{2};
    array.values = Tensor::owning(DType::I64, tensor::Shape{2}, {bytes.begin(), bytes.end()});
    return {std::move(graph), {array}, true};
}

/// What a symbol says of the batch that it was trained with binds nobody.
graph::Model trainedWithFour()
{
    test::GraphBuilder g;
    const graph::Entry data = g.variable("data", {{"__shape__", "(4, 3)"}});
    return g.model({g.op("_mul_scalar", "twice", {data}, {{"scalar", "2"}})});
}

/// Takes five, which nothing that is written as a shape tells.
graph::Model ofFiveByAParameter()
{
    test::GraphBuilder g;
    graph::Model model
        = g.model({g.op("broadcast_add", "shifted", {g.variable("data"), g.variable("means")})});
    model.hasParameters = true;
    model.parameters.push_back(
        {"arg:means", tensor::Storage::Dense, tensor::Shape{5, 1}, rowsTensor({5, 1}, {1, 2, 3, 4, 5}), {}});
    return model;
}

} // namespace

class TstFixedBatch : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    /// Example k is k + 1, three times.
    walks::ExampleOptions data(std::size_t examples = kAllExamples)
    {
        std::vector<float> values;
        for (std::size_t k = 0; k < examples; ++k)
            values.insert(values.end(), kColumns, static_cast<float>(k + 1));
        walks::ExampleOptions options;
        options.inputs = m_folder.filePath(QString("%1.npz").arg(examples)).toStdString();
        const io::NamedTensor arrays[]
            = {{"data", rowsTensor({static_cast<std::int64_t>(examples), std::int64_t{kColumns}}, values)}};
        if (!io::writeNpz(arrays, options.inputs).ok())
            qFatal("cannot write %s", options.inputs.c_str());
        return options;
    }

    walks::CalibrateOptions calibration(std::size_t examples = kAllExamples)
    {
        walks::CalibrateOptions options;
        options.examples = data(examples);
        options.backend = "reference";
        options.threads = 2;
        return options;
    }

    Result<std::size_t> fixed(const graph::Model &model, std::size_t wanted,
                              std::size_t examples = kAllExamples)
    {
        const auto source = walks::openExamples(data(examples), model, {});
        return source.ok() ? walks::fixedBatch(model, *source.value(), "reference", wanted) : source.error();
    }

    static void addModels()
    {
        QTest::addColumn<int>("model");
        QTest::newRow("by a shape inside") << 0;
        QTest::newRow("by the input's shape") << 1;
    }
    static graph::Model modelOf(int which) { return which == 0 ? ofFourInside() : ofFourDeclared(); }

private Q_SLOTS:
    void whatTheModelTakesIsFound()
    {
        for (const graph::Model &model : {ofFourInside(), ofFourDeclared()}) {
            QCOMPARE(fixed(model, 0).value(), std::size_t{4});
            QCOMPARE(fixed(model, 4).value(), std::size_t{4});
            QCOMPARE(fixed(model, 0, 24).value(), std::size_t{4});
            QCOMPARE(fixed(model, 0, 2).value(), std::size_t{4}); // fewer are filled up
            QCOMPARE(fixed(model, 0, 4).value(), std::size_t{0}); // as they are
        }
        test::GraphBuilder any;
        const graph::Model free
            = any.model({any.op("_mul_scalar", "twice", {any.variable("data")}, {{"scalar", "2"}})});
        QCOMPARE(fixed(free, 0).value(), std::size_t{0});
        QCOMPARE(fixed(trainedWithFour(), 0).value(), std::size_t{0});
        QCOMPARE(fixed(free, 5).value(), std::size_t{0});
        QCOMPARE(fixed(ofFiveByAParameter(), 5).value(), std::size_t{5}); // told, it need not be found
    }

    void whatIsNotKnownIsAskedFor()
    {
        const auto unknown = fixed(ofFiveByAParameter(), 0);
        QVERIFY(!unknown.ok());
        QCOMPARE(unknown.error().remedy, Field::Batch);
        const auto refused = fixed(ofFourDeclared(), 5);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, Errc::BadCall);
        QCOMPARE(refused.error().field, Field::Batch);
        QVERIFY2(refused.error().expected.starts_with("4"), refused.error().message().c_str());
    }

    void runsGiveEveryExampleOnce_data() { addModels(); }
    void runsGiveEveryExampleOnce()
    {
        QFETCH(int, model);
        for (const std::size_t batch : {std::size_t{0}, std::size_t{4}}) {
            walks::RunSettings settings;
            settings.examples = data();
            settings.backend = "reference";
            settings.batch = batch;
            settings.allNodes = true;
            const auto ran = walks::runModel(modelOf(model), {}, settings, {});
            QVERIFY2(ran.ok(), ran.ok() ? "" : ran.error().message().c_str());
            QCOMPARE(ran.value().batches, std::size_t{6});
            for (const io::NamedTensor &output : ran.value().outputs) {
                if (output.tensor.dtype() != DType::F32)
                    continue; // the shape itself
                QCOMPARE(output.tensor.shape(), tensor::Shape({kAllExamples, kColumns}));
                const float factor = output.name.starts_with("row") ? 1.0F : 2.0F;
                for (std::size_t k = 0; k < kAllExamples * kColumns; ++k)
                    QCOMPARE(output.tensor.values<float>()[k], factor * static_cast<float>(k / kColumns + 1));
            }
        }
    }

    void statisticsCountEveryExampleOnce_data() { addModels(); }
    void statisticsCountEveryExampleOnce()
    {
        QFETCH(int, model);
        for (const bool asBatches : {false, true}) {
            walks::CalibrateOptions options = calibration();
            options.asBatches = asBatches;
            const auto calibrated = walks::calibrateModel(modelOf(model), {}, options, {});
            QVERIFY2(calibrated.ok(), calibrated.ok() ? "" : calibrated.error().message().c_str());
            QCOMPARE(calibrated.value().examples, kAllExamples);
            QCOMPARE(calibrated.value().tensors.size(), std::size_t{3});
            for (const calibration::CalibratedTensor &tensor : calibrated.value().tensors) {
                const double factor = tensor.node == "twice" ? 2 : 1;
                QCOMPARE(tensor.statistics.count, std::uint64_t{kAllExamples * kColumns});
                QCOMPARE(tensor.statistics.max, factor * kAllExamples);
                QCOMPARE(tensor.statistics.mean, factor * (kAllExamples + 1) / 2); // of 1, 2, …
            }
        }
    }

    void shardsGoByBatches()
    {
        const graph::Model model = ofFourInside();
        const auto source = walks::openExamples(data(), model, {});
        QVERIFY(source.ok());
        QCOMPARE(walks::maxShards(model, {}, data(), "reference", 0).value(), std::size_t{6});
        std::size_t examples = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const auto batches = walks::separateBatches(model, *source.value(), "reference", 0, {k, 4});
            QVERIFY2(batches.ok(), batches.ok() ? "" : batches.error().message().c_str());
            QCOMPARE(batches.value().begin, examples);
            QVERIFY(examples % 4 == 0);
            examples += batches.value().examples;
        }
        QCOMPARE(examples, kAllExamples);
        QVERIFY(!walks::separateBatches(model, *source.value(), "reference", 0, {0, 7}).ok());
    }

    void comparisonsCountEveryExampleOnce_data() { addModels(); }
    void comparisonsCountEveryExampleOnce()
    {
        QFETCH(int, model);
        for (const bool eachAlone : {false, true}) {
            walks::CompareOptions options;
            options.examples = data();
            options.backend = "reference";
            options.threads = 2;
            options.eachAlone = eachAlone;
            auto pair = compare::pairByName(modelOf(model), modelOf(model));
            QVERIFY(pair.ok());
            const auto compared = walks::compareModels(std::move(pair).value(), {}, options, {}, {});
            QVERIFY2(compared.ok(), compared.ok() ? "" : compared.error().message().c_str());
            QCOMPARE(compared.value().examples, kAllExamples);
            QCOMPARE(compared.value().batch, std::size_t{4});
            QCOMPARE(compared.value().comparison.outputs.size(), std::size_t{1});
            QCOMPARE(compared.value().comparison.outputs[0].figures.count,
                     std::uint64_t{kAllExamples * kColumns});
            for (const compare::LayerErrors &layer : compared.value().comparison.layers)
                QCOMPARE(layer.cumulative->count, std::uint64_t{kAllExamples * kColumns});
        }
    }

    void shapesAreThoseOfAWholeBatch()
    {
        for (const graph::Model &model : {ofFourInside(), ofFourDeclared()}) {
            for (const std::size_t examples : {kAllExamples, std::size_t{2}}) {
                const auto shapes = walks::shapesOfOne(data(examples), model, {});
                QVERIFY2(shapes.ok(), shapes.ok() ? "" : shapes.error().message().c_str());
                QCOMPARE(shapes.value().size(), std::size_t{1});
                QCOMPARE(shapes.value()[0].second, tensor::Shape({4, kColumns}));
            }
        }
    }

    void theOwnPartOfAValueIsThatOfTheFirstRows_data()
    {
        QTest::addColumn<std::vector<int>>("dims");
        QTest::addColumn<std::vector<int>>("own"); ///< axes of the part
        QTest::addColumn<std::vector<int>>("first"); ///< its first elements, of values that count from 0
        using Dims = std::vector<int>;
        QTest::newRow("rows") << Dims{3, 2} << Dims{2, 2} << Dims{0, 1, 2, 3};
        QTest::newRow("several rows an example") << Dims{6, 1} << Dims{4, 1} << Dims{0, 1, 2, 3};
        QTest::newRow("another axis") << Dims{2, 3} << Dims{2, 2} << Dims{0, 1, 3, 4};
        QTest::newRow("steps first") << Dims{2, 3, 2} << Dims{2, 2, 2} << Dims{0, 1, 2, 3, 6, 7, 8, 9};
        QTest::newRow("no axis of it") << Dims{2, 2} << Dims{2, 2} << Dims{0, 1, 2, 3};
        QTest::newRow("one number") << Dims{} << Dims{} << Dims{0};
    }
    void theOwnPartOfAValueIsThatOfTheFirstRows()
    {
        QFETCH(std::vector<int>, dims);
        QFETCH(std::vector<int>, own);
        QFETCH(std::vector<int>, first);
        const auto shapeOf = [](const std::vector<int> &of) {
            return tensor::Shape(std::vector<std::int64_t>(of.begin(), of.end()));
        };
        std::vector<float> values;
        for (std::size_t k = 0; k < static_cast<std::size_t>(*shapeOf(dims).elementCount()); ++k)
            values.push_back(static_cast<float>(k));
        const auto part = kernels::ownPart(rowsTensor(shapeOf(dims), values), {2, 3});
        QVERIFY(part.ok());
        QCOMPARE(part.value().shape(), shapeOf(own));
        QCOMPARE(part.value().values<float>(), std::vector<float>(first.begin(), first.end()));
    }
};

QTEST_GUILESS_MAIN(TstFixedBatch)
#include "tst_fixed_batch.moc"

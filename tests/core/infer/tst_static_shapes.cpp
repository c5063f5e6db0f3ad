#include "core/dialect/dialect.h"
#include "core/infer/static_shapes.h"
#include "core/io/model_io.h"

#include <QTest>

using namespace halftone;
using tensor::Shape;

/// Reshapes whose targets are computed of the data's shape (tests/data/onnx/shape_arithmetic.onnx: x is (n, 4, 6); flat is x as its
/// first extent and the rest, turned is x as (-1, 4 · 2 / 4, 6 · 2 / 4), transposed), resolved without a run.
class StaticShapesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anUnknownExtentStaysAloneUnknown()
    {
        const Found found = shapesOf(Shape{Shape::kUnknown, 4, 6});
        QVERIFY(found.flat == Shape::ofRank(2));
        QVERIFY(found.turned == (Shape{3, 2, Shape::kUnknown}));
    }

    void aKnownTargetIsResolved()
    {
        const Found found = shapesOf(Shape{2, 4, 6});
        QVERIFY(found.flat == (Shape{2, 24}));
        QVERIFY(found.turned == (Shape{3, 2, 8}));
    }

    /// As behind a node that makes the weight: it is known by its shape alone (3 x 3 with a border of 1, 8 channels).
    void aConvolutionNeedsOnlyTheShapeOfItsWeight()
    {
        const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/network.onnx");
        QVERIFY(loaded.ok());
        const graph::Model &model = loaded.value().model;
        std::unordered_map<std::string, Shape> known{{"data", Shape{2, 1, 8, 8}}};
        for (const tensor::Array &array : model.parameters)
            known.emplace(dialect::variableOf(model.graph, array.name), array.shape);
        auto plain = infer::inferShapes(model.graph, known);
        QVERIFY(plain.ok());
        const auto found = infer::staticShapes(model.graph, {}, std::move(plain).value());
        QVERIFY(found.ok());
        std::size_t convolutions = 0;
        for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
            if (model.graph.node(id).op != "Conv")
                continue;
            ++convolutions;
            QVERIFY(found.value().byNode[id].front() == (Shape{2, 8, 8, 8}));
        }
        QCOMPARE(convolutions, std::size_t{2});
        QVERIFY(found.value().of(model.graph.heads()[0]) == (Shape{2, 10}));
    }

    void aWrongTargetIsTold()
    {
        const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/shape_arithmetic.onnx");
        QVERIFY(loaded.ok());
        auto shapes = infer::unknownShapes(loaded.value().model.graph);
        for (graph::NodeId id = 0; id < loaded.value().model.graph.nodeCount(); ++id)
            if (loaded.value().model.graph.node(id).name == "x")
                shapes.byNode[id].front() = Shape{1, 5, 5}; // 25 elements are no rows of 2 · 2
        const auto found = infer::staticShapes(loaded.value().model, std::move(shapes));
        QVERIFY(!found.ok());
        QCOMPARE(found.error().where, std::string("whole"));
    }

private:
    struct Found
    {
        Shape flat;
        Shape turned;
    };

    static Found shapesOf(const Shape &x)
    {
        const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/shape_arithmetic.onnx");
        if (!loaded.ok())
            qFatal("%s", loaded.error().message().c_str());
        const graph::Model &model = loaded.value().model;
        std::unordered_map<std::string, Shape> known{{"x", x}};
        for (const tensor::Array &array : model.parameters)
            known.emplace(dialect::variableOf(model.graph, array.name), array.shape);
        auto plain = infer::inferShapes(model.graph, known);
        if (!plain.ok())
            qFatal("%s", plain.error().message().c_str());
        const auto found = infer::staticShapes(model, std::move(plain).value());
        if (!found.ok())
            qFatal("%s", found.error().message().c_str());
        return {found.value().of(model.graph.heads()[0]), found.value().of(model.graph.heads()[1])};
    }
};

QTEST_APPLESS_MAIN(StaticShapesTest)
#include "tst_static_shapes.moc"

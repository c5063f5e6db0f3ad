#include "core/dialect/dialect.h"
#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

/// Three elements of 4 bits, with something in the bits that are left over.
const std::string kFewBits = "\xf7\x28";

const std::string kKept = HALFTONE_TEST_DATA "/onnx/kept.onnx";

std::string bytesOf(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

const graph::NodeDef *nodeNamed(const graph::Graph &graph, std::string_view name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).name == name)
            return &graph.node(id);
    return nullptr;
}

std::string varint(std::size_t value)
{
    std::string bytes;
    for (; value >= 128; value >>= 7)
        bytes += static_cast<char>((value & 127) | 128);
    return bytes + static_cast<char>(value);
}

/// A field of protobuf's wire format that holds bytes.
std::string field(unsigned number, const std::string &content)
{
    return varint(number << 3 | 2) + varint(content.size()) + content;
}

std::string number(unsigned field, std::size_t value)
{
    return varint(field << 3) + varint(value);
}

std::string value(const std::string &name)
{
    return field(1, name) + field(2, field(1, number(1, 1) + field(2, field(1, number(1, 4)))));
}

std::string node(const std::string &op, const std::string &input, const std::string &output)
{
    return field(1, input) + field(2, output) + field(4, op);
}

/// x -> the nodes -> y.
std::string model(const std::string &nodes, const std::string &more = {}, std::size_t opset = 17)
{
    const std::string graph = nodes + field(2, "g") + more + field(11, value("x")) + field(12, value("y"));
    return number(1, 8) + field(7, graph) + field(8, number(2, opset));
}

// Attributes of a node.
std::string text(const std::string &name, const std::string &value)
{
    return field(5, field(1, name) + field(4, value) + number(20, 3));
}

std::string integer(const std::string &name, std::size_t value)
{
    return field(5, field(1, name) + number(3, value) + number(20, 2));
}

std::string real(const std::string &name, float value)
{
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return field(5, field(1, name) + varint(2 << 3 | 5) + bytes + number(20, 1));
}

std::string weights(const std::string &dims, const std::string &rest)
{
    return dims + number(2, 1) + field(8, "w") + rest;
}

/// Of the model: fn.F, a -> the nodes -> b.
std::string function(const std::string &nodes, std::size_t opset = 17)
{
    return field(25,
                 field(1, "F") + field(4, "a") + field(5, "b") + nodes + field(9, number(2, opset))
                     + field(10, "fn"));
}

/// Of a function's node: what the call gives under that name.
std::string given(const std::string &name, std::size_t type)
{
    return field(5, field(1, name) + number(20, type) + field(21, "given"));
}

/// As bfloat16 needs it.
graph::Graph raised(const graph::Graph &graph)
{
    auto raised = graph.dialect()->raised(graph, tensor::DType::BF16, 0);
    return raised.ok() && raised.value() ? raised.value()->graph : graph::Graph();
}

} // namespace

class TestOnnx : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string path(const char *name) const
    {
        return m_folder->filePath(QString::fromUtf8(name)).toStdString();
    }

    /// Read, raised, written and read again.
    io::LoadedModel writtenIn(int opset, const std::string &bytes) const
    {
        std::ofstream(path("old.onnx"), std::ios::binary) << bytes;
        io::LoadedModel loaded = io::loadModel(path("old.onnx")).value();
        const graph::Graph &graph = loaded.model.graph;
        loaded.model.graph = graph.dialect()->raised(graph, tensor::DType::F32, opset).value()->graph;
        const auto written = io::saveModel(loaded.model, path("new"), loaded);
        return written.ok() ? io::loadModel(path("new.onnx")).value() : io::LoadedModel();
    }

private Q_SLOTS:
    void initTestCase()
    {
        const auto loaded = io::loadModel(kKept);
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
    }
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void whatIsNotChangedIsWrittenByteForByte()
    {
        const auto loaded = io::loadModel(kKept);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const auto written = io::saveModel(loaded.value().model, path("again"), loaded.value());
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
        QCOMPARE(written.value(), std::vector{path("again.onnx")});
        QVERIFY(bytesOf(path("again.onnx")) == bytesOf(kKept));
    }

    void theGraphIsNodesWithTheirNamesAndWiring()
    {
        const auto loaded = io::loadModel(kKept);
        QVERIFY(loaded.ok());
        const graph::Graph &graph = loaded.value().model.graph;
        QCOMPARE(graph.dialect()->version(), std::string_view("ONNX opset 17"));
        const graph::NodeDef *const odd = nodeNamed(graph, "odd");
        QVERIFY(odd != nullptr);
        QCOMPARE(odd->op, std::string("com.example.Odd"));
        QCOMPARE(odd->outputs, (std::vector<std::string>{"o", "", "p"}));
        QCOMPARE(odd->slots, (std::vector<std::uint32_t>{0, 2}));
        QCOMPARE(*odd->attributes.find("f"), std::string("0.1"));
        QCOMPARE(*odd->attributes.find("ints"), std::string("[1,-2]"));
        QCOMPARE(*odd->attributes.find("strings"), std::string("[a\\,b,c]"));
        QCOMPARE(odd->tensorOf("t")->shape(), (tensor::Shape{1, 2}));
        QVERIFY(nodeNamed(graph, "c") != nullptr); // has no name of its own: that of its value
        QCOMPARE(dialect::of(graph).entryName(graph, graph.heads()[0]), std::string("y"));
        QCOMPARE(loaded.value().model.parameters.size(), std::size_t{14});
        QCOMPARE(loaded.value().facts->functions, std::vector<std::string>{"fn.Twice"});
        QCOMPARE(loaded.value().facts->metadata.size(), std::size_t{2});
    }

    void aBodyReadsTheGraphAroundItThroughFurtherInputsOfItsNode()
    {
        const auto loaded = io::loadModel(kKept);
        QVERIFY(loaded.ok());
        const graph::Graph &graph = loaded.value().model.graph;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.node(id).name != "choice")
                continue;
            const auto inputs = graph.inputs(id);
            QCOMPARE(inputs.size(), std::size_t{3}); // the condition, and "h" for each branch
            QCOMPARE(graph.node(inputs[1].node).name, std::string("product"));
            QCOMPARE(graph.node(inputs[2].node).name, std::string("product"));
            QCOMPARE(graph.node(id).subgraphs.size(), std::size_t{2});
        }
    }

    void aWrongFileNamesThePlace_data()
    {
        const std::string relu = field(1, node("Relu", "x", "y"));
        QTest::addColumn<std::string>("bytes");
        QTest::addColumn<QString>("said");
        QTest::newRow("cut") << model(relu).substr(0, 30) << "byte ";
        QTest::newRow("no graph") << number(1, 8) + field(8, number(2, 17)) << "graph: missing";
        QTest::newRow("newer opset") << model(relu, {}, 99) << "opset 99 of ai.onnx, expected 1 to 26";
        QTest::newRow("unknown value") << model(field(1, node("Relu", "z", "y"))) << "the input \"z\"";
        QTest::newRow("not sorted") << model(field(1, node("Relu", "h", "y"))
                                             + field(1, node("Relu", "x", "h")))
                                    << "node 0: the input \"h\"";
        QTest::newRow("twice") << model(relu + relu) << "two values are named \"y\"";
        QTest::newRow("domain") << model(field(1, node("Odd", "x", "y") + field(7, "nowhere")))
                                << "the domain \"nowhere\"";
        QTest::newRow("negative") << model(relu, field(5, weights(number(1, ~std::size_t{0}), {})))
                                  << "initializer w: dimension -1";
        QTest::newRow("short values") << model(relu, field(5, weights(number(1, 2), field(9, "1234"))))
                                      << "4 bytes of values, expected 8";
        QTest::newRow("outside") << model(
            relu,
            field(5,
                  weights(number(1, 1), field(13, field(1, "location") + field(2, "../w")) + number(14, 1))))
                                 << "(unsafe_external_data), expected a file inside the model's folder";
        const std::string call = field(1, node("F", "x", "y") + field(7, "fn"));
        const std::string branch = field(
            5,
            field(1, "then_branch") + field(6, call + field(2, "b") + field(12, value("y"))) + number(20, 5));
        QTest::newRow("function in its own body") << model(call) + field(8, field(1, "fn") + number(2, 1))
                + function(field(7, node("If", "a", "b") + branch))
                                                  << "functions: a function calls itself";
        QTest::newRow("function with too many inputs")
            << model(field(1, field(1, "x") + field(1, "x") + field(2, "y") + field(4, "F") + field(7, "fn")))
                + field(8, field(1, "fn") + number(2, 1)) + function(field(7, node("Relu", "a", "b")))
            << "call of the function F: 2 inputs, expected at most 1";
        QTest::newRow("function that lacks a value") << model(call) + field(8, field(1, "fn") + number(2, 1))
                + function(field(7, node("Relu", "c", "b")))
                                                     << "node 0, in the function F: node 0: the input \"c\"";
    }

    void aWrongFileNamesThePlace()
    {
        QFETCH(std::string, bytes);
        QFETCH(QString, said);
        std::ofstream(path("bad.onnx"), std::ios::binary) << bytes;
        const auto loaded = io::loadModel(path("bad.onnx"));
        QVERIFY(!loaded.ok());
        const QString message = QString::fromStdString(loaded.error().message());
        QVERIFY2(message.startsWith(QString::fromStdString(path("bad.onnx") + ": ")), qPrintable(message));
        QVERIFY2(message.contains(said), qPrintable(message));
    }

    void anAttributeThatIsAnInputLaterBecomesOneWhenTheOpsetIsRaised()
    {
        const std::string axes = field(5, field(1, "axes") + number(8, 0) + number(20, 7));
        const std::string sum = field(1, "h") + field(1, "h") + field(2, "y") + field(4, "Add");
        std::ofstream(path("old.onnx"), std::ios::binary)
            << model(field(1, node("Unsqueeze", "x", "h") + axes) + field(1, sum), {}, 11);
        io::LoadedModel loaded = io::loadModel(path("old.onnx")).value();
        loaded.model.graph = raised(loaded.model.graph);
        QVERIFY(io::saveModel(loaded.model, path("new"), loaded).ok());
        const auto again = io::loadModel(path("new.onnx"));
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
        QCOMPARE(again.value().model.graph.dialect()->version(), std::string_view("ONNX opset 13"));
        const graph::NodeDef *const h = nodeNamed(again.value().model.graph, "h");
        QVERIFY(h != nullptr && h->attributes.find("axes") == nullptr);
        QCOMPARE(h->slots, (std::vector<std::uint32_t>{0, 1}));
        QCOMPARE(again.value().model.parameters.at(0).values.values<std::int64_t>(),
                 std::vector<std::int64_t>{0});
    }

    void aNodeThatMeansSomethingElseInTheNewOpsetIsNamed_data()
    {
        QTest::addColumn<std::string>("odd");
        QTest::addColumn<std::size_t>("opset");
        const std::string roi = field(1, "x") + field(1, "x") + field(1, "x") + field(2, "y");
        QTest::newRow("places") << roi + field(4, "Resize")
                + text("coordinate_transformation_mode", "tf_half_pixel_for_nn")
                                << std::size_t{11};
        QTest::newRow("walks through batches of sequences by their lengths")
            << field(1, "x") + node("Scan", "x", "y") + integer("num_scan_inputs", 1)
                + field(5, field(1, "body") + field(6, field(2, "b")) + number(20, 5))
            << std::size_t{8};
    }
    void aNodeThatMeansSomethingElseInTheNewOpsetIsNamed()
    {
        QFETCH(std::string, odd);
        QFETCH(std::size_t, opset);
        std::ofstream(path("old.onnx"), std::ios::binary)
            << model(field(1, odd + field(3, "odd")), {}, opset);
        const auto loaded = io::loadModel(path("old.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const graph::Graph &graph = loaded.value().model.graph;
        const auto raised = graph.dialect()->raised(graph, tensor::DType::F32, 22);
        QVERIFY(!raised.ok());
        QCOMPARE(raised.error().code, Errc::Unsupported);
        QCOMPARE(raised.error().where, std::string("odd"));
    }

    void aFunctionThatCannotBeRaisedIsNamed_data()
    {
        QTest::addColumn<std::string>("odd"); ///< the function's node
        QTest::addColumn<std::size_t>("opset");
        QTest::addColumn<bool>("isCalled");
        QTest::addColumn<QString>("found");
        const std::string roi = field(1, "a") + field(1, "a") + field(1, "a") + field(2, "b");
        const std::string places
            = roi + field(4, "Resize") + text("coordinate_transformation_mode", "tf_half_pixel_for_nn");
        QTest::newRow("another meaning")
            << places << std::size_t{11} << true
            << "Resize does not support coordinate_transformation_mode tf_half_pixel_for_nn there";
        QTest::newRow("another meaning, not called")
            << places << std::size_t{11} << false
            << "Resize does not support coordinate_transformation_mode tf_half_pixel_for_nn there";
        const std::string sum = node("ReduceSum", "a", "b") + given("axes", 7);
        QTest::newRow("an input that no call gives")
            << sum << std::size_t{11} << true << "an input that some calls omit";
        QTest::newRow("a value that is called otherwise")
            << field(1, "a") + field(1, "a") + field(2, "b") + field(4, "GridSample") + given("mode", 3)
            << std::size_t{16} << false << "which has a different meaning";
    }
    void aFunctionThatCannotBeRaisedIsNamed()
    {
        QFETCH(std::string, odd);
        QFETCH(std::size_t, opset);
        QFETCH(bool, isCalled);
        QFETCH(QString, found);
        const std::string calls = field(1, node("F", "x", "y") + field(7, "fn") + field(3, "call"));
        std::ofstream(path("old.onnx"), std::ios::binary)
            << model(isCalled ? calls : field(1, node("Relu", "x", "y")), {}, opset)
                + field(8, field(1, "fn") + number(2, 1)) + function(field(7, odd + field(3, "odd")), opset);
        auto loaded = io::loadModel(path("old.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const graph::Graph &graph = loaded.value().model.graph;
        const auto raised = graph.dialect()->raised(graph, tensor::DType::F32, 22);
        std::optional<Error> error;
        if (raised.ok()) {
            loaded.value().model.graph = raised.value()->graph;
            const auto written = io::saveModel(loaded.value().model, path("new"), loaded.value());
            QVERIFY(!written.ok());
            error = written.error();
        } else {
            error = raised.error();
        }
        QCOMPARE(error->code, Errc::Unsupported);
        const QString message = QString::fromStdString(error->message());
        QVERIFY2(message.contains("function") && message.contains("odd") && message.contains(found),
                 qPrintable(message));
    }

    // What each version says: ONNX, Changelog.md.
    void whatIsSaidOtherwiseInANewerOpsetIsRewritten_data()
    {
        QTest::addColumn<std::string>("nodes");
        QTest::addColumn<std::size_t>("opset");
        QTest::addColumn<QString>("op");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("said");
        const auto three = [](const char *op) {
            return field(1, "x") + field(1, "x") + field(1, "x") + field(2, "y") + field(4, op);
        };
        const auto two
            = [](const char *op) { return field(1, "x") + field(1, "x") + field(2, "y") + field(4, op); };
        QTest::newRow("renamed operator")
            << three("Scatter") + integer("axis", 1) << std::size_t{9} << "ScatterElements"
            << "axis"
            << "1";
        QTest::newRow("renamed default") << two("GridSample") << std::size_t{16} << "GridSample"
                                         << "mode"
                                         << "linear";
        QTest::newRow("renamed value")
            << two("GridSample") + text("mode", "bicubic") << std::size_t{16} << "GridSample"
            << "mode"
            << "cubic";
        QTest::newRow("same value") << two("GridSample") + text("mode", "nearest") << std::size_t{16}
                                    << "GridSample"
                                    << "mode"
                                    << "nearest";
        QTest::newRow("other default") << three("RoiAlign") << std::size_t{11} << "RoiAlign"
                                       << "coordinate_transformation_mode"
                                       << "output_half_pixel";
        QTest::newRow("own default") << three("RoiAlign") << std::size_t{16} << "RoiAlign"
                                     << "coordinate_transformation_mode"
                                     << "half_pixel";
        QTest::newRow("other places") << three("Resize") + text("nearest_mode", "floor")
                + text("coordinate_transformation_mode", "tf_half_pixel_for_nn")
                                      << std::size_t{11} << "Resize"
                                      << "nearest_mode"
                                      << "round_prefer_ceil";
    }
    void whatIsSaidOtherwiseInANewerOpsetIsRewritten()
    {
        QFETCH(std::string, nodes);
        QFETCH(std::size_t, opset);
        QFETCH(QString, op);
        QFETCH(QString, key);
        QFETCH(QString, said);
        const io::LoadedModel again = writtenIn(22, model(field(1, nodes), {}, opset));
        const graph::NodeDef *const y = nodeNamed(again.model.graph, "y");
        QVERIFY(y != nullptr);
        QCOMPARE(QString::fromStdString(y->op), op);
        const dialect::OpInfo *const info = again.model.graph.dialect()->findOp(y->op);
        QCOMPARE(info->valueOf(y->attributes, key.toStdString()), said.toStdString());
    }

    void anAttributeThatIsAnInputLaterIsOneOfItsType_data()
    {
        QTest::addColumn<std::string>("nodes");
        QTest::addColumn<std::size_t>("opset");
        QTest::addColumn<QString>("input");
        QTest::addColumn<std::uint32_t>("slot");
        QTest::addColumn<QString>("type");
        QTest::addColumn<double>("number");
        QTest::addColumn<std::size_t>("rank");
        QTest::newRow("Clip") << field(1, node("Clip", "x", "y") + real("max", 6)) << std::size_t{10}
                              << "y_max" << 2U << "float32" << 6.0 << std::size_t{0};
        QTest::newRow("Clip of float16")
            << field(1, node("Cast", "x", "h") + integer("to", 10))
                + field(1, node("Clip", "h", "y") + real("min", -1.5F))
            << std::size_t{10} << "y_min" << 1U << "float16" << -1.5 << std::size_t{0};
        QTest::newRow("Pad") << field(
            1,
            node("Pad", "x", "y") + real("value", 1)
                + field(5, field(1, "pads") + number(8, 0) + number(8, 0) + number(20, 7)))
                             << std::size_t{10} << "y_constant_value" << 2U << "float32" << 1.0
                             << std::size_t{0};
        QTest::newRow("TopK") << field(1, node("TopK", "x", "y") + field(2, "i") + integer("k", 3))
                              << std::size_t{9} << "y_K" << 1U << "int64" << 3.0 << std::size_t{1};
        QTest::newRow("DFT") << field(1, node("DFT", "x", "y")) << std::size_t{17} << "y_axis" << 2U
                             << "int64" << 1.0 << std::size_t{0};
    }
    void anAttributeThatIsAnInputLaterIsOneOfItsType()
    {
        QFETCH(std::string, nodes);
        QFETCH(std::size_t, opset);
        QFETCH(QString, input);
        QFETCH(std::uint32_t, slot);
        QFETCH(QString, type);
        QFETCH(double, number);
        QFETCH(std::size_t, rank);
        const io::LoadedModel again = writtenIn(22, model(nodes, {}, opset));
        const auto held
            = std::ranges::find(again.model.parameters, input.toStdString(), &tensor::Array::name);
        QVERIFY(held != again.model.parameters.end());
        const tensor::Tensor &values = held->values;
        QCOMPARE(QString::fromUtf8(tensor::nameOf(values.dtype()).data()), type);
        QCOMPARE(values.shape().rank(), rank);
        double found = 0;
        tensor::widen(values.dtype(), values.bytes().data(), 1, &found);
        QCOMPARE(found, number);
        const graph::NodeDef *const y = nodeNamed(again.model.graph, "y");
        QVERIFY(y != nullptr && std::ranges::find(y->slots, slot) != y->slots.end());
    }

    void aSoftmaxOverManyAxesIsWrittenAroundOneInANewerOpset()
    {
        std::ofstream(path("old.onnx"), std::ios::binary)
            << model(field(1, node("Softmax", "x", "y") + field(3, "odd")), {}, 11);
        io::LoadedModel loaded = io::loadModel(path("old.onnx")).value();
        loaded.model.graph = raised(loaded.model.graph);
        const auto op = loaded.model.graph.dialect()->read(*nodeNamed(loaded.model.graph, "odd")).value();
        QVERIFY(op.as<ops::Softmax>().flattened);
        QCOMPARE(op.as<ops::Softmax>().axis, std::int64_t{1});
        QVERIFY(io::saveModel(loaded.model, path("new"), loaded).ok());
        const io::LoadedModel again = io::loadModel(path("new.onnx")).value();
        std::vector<std::string> ops;
        for (graph::NodeId id = 0; id < again.model.graph.nodeCount(); ++id)
            if (!again.model.graph.isVariable(id))
                ops.push_back(again.model.graph.node(id).op);
        QCOMPARE(ops, (std::vector<std::string>{"Flatten", "Softmax", "Shape", "Reshape"}));
        const graph::NodeDef *const softmax = nodeNamed(again.model.graph, "odd");
        QCOMPARE(*softmax->attributes.find("axis"), std::string("-1"));
        QVERIFY(softmax->attributes.find("flattened") == nullptr);
        QCOMPARE(again.model.graph.node(again.model.graph.heads()[0].node).outputs,
                 std::vector<std::string>{"y"});
    }

    void anUpsampleBecomesAResizeInANewerOpset()
    {
        const std::string up
            = field(1, "x") + field(1, "w") + field(2, "y") + field(3, "up") + field(4, "Upsample");
        std::ofstream(path("old.onnx"), std::ios::binary)
            << model(field(1, up), field(5, weights(number(1, 1), field(9, std::string(4, '\0')))), 9);
        io::LoadedModel loaded = io::loadModel(path("old.onnx")).value();
        loaded.model.graph = raised(loaded.model.graph);
        QVERIFY(io::saveModel(loaded.model, path("new"), loaded).ok());
        const io::LoadedModel again = io::loadModel(path("new.onnx")).value();
        const graph::NodeDef *const resize = nodeNamed(again.model.graph, "up");
        QCOMPARE(resize->op, std::string("Resize"));
        QCOMPARE(resize->slots, (std::vector<std::uint32_t>{0, 2}));
        QCOMPARE(*resize->attributes.find("coordinate_transformation_mode"), std::string("asymmetric"));
        QCOMPARE(*resize->attributes.find("nearest_mode"), std::string("floor"));
    }

    void valuesInAnotherFileAreMappedAndReadFromInsideTheFolderOnly()
    {
        const std::string place = field(13, field(1, "location") + field(2, "w.bin"))
            + field(13, field(1, "offset") + field(2, "4")) + number(14, 1);
        std::ofstream(path("out.onnx"), std::ios::binary)
            << model(field(1, node("Relu", "x", "y")), field(5, weights(number(1, 2), place)));
        std::ofstream(path("w.bin"), std::ios::binary) << "skip12345678";
        const auto loaded = io::loadModel(path("out.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const auto bytes = loaded.value().model.parameters.at(0).values.bytes();
        QCOMPARE(std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()),
                 std::string("12345678"));
        QCOMPARE(loaded.value().facts->externalFiles, std::vector<std::string>{"w.bin"});

        fs::remove(path("w.bin"));
        fs::create_symlink("/etc/passwd", path("w.bin"));
        QVERIFY(!io::loadModel(path("out.onnx")).ok());
    }

    // onnx.proto: "checksum (optional) - SHA1 digest of file specified in under 'location' key".
    void aChecksumOfAnotherFileIsTold()
    {
        const auto withSum = [](const std::string &sum) {
            const std::string place = field(13, field(1, "location") + field(2, "w.bin"))
                + field(13, field(1, "checksum") + field(2, sum)) + number(14, 1);
            return model(field(1, node("Relu", "x", "y")), field(5, weights(number(1, 2), place)));
        };
        std::ofstream(path("w.bin"), std::ios::binary) << "abcdefgh";
        const auto load = [&](const std::string &said) {
            std::ofstream(path("sum.onnx"), std::ios::binary) << withSum(said);
            return io::loadModel(path("sum.onnx"));
        };
        const std::string right = "425af12a0743502b322e93a015bcf868e324d56a"; // printf abcdefgh | sha1sum
        QVERIFY(load(right).ok());
        QVERIFY(load("425AF12A0743502B322E93A015BCF868E324D56A").ok());
        for (const std::string &said : {std::string(40, '0'), std::string("xyz"), right.substr(1)}) {
            const auto loaded = load(said);
            QVERIFY2(!loaded.ok(), said.c_str());
            const std::string message = loaded.error().message();
            QVERIFY2(message.find("external data at \"w.bin\" with the SHA-1 " + right
                                  + ", expected the checksum in the model, " + said)
                         != std::string::npos,
                     message.c_str());
        }
    }

    // Operators.md: each version's constraints on x and y_scale.
    void scalesHaveTheTypeThatTheOpsetAsksFor_data()
    {
        QTest::addColumn<int>("opset");
        QTest::addColumn<bool>("halfByWide"); // x in float16, scale in float32
        QTest::addColumn<bool>("halfByHalf");
        QTest::newRow("10") << 10 << false << false;
        QTest::newRow("13") << 13 << false << false;
        QTest::newRow("19") << 19 << false << true;
        QTest::newRow("21") << 21 << false << true;
        QTest::newRow("23") << 23 << true << true;
    }
    void scalesHaveTheTypeThatTheOpsetAsksFor()
    {
        using tensor::DType;
        QFETCH(int, opset);
        QFETCH(bool, halfByWide);
        QFETCH(bool, halfByHalf);
        const dialect::Dialect &dialect = dialect::onnx::onnxDialect(opset);
        const auto isTaken = [&dialect](const char *op, DType x, DType scale, DType zero, DType y) {
            std::array inputs{x, scale, zero};
            std::array outputs{DType::Unknown};
            return dialect.findOp(op)->typeRule({}).apply(inputs, outputs) == ops::TypeOutcome::Complete
                && outputs[0] == y;
        };
        QVERIFY(isTaken("QuantizeLinear", DType::F32, DType::F32, DType::I8, DType::I8));
        QVERIFY(isTaken("DequantizeLinear", DType::I8, DType::F32, DType::I8, DType::F32));
        QCOMPARE(isTaken("QuantizeLinear", DType::F16, DType::F32, DType::I8, DType::I8), halfByWide);
        QCOMPARE(isTaken("QuantizeLinear", DType::F16, DType::F16, DType::U8, DType::U8), halfByHalf);
        QCOMPARE(isTaken("DequantizeLinear", DType::I8, DType::F16, DType::I8, DType::F16), halfByHalf);
    }

    void codesBecomeTheTypeThatTheAttributeAsksFor()
    {
        using tensor::DType;
        const auto given = [](int opset, const char *op, DType x, DType y) {
            std::array inputs{x, DType::F32};
            std::array outputs{DType::Unknown};
            const auto code = std::to_string(dialect::onnx::codeOf(y));
            return dialect::onnx::onnxDialect(opset)
                       .findOp(op)
                       ->typeRule({{"output_dtype", code}})
                       .apply(inputs, outputs)
                == ops::TypeOutcome::Complete
                && outputs[0] == y;
        };
        for (const DType codes : {DType::I8, DType::I4, DType::U4, DType::F4E2M1, DType::F8E5M2}) {
            QVERIFY(given(23, "DequantizeLinear", codes, DType::F16));
            QVERIFY(given(23, "QuantizeLinear", DType::F32, codes));
        }
        QVERIFY(given(21, "QuantizeLinear", DType::F32, DType::I4));
    }

    void aConstantThatIsNotComputedWithTellsItsType_data()
    {
        QTest::addColumn<std::string>("held");
        QTest::addColumn<QString>("found");
        const auto of = [](std::size_t type, const std::string &values) {
            return number(1, 2) + number(2, type) + field(8, "w") + values;
        };
        QTest::newRow("codes") << field(5, of(20, field(9, "ab"))) << "float8e5m2fnuz";
        QTest::newRow("texts") << field(5, of(8, field(6, "a") + field(6, "b"))) << "string";
        QTest::newRow("complex") << field(5, of(14, field(9, std::string(16, '\0')))) << "complex64";
        const std::string places
            = number(1, 2) + number(2, 7) + field(9, std::string(8, '\0') + '\1' + std::string(7, '\0'));
        QTest::newRow("sparse") << field(
            15, field(1, of(1, field(9, std::string(8, '\0')))) + field(2, places) + number(3, 4))
                                << "";
    }
    void aConstantThatIsNotComputedWithTellsItsType()
    {
        QFETCH(std::string, held);
        QFETCH(QString, found);
        std::ofstream(path("held.onnx"), std::ios::binary)
            << model(field(1, node("Identity", "w", "y")), held, 21);
        const auto loaded = io::loadModel(path("held.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const graph::Graph &graph = loaded.value().model.graph;
        const graph::NodeDef *const w = nodeNamed(graph, "w");
        QVERIFY(w != nullptr);
        QCOMPARE(QString::fromStdString(graph.dialect()->foreignType(*w)), found);
        const tensor::Array &array = loaded.value().model.parameters.at(0);
        QCOMPARE(array.shape.hasRank(), found.isEmpty()); // sparse values are spread out
    }

    /// TensorProto, raw_data and int32_data: the first element lies in the lowest bits of the first byte.
    void elementsOfFewBitsAreReadAndStayAsTheyLie_data()
    {
        QTest::addColumn<std::size_t>("type");
        QTest::addColumn<std::string>("values");
        QTest::addColumn<QByteArray>("elements"); // one a byte
        const auto row = [](const char *name, std::size_t type, const QByteArray &elements) {
            const std::string w = field(8, "w");
            QTest::addRow("%s raw", name) << type << w + field(9, kFewBits) << elements;
            QTest::addRow("%s typed", name) << type << field(5, "\xf7\x01\x28") + w << elements;
            QTest::addRow("%s apart", name)
                << type << w + field(13, field(1, "location") + field(2, "w.bin")) + number(14, 1)
                << elements;
        };
        row("int4", 22, "\x07\xff\xf8");
        row("uint4", 21, "\x07\x0f\x08");
        row("float4", 23, "\x07\x0f\x08");
    }
    void elementsOfFewBitsAreReadAndStayAsTheyLie()
    {
        QFETCH(std::size_t, type);
        QFETCH(std::string, values);
        QFETCH(QByteArray, elements);
        const std::string file = model(field(1, node("Identity", "w", "y")),
                                       field(5, number(1, 3) + number(2, type) + values), 23);
        std::ofstream(path("w.bin"), std::ios::binary) << kFewBits;
        std::ofstream(path("few.onnx"), std::ios::binary) << file;
        const auto loaded = io::loadModel(path("few.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const tensor::Tensor &read = loaded.value().model.parameters.at(0).values;
        QVERIFY(std::ranges::equal(read.bytes(), std::as_bytes(std::span(elements.data(), 3))));
        QCOMPARE(graph::parameterBytes(loaded.value().model), std::size_t{2});
        QVERIFY(io::saveModel(loaded.value().model, path("again.onnx"), loaded.value()).ok());
        if (values.find("w.bin") == std::string::npos)
            QVERIFY(bytesOf(path("again.onnx")) == file);
        else
            QVERIFY(bytesOf(path("again.onnx")).find(field(9, kFewBits)) != std::string::npos);
    }

    void valuesOfTypesThatAreOnlyPassedOnAreWritten_data()
    {
        QTest::addColumn<bool>("isApart");
        QTest::newRow("in the file") << false;
        QTest::newRow("in another") << true;
    }
    void valuesOfTypesThatAreOnlyPassedOnAreWritten()
    {
        QFETCH(bool, isApart);
        constexpr std::size_t kFloat8 = 17; // E4M3FN
        std::string values(5000, '\0');
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = static_cast<char>(k % 251);
        const std::string place = isApart
            ? field(13, field(1, "location") + field(2, "w.bin")) + number(14, 1)
            : field(9, values);
        fs::create_directory(path("in"));
        std::ofstream(path("in/w.bin"), std::ios::binary) << values;
        std::ofstream(path("in/m.onnx"), std::ios::binary)
            << model(field(1, node("Relu", "x", "y")),
                     field(5, number(1, values.size()) + number(2, kFloat8) + field(8, "w") + place));
        const auto loaded = io::loadModel(path("in/m.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        QVERIFY(io::saveModel(loaded.value().model, path("again.onnx"), loaded.value()).ok());
        QVERIFY(bytesOf(path("again.onnx")).find(field(9, values)) != std::string::npos);
    }

    void largeValuesStandWhereTheyStood()
    {
        // Large ones first, last and side by side, with fields before and behind the values, and what no schema knows.
        const auto large = [](const char *name, std::size_t size) {
            return field(5,
                         number(1, size) + number(2, 1) + field(8, name)
                             + field(9, std::string(4 * size, *name)) + field(12, "what it is")
                             + field(99, "?"));
        };
        const std::string small = field(5, number(1, 1) + number(2, 1) + field(8, "s") + field(9, "1234"));
        const std::string file = model(field(1, node("Relu", "x", "y")),
                                       large("a", 1024) + small + large("b", 40000) + large("c", 5000000));
        std::ofstream(path("m.onnx"), std::ios::binary) << file;
        const auto loaded = io::loadModel(path("m.onnx"));
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        QVERIFY(io::saveModel(loaded.value().model, path("again.onnx"), loaded.value()).ok());
        QVERIFY(bytesOf(path("again.onnx")) == file);
    }

    void indicesOfSparseValuesFitTheirShape()
    {
        const auto integers = [](const std::string &dims, std::size_t value) {
            return dims + number(2, 7) + number(7, value);
        };
        const std::string reals
            = number(1, 1) + number(2, 1) + field(8, "p") + field(4, std::string(4, '\0'));
        const auto load = [&](const std::string &sparse) {
            std::ofstream(path("m.onnx"), std::ios::binary)
                << model(field(1, node("Relu", "x", "y")), field(15, sparse));
            return io::loadModel(path("m.onnx")).ok();
        };
        const std::string table = integers(number(1, 1) + number(1, 1), 0);
        QVERIFY(load(field(1, reals) + field(2, table) + number(3, 2)));
        QVERIFY(!load(field(1, reals) + field(2, table))); // of a shape without axes
        QVERIFY(!load(field(1, reals) + field(2, table) + number(3, 2) + number(3, 2)));
    }
};

QTEST_GUILESS_MAIN(TestOnnx)
#include "tst_onnx.moc"

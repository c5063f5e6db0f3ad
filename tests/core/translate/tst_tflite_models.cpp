#include "core/backends/reference/reference_backend.h"
#include "core/base/mapped_file.h"
#include "core/dialect/dialect.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace halftone;

namespace {

std::string modelPath(std::string_view name)
{
    return HALFTONE_TEST_DATA "/tflite/" + std::string(name) + ".tflite";
}

std::vector<double> realsOf(const tensor::Tensor &values)
{
    std::vector<double> reals(values.elementCount());
    tensor::widen(values.dtype(), values.bytes().data(), reals.size(), reals.data());
    return reals;
}

const graph::NodeDef *nodeCalled(const graph::Graph &graph, std::string_view name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).name == name)
            return &graph.node(id);
    return nullptr;
}

std::string attributeOf(const graph::NodeDef *node, std::string_view key)
{
    const std::string *const text = node == nullptr ? nullptr : node->attributes.find(key);
    return text == nullptr ? std::string() : *text;
}

std::string contentOf(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

/// Models of tests/support/make_tflite_models.py: what is read of them, and values against those of LiteRT.
class TestTfliteModels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const auto loaded = io::loadModel(modelPath("layers"));
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without TensorFlow Lite");
    }
    void liteRtGivesTheSame_data();
    void liteRtGivesTheSame();
    void nodesKeepWhatTheFileSays();
    void theFileTellsOfInputsAndOutputs();
    void whatIsNotComputedSaysWhy();
    void anUnchangedModelIsWrittenAsItWas();
    void damagedFilesAreRefusedInOneLine_data();
    void damagedFilesAreRefusedInOneLine();
};

void TestTfliteModels::liteRtGivesTheSame_data()
{
    QTest::addColumn<QString>("name");
    for (const char *const name : {"layers", "codes", "movement", "half", "recurrent", "variables"})
        QTest::newRow(name) << QString::fromLatin1(name);
}

void TestTfliteModels::liteRtGivesTheSame()
{
    QFETCH(QString, name);
    const auto loaded = io::loadModel(modelPath(name.toStdString()));
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    auto interpreter = interpret::Interpreter::create(loaded.value().model,
                                                      {backends::reference::referenceBackend({1, false})});
    QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
    interpret::Feed feed;
    std::vector<tensor::Tensor> wanted;
    const auto arrays = io::readNpz(HALFTONE_TEST_DATA "/tflite/" + name.toStdString() + ".npz").value();
    for (const io::NamedTensor &array : arrays) {
        if (array.name.starts_with("in"))
            feed.emplace("x", array.tensor);
        else
            wanted.push_back(array.tensor);
    }
    const auto got = interpreter.value().run(feed);
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
    QCOMPARE(got.value().size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        QCOMPARE(tensor::nameOf(got.value()[k].dtype()), tensor::nameOf(wanted[k].dtype()));
        QCOMPARE(got.value()[k].shape(), wanted[k].shape());
        const std::vector<double> reals = realsOf(got.value()[k]);
        const std::vector<double> theirs = realsOf(wanted[k]);
        const double limit = tensor::isFloat(wanted[k].dtype()) ? 1e-6 : 1; // a code
        for (std::size_t i = 0; i < reals.size(); ++i)
            QVERIFY2(std::abs(reals[i] - theirs[i]) <= limit,
                     qPrintable(QString::number(reals[i] - theirs[i])));
    }
}

void TestTfliteModels::nodesKeepWhatTheFileSays()
{
    const auto loaded = io::loadModel(modelPath("layers")).value();
    const graph::Graph &graph = loaded.model.graph;
    QCOMPARE(dialect::of(graph).name(), std::string_view("tflite"));
    const graph::NodeDef *const conv = nodeCalled(graph, "a");
    QVERIFY(conv != nullptr);
    QCOMPARE(conv->op, std::string("CONV_2D"));
    QCOMPARE(attributeOf(conv, "padding"), std::string("SAME"));
    QCOMPARE(attributeOf(conv, "stride_h"), std::string("2"));
    QCOMPARE(attributeOf(conv, "dilation_w_factor"), std::string("1"));
    QCOMPARE(attributeOf(conv, "fused_activation_function"), std::string("RELU6"));
    QCOMPARE(attributeOf(nodeCalled(graph, "d"), "new_shape"), std::string("[-1,8]"));
    const graph::NodeDef *const product = nodeCalled(graph, "e");
    QVERIFY(product != nullptr);
    QCOMPARE(product->slots, (std::vector<std::uint32_t>{0, 1})); // the bias is left out
    const auto coded = io::loadModel(modelPath("codes")).value();
    QCOMPARE(attributeOf(nodeCalled(coded.model.graph, "q"), "quantization"),
             std::string("(code - 3) · 0.02"));
    QCOMPARE(attributeOf(nodeCalled(coded.model.graph, "w"), "quantization"),
             std::string("4 scales along axis 0"));
}

void TestTfliteModels::theFileTellsOfInputsAndOutputs()
{
    const auto loaded = io::loadModel(modelPath("half")).value();
    QVERIFY(loaded.facts.has_value());
    QCOMPARE(loaded.facts->producer, std::string("made by make_tflite_models.py"));
    QCOMPARE(loaded.facts->inputs.size(), std::size_t{1});
    QCOMPARE(loaded.facts->inputs[0].name, std::string("x"));
    QCOMPARE(loaded.facts->inputs[0].dtype, std::string("float32"));
    QCOMPARE(loaded.facts->inputs[0].shape.value(), (std::vector<std::string>{"2", "5"}));
    QCOMPARE(loaded.facts->outputs[0].name, std::string("output_0")); // it has no name
    const graph::Graph &graph = loaded.model.graph;
    QCOMPARE(dialect::of(graph).entryName(graph, graph.heads()[0]), std::string("output_0"));
}

void TestTfliteModels::whatIsNotComputedSaysWhy()
{
    const auto loaded = io::loadModel(modelPath("variables")).value();
    const graph::Graph &graph = loaded.model.graph;
    QVERIFY(!attributeOf(nodeCalled(graph, "CALL_ONCE"), "not computed").empty());
    QVERIFY(!attributeOf(nodeCalled(graph, "ASSIGN_VARIABLE"), "not computed").empty());
    QVERIFY(attributeOf(nodeCalled(graph, "held"), "not computed").empty());
}

void TestTfliteModels::anUnchangedModelIsWrittenAsItWas()
{
    const QTemporaryDir folder;
    const auto loaded = io::loadModel(modelPath("codes")).value();
    const std::string written = folder.filePath("again.tflite").toStdString();
    QVERIFY(io::saveModel(loaded.model, written, loaded).ok());
    QCOMPARE(contentOf(written), contentOf(modelPath("codes")));
    graph::Model changed = loaded.model;
    changed.parameters[0].values = tensor::Tensor();
    const auto refused = io::saveModel(changed, written, loaded);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, Errc::Unsupported);
}

void TestTfliteModels::damagedFilesAreRefusedInOneLine_data()
{
    liteRtGivesTheSame_data();
}

/// Cut at many places, and with many bytes changed, one at a time: read, or refused with the place.
void TestTfliteModels::damagedFilesAreRefusedInOneLine()
{
    QFETCH(QString, name);
    const std::string whole = contentOf(modelPath(name.toStdString()));
    const auto check = [](std::string content) {
        std::vector<std::byte> bytes(content.size());
        std::ranges::transform(content, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
        const auto file = MappedFile::ofBytes("damaged.tflite", std::move(bytes));
        bool isChanging = false;
        const auto loaded = io::formatNamed("tflite")->load(file, {}, isChanging);
        if (loaded.ok())
            return true;
        const std::string message = loaded.error().message();
        return message.starts_with("damaged.tflite: ") && message.find('\n') == std::string::npos;
    };
    for (std::size_t size = 0; size < whole.size(); size += 61)
        QVERIFY(check(whole.substr(0, size)));
    constexpr std::array kValues{'\0', '\x7f', '\xff', '\x01'};
    for (std::size_t k = 0; 5 * k < whole.size(); ++k) {
        std::string changed = whole;
        changed[5 * k] = kValues[k % kValues.size()];
        QVERIFY2(check(changed), qPrintable(QString::number(5 * k)));
    }
}

QTEST_APPLESS_MAIN(TestTfliteModels)
#include "tst_tflite_models.moc"

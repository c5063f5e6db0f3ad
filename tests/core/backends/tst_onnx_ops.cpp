#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/onnx/operator_rows.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/rewrite/rewrite.h"
#include "core/tensor/elements.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <set>

using namespace halftone;
using tensor::DType;
using tensor::Tensor;

/// Operators of ONNX against values that ONNX's own evaluator recorded (tests/support/make_onnx_op_goldens.py), with NaN, infinities and
/// the like on both backends (make_onnx_special_goldens.py), calls of
/// functions and operators of other domains against those of ONNX Runtime (make_onnx_call_goldens.py,
/// make_onnx_tabular_goldens.py), and which operators nothing computes.
class OnnxOpsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aVariableOfATypeThatIsNotComputedWithIsNamed();
    void valuesAreOnnxs_data();
    void valuesAreOnnxs();
    void specialValuesAreOnnxs_data();
    void specialValuesAreOnnxs();
    void whatIsTakenOverIntoANewerOpsetGivesTheSame_data();
    void whatIsTakenOverIntoANewerOpsetGivesTheSame();
    void valuesAreOnnxRuntimes_data();
    void valuesAreOnnxRuntimes();
    void valuesOfTablesAreOnnxRuntimes_data();
    void valuesOfTablesAreOnnxRuntimes();
    void ensemblesThatAreNoTreesAreRefused_data();
    void ensemblesThatAreNoTreesAreRefused();
    void whatIsNotComputedIsKnown();
};

namespace {

std::vector<double> valuesOf(const Tensor &tensor)
{
    std::vector<double> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

/// What is wrong with `got`, or nothing. Sums of a few dozen float32 products of numbers around 1 differ by their order.
QString difference(const Tensor &got, const Tensor &want)
{
    if (got.dtype() != want.dtype() || got.shape() != want.shape())
        return QString::fromStdString(std::string(tensor::nameOf(got.dtype())) + got.shape().toString()
                                      + ", expected " + std::string(tensor::nameOf(want.dtype()))
                                      + want.shape().toString());
    const std::vector<double> g = valuesOf(got);
    const std::vector<double> w = valuesOf(want);
    const double tolerance = !tensor::isFloat(want.dtype()) || tensor::isForAnalysis(want.dtype()) ? 0
        : want.dtype() == DType::F16                                                               ? 0x1p-9
        : want.dtype() == DType::BF16                                                              ? 0x1p-6
        : want.dtype() == DType::F64                                                               ? 1e-12
                                                                                                   : 1e-5;
    for (std::size_t i = 0; i < g.size(); ++i)
        if (std::isnan(g[i]) != std::isnan(w[i]) || (std::isinf(w[i]) && g[i] != w[i])
            || std::abs(g[i] - w[i]) > tolerance * (1 + std::abs(w[i])))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g[i]).arg(w[i]);
    return {};
}

void addRows(const char *folderName, int least)
{
    QTest::addColumn<QString>("path");
    const QDir folder(QStringLiteral(HALFTONE_TEST_DATA) + QLatin1String(folderName));
    const QStringList names = folder.entryList({"*.onnx"});
    QVERIFY(names.size() > least);
    for (const QString &name : names)
        QTest::newRow(qPrintable(name.chopped(5))) << folder.filePath(name.chopped(5));
}

/// Runs the model on what was recorded beside `path`.
void compareWith(const QString &path, const graph::Model &model, const kernels::BackendChain &backends)
{
    const auto arrays = io::readNpz((path + ".npz").toStdString());
    QVERIFY2(arrays.ok(), "the recorded values do not read");
    interpret::Feed feed;
    std::vector<Tensor> expected;
    for (const io::NamedTensor &array : arrays.value()) {
        if (array.name.starts_with("in."))
            feed.emplace(array.name.substr(3), array.tensor);
        else
            expected.push_back(array.tensor);
    }
    auto interpreter = interpret::Interpreter::create(model, backends);
    QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
    const auto outputs = interpreter.value().run(feed);
    QVERIFY2(outputs.ok(), outputs.ok() ? "" : outputs.error().message().c_str());
    QCOMPARE(outputs.value().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const QString wrong = difference(outputs.value()[i], expected[i]);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString::number(i) + ": " + wrong));
    }
}

/// The opsets of a graph, of bodies in it and of functions that it calls.
std::set<int> versionsOf(const graph::Graph &graph)
{
    std::set<int> versions{dialect::onnx::opsetOf(dialect::of(graph))};
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const auto &body : graph.node(id).subgraphs)
            versions.merge(versionsOf(*body));
    return versions;
}

/// `inlined`: with the nodes of functions in the place of their calls.
void compare(const QString &path, const kernels::BackendChain &backends, bool inlined = false)
{
    const auto loaded = io::loadModel((path + ".onnx").toStdString());
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    graph::Model model = loaded.value().model;
    if (inlined) {
        auto rewritten = rewrite::findRewritePass("inline-functions")->run(model, {});
        QVERIFY2(rewritten.ok(), rewritten.ok() ? "" : rewritten.error().message().c_str());
        QVERIFY(rewritten.value().changed > 0 || !rewritten.value().notes.empty());
        model = std::move(rewritten).value().model;
    }
    compareWith(path, model, backends);
}

} // namespace

void OnnxOpsTest::aVariableOfATypeThatIsNotComputedWithIsNamed()
{
    const dialect::Dialect &dialect = dialect::onnx::onnxDialect(21);
    graph::Model model;
    model.graph = graph::Graph(dialect);
    const graph::NodeId w = model.graph.add(dialect.makeVariable("w", {{"type", "float8e5m2fnuz"}}), {});
    const graph::Entry inputs[] = {{w, 0, 0}};
    graph::NodeDef identity{"Identity", "y", {}, {}};
    identity.outputs = {"y"};
    const graph::NodeId y
        = model.graph.add(std::make_shared<const graph::NodeDef>(std::move(identity)), inputs);
    model.graph.setHeads({{y, 0, 0}});
    auto made = interpret::Interpreter::create(model, {backends::reference::referenceBackend()});
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    const auto ran = made.value().run({});
    QVERIFY(!ran.ok());
    QCOMPARE(ran.error().code, Errc::Unsupported);
    QCOMPARE(ran.error().where, std::string("w"));
    QCOMPARE(ran.error().found, std::string("float8e5m2fnuz"));
}

void OnnxOpsTest::valuesAreOnnxs_data()
{
    addRows("/onnx_ops", 90);
}

void OnnxOpsTest::valuesAreOnnxs()
{
    QFETCH(QString, path);
    compare(path, {backends::reference::referenceBackend({2, false})});
}

void OnnxOpsTest::specialValuesAreOnnxs_data()
{
    addRows("/onnx_special", 85);
}

void OnnxOpsTest::specialValuesAreOnnxs()
{
    QFETCH(QString, path);
    compare(path, {backends::reference::referenceBackend({2, false})});
    const auto cpu = backends::backendChain("cpu", 2);
    QVERIFY(cpu.ok());
    compare(path, cpu.value());
}

void OnnxOpsTest::whatIsTakenOverIntoANewerOpsetGivesTheSame_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("opset");
    QTest::newRow("scales of groups") << "onnx_ops/group_norm_groups" << 21;
    QTest::newRow("walks through batches") << "onnx_ops/scan_batches" << 9;
    QTest::newRow("walks through batches, newest") << "onnx_ops/scan_batches" << dialect::onnx::kNewestOpset;
    QTest::newRow("functions in functions") << "onnx_calls/function_older" << 13;
    QTest::newRow("functions in functions, newest")
        << "onnx_calls/function_older" << dialect::onnx::kNewestOpset;
    QTest::newRow("functions that hold loops")
        << "onnx_calls/function_with_loops" << dialect::onnx::kNewestOpset;
    QTest::newRow("attributes that calls give")
        << "onnx_calls/function_attributes" << dialect::onnx::kNewestOpset;
    QTest::newRow("functions in branches") << "onnx_calls/function_in_branch" << dialect::onnx::kNewestOpset;
}

/// Raised, and again when it has been written.
void OnnxOpsTest::whatIsTakenOverIntoANewerOpsetGivesTheSame()
{
    QFETCH(QString, name);
    QFETCH(int, opset);
    const QString source = QStringLiteral(HALFTONE_TEST_DATA "/") + name;
    auto loaded = io::loadModel((source + ".onnx").toStdString());
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    graph::Model model = loaded.value().model;
    auto raised = model.graph.dialect()->raised(model.graph, DType::F32, opset);
    QVERIFY2(raised.ok(), raised.ok() ? "" : raised.error().message().c_str());
    QVERIFY(raised.value().has_value());
    model.graph = raised.value()->graph;
    compareWith(source, model, {backends::reference::referenceBackend({2, false})});
    const QTemporaryDir folder;
    const auto written = io::saveModel(model, folder.filePath("new").toStdString(), loaded.value());
    QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
    const auto again = io::loadModel(folder.filePath("new.onnx").toStdString());
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    compareWith(source, again.value().model, {backends::reference::referenceBackend({2, false})});
    for (const int version : versionsOf(again.value().model.graph))
        QCOMPARE(version, opset); // checkers refuse functions of another one
}

void OnnxOpsTest::valuesAreOnnxRuntimes_data()
{
    addRows("/onnx_calls", 45);
}

void OnnxOpsTest::valuesAreOnnxRuntimes()
{
    QFETCH(QString, path);
    compare(path, {backends::reference::referenceBackend({2, false})});
    const auto cpu = backends::backendChain("cpu", 2);
    QVERIFY(cpu.ok());
    compare(path, cpu.value());
    compare(path, cpu.value(), true);
}

void OnnxOpsTest::valuesOfTablesAreOnnxRuntimes_data()
{
    addRows("/onnx_tabular", 35);
}

void OnnxOpsTest::valuesOfTablesAreOnnxRuntimes()
{
    QFETCH(QString, path);
    compare(path, {backends::reference::referenceBackend({2, false})});
}

void OnnxOpsTest::ensemblesThatAreNoTreesAreRefused_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("found");
    QTest::newRow("as it should be") << "n_targets"
                                     << "1"
                                     << "";
    QTest::newRow("a circle") << "nodes_falsenodeids"
                              << "[0,0,0]"
                              << "is its own descendant";
    QTest::newRow("a node twice") << "nodes_falsenodeids"
                                  << "[1,0,0]"
                                  << "has two parents";
    QTest::newRow("no such node") << "nodes_truenodeids"
                                  << "[7,0,0]"
                                  << "no node 7";
    QTest::newRow("two of one name") << "nodes_nodeids"
                                     << "[0,1,1]"
                                     << "two nodes have the id 1";
    QTest::newRow("no such column") << "target_ids"
                                    << "[0,3]"
                                    << "3 at place 1";
    QTest::newRow("a test that is none") << "nodes_modes"
                                         << "[BRANCH_LEQ,LEAF,LEAVE]"
                                         << "LEAVE";
    QTest::newRow("a feature below 0") << "nodes_featureids"
                                       << "[-1,0,0]"
                                       << "-1 at place 0";
    QTest::newRow("too few values") << "nodes_values"
                                    << "[0.5]"
                                    << "1 entries";
    QTest::newRow("too many targets") << "n_targets"
                                      << "99999999999"
                                      << "99999999999";
}

void OnnxOpsTest::ensemblesThatAreNoTreesAreRefused()
{
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, found);
    graph::NodeDef node{"ai.onnx.ml.TreeEnsembleRegressor",
                        "trees",
                        {{"nodes_treeids", "[0,0,0]"},
                         {"nodes_nodeids", "[0,1,2]"},
                         {"nodes_modes", "[BRANCH_LEQ,LEAF,LEAF]"},
                         {"nodes_featureids", "[2,0,0]"},
                         {"nodes_values", "[0.5,0,0]"},
                         {"nodes_truenodeids", "[1,0,0]"},
                         {"nodes_falsenodeids", "[2,0,0]"},
                         {"target_treeids", "[0,0]"},
                         {"target_nodeids", "[1,2]"},
                         {"target_ids", "[0,0]"},
                         {"target_weights", "[1,-1]"}},
                        {}};
    node.attributes.set(key.toStdString(), value.toStdString());
    const auto read = dialect::onnx::onnxDialect(17).read(node);
    QCOMPARE(read.ok(), found.isEmpty());
    if (!read.ok())
        QVERIFY2(read.error().message().find(found.toStdString()) != std::string::npos,
                 read.error().message().c_str());
    else
        QCOMPARE(read.value().as<ops::TreeEnsemble>().features, std::int64_t{3});
}

void OnnxOpsTest::whatIsNotComputedIsKnown()
{
    // By reason; Constant and the bodies of control flow are no kernels' business.
    const QStringList known{
        "Constant",
        "If",
        "Loop",
        "Scan",
        "SequenceMap", // not by kernels
        "RegexFullMatch",
        "StringConcat",
        "StringNormalizer",
        "StringSplit",
        "ImageDecoder", // texts, files
        "BitCast",
        "BlackmanWindow",
        "HammingWindow",
        "HannWindow",
        "MelWeightMatrix",
        "NegativeLogLikelihoodLoss",
        "SoftmaxCrossEntropyLoss",
        "Unique", // functions (resources/onnx/functions.json)
    };
    QStringList missing;
    for (const auto &[name, info] : dialect::onnx::operatorsOf(dialect::onnx::kNewestOpset))
        if (!info->isDeprecated && name.find('.') == std::string_view::npos
            && dialect::onnx::findRow(name) == nullptr)
            missing.append(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
    missing.sort();
    QStringList expected = known;
    expected.sort();
    QCOMPARE(missing, expected);
}

QTEST_GUILESS_MAIN(OnnxOpsTest)
#include "tst_onnx_ops.moc"

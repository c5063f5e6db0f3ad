#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "core/rewrite/nested_conversions.h"
#include "core/rewrite/restore_parameters.h"
#include "core/tensor/elements.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace halftone;
using tensor::DType;

namespace {

io::LoadedModel load(const std::string &name)
{
    auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/" + name + ".onnx");
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded).value();
}

mixed::ConvertedModel convertedBy(const graph::Model &model, const policy::Policy &policy)
{
    auto made = mixed::convertModel(model, policy, false);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

std::map<std::string, DType> storedTypes(const graph::Model &model)
{
    std::map<std::string, DType> types;
    for (const tensor::Array &array : model.parameters)
        types.emplace(array.name, array.values.dtype());
    return types;
}

const policy::Warning *warningOf(const mixed::ConvertedModel &made, std::string_view code)
{
    const auto found = std::ranges::find(made.warnings, code, &policy::Warning::code);
    return found == made.warnings.end() ? nullptr : &*found;
}

double scalarOf(const tensor::Tensor &tensor)
{
    double value = 0;
    tensor::widen(tensor.dtype(), tensor.bytes().data(), 1, &value);
    return value;
}

DType precisionOf(const graph::Graph &source, const rewrite::Conversion &conversion, std::string_view name)
{
    for (graph::NodeId id = 0; id < source.nodeCount(); ++id)
        if (source.node(id).name == name)
            return conversion.precisionOf(id);
    return DType::Unknown;
}

const graph::NodeDef *nodeNamed(const graph::Graph &graph, std::string_view name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).name == name)
            return &graph.node(id);
    return nullptr;
}

} // namespace

/// What files of ONNX have beside operators: inputs with values, epsilons, calls.
class TestConvertOnnx : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void inputsWithValuesKeepTheirTypes_data();
    void inputsWithValuesKeepTheirTypes();
    void positiveBoundsStayAboveZero();
    void boundsBehindCastsStayAboveZero_data();
    void boundsBehindCastsStayAboveZero();
    void whoReadsAShapeInABranchCostsNoCast();
    void callsAreToldOnce();
    void callsThatAPersonNamesAreLowered();
    void callsOfDecodersAreInTheLists_data();
    void callsOfDecodersAreInTheLists();
    void operatorsThatNobodyUsesAreTold();
    void outputsThatAreNotTakenStayLeftOut();
    void typesThatAreNotComputedWithGetNoCasts_data();
    void typesThatAreNotComputedWithGetNoCasts();
};

void TestConvertOnnx::initTestCase()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/heads.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
}

/// M-defaults
void TestConvertOnnx::inputsWithValuesKeepTheirTypes_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<bool>("keepsIoTypes");
    QTest::addColumn<QStringList>("narrow"); // parameters that are stored in 16 bit
    QTest::addColumn<QStringList>("told");
    QTest::newRow("inputs") << "defaults" << true << QStringList() << QStringList();
    QTest::newRow("inputs whose types may change")
        << "defaults" << false << QStringList{"gain", "high", "w"} << QStringList{"w", "gain", "high"};
    QTest::newRow("some") << "defaults_some" << true << QStringList{"v"} << QStringList();
    QTest::newRow("all, as old exporters wrote")
        << "defaults_old" << true << QStringList{"gain", "high", "w"} << QStringList{"w", "gain", "high"};
}

void TestConvertOnnx::inputsWithValuesKeepTheirTypes()
{
    QFETCH(const QString, file);
    QFETCH(const bool, keepsIoTypes);
    QFETCH(const QStringList, narrow);
    QFETCH(const QStringList, told);
    const io::LoadedModel source = load(file.toStdString());
    policy::Policy policy;
    policy.keepIoTypes = keepsIoTypes;
    const mixed::ConvertedModel made = convertedBy(source.model, policy);
    QStringList found;
    for (const auto &[name, type] : storedTypes(made.model))
        if (type == DType::F16)
            found << QString::fromStdString(name);
    QCOMPARE(found, narrow);
    const policy::Warning *const warning = warningOf(made, "defaults_stored");
    QStringList names;
    for (const std::string &name : warning == nullptr ? std::vector<std::string>() : warning->nodes)
        names << QString::fromStdString(name);
    QCOMPARE(names, told);

    // They are inputs as before.
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("made.onnx")).toStdString();
    QVERIFY(io::saveModel(made.model, path, source).ok());
    const auto again = io::loadModel(path);
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    QCOMPARE(again.value().facts->replaceable, source.facts->replaceable);
}

/// M-bounds
void TestConvertOnnx::positiveBoundsStayAboveZero()
{
    const io::LoadedModel source = load("bounds");
    policy::Policy policy;
    policy.mode = policy::Mode::All;
    const mixed::ConvertedModel made = convertedBy(source.model, policy);
    const double least = std::ldexp(1.0, -24);
    std::size_t bounds = 0;
    for (const tensor::Array &array : made.model.parameters) {
        if (array.name != "least" && array.name != "least_norm")
            continue;
        QCOMPARE(array.values.dtype(), DType::F16);
        QCOMPARE(scalarOf(array.values), least);
        ++bounds;
    }
    QCOMPARE(bounds, std::size_t{2});
    const graph::Graph &graph = made.model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (const tensor::Tensor *held = graph.node(id).tensorOf("value"))
            QCOMPARE(scalarOf(*held), least);
    const policy::Warning *const warning = warningOf(made, "bounds_held");
    QVERIFY(warning != nullptr);
    QCOMPARE(warning->nodes, (std::vector<std::string>{"least", "least_norm", "eps"}));
    // What multiplies is no bound, and what is rounded to 0 is told as ever.
    const policy::Warning *const flushed = warningOf(made, "subnormal_weights");
    QVERIFY(flushed != nullptr);
    QCOMPARE(flushed->nodes, std::vector<std::string>{"tiny"});
    QVERIFY(std::ranges::none_of(made.parameters,
                                 [](const auto &change) { return change.name == "tiny" && change.isHeld; }));
}

/// What stays float32, because nobody asked for parameters to be cast or since others read it in float32, is 0 behind a cast.
void TestConvertOnnx::boundsBehindCastsStayAboveZero_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<bool>("castsParams");
    QTest::addColumn<QStringList>("held");
    QTest::newRow("parameters that stay as they are")
        << "bounds" << false << QStringList{"least", "least_norm", "eps"};
    QTest::newRow("read in a branch, too") << "bounds_shared" << false << QStringList{"least", "eps"};
    QTest::newRow("read in float32, too") << "bounds_shared" << true << QStringList{"least", "eps"};
}

void TestConvertOnnx::boundsBehindCastsStayAboveZero()
{
    QFETCH(const QString, file);
    QFETCH(const bool, castsParams);
    QFETCH(const QStringList, held);
    const io::LoadedModel source = load(file.toStdString());
    policy::Policy policy;
    policy.mode = policy::Mode::All;
    policy.castParams = castsParams;
    policy.excludedNames = {"/exact/"};
    const mixed::ConvertedModel made = convertedBy(source.model, policy);
    std::map<std::string, const tensor::Tensor *> values;
    for (const tensor::Array &array : made.model.parameters)
        values[array.name] = &array.values;
    for (graph::NodeId id = 0; id < made.model.graph.nodeCount(); ++id)
        if (const tensor::Tensor *value = made.model.graph.node(id).tensorOf("value"))
            values[made.model.graph.node(id).name] = value;
    const double least = std::ldexp(1.0, -24); // of float16 above 0
    for (const QString &name : held) {
        const tensor::Tensor &value = *values.at(name.toStdString());
        QCOMPARE(value.dtype(), DType::F32);
        QCOMPARE(scalarOf(value), least);
    }
    const policy::Warning *const warning = warningOf(made, "bounds_held");
    QVERIFY(warning != nullptr);
    QStringList told;
    for (const std::string &name : warning->nodes)
        told << QString::fromStdString(name);
    QCOMPARE(told, held);
    if (const auto tiny = values.find("tiny"); tiny != values.end()) // what multiplies is no bound
        QCOMPARE(scalarOf(*tiny->second), double(1e-9F));

    // A second time changes nothing, and the originals come back.
    const mixed::ConvertedModel again = convertedBy(made.model, policy);
    QVERIFY(warningOf(again, "bounds_held") == nullptr);
    const auto restored = rewrite::restoreParameters(made.model, source.model, {});
    QVERIFY2(restored.ok(), restored.ok() ? "" : restored.error().message().c_str());
    for (const tensor::Array &array : restored.value().model.parameters)
        if (array.name == "least")
            QCOMPARE(scalarOf(array.values), double(1e-9F));
}

/// The branch multiplies the input in 16 bit, and so may its square be computed outside: both read one cast.
void TestConvertOnnx::whoReadsAShapeInABranchCostsNoCast()
{
    const io::LoadedModel source = load("shape_in_branch");
    const mixed::ConvertedModel made = convertedBy(source.model, policy::Policy());
    QCOMPARE(precisionOf(source.model.graph, made.conversion, "square"), DType::F16);
    QCOMPARE(rewrite::castTotals(made.conversion).casts, std::size_t{3}); // of the input and of both outputs
}

/// M-calls
void TestConvertOnnx::callsAreToldOnce()
{
    const io::LoadedModel source = load("calls");
    const mixed::ConvertedModel made = convertedBy(source.model, {});
    const policy::Warning *const warning = warningOf(made, "functions_kept");
    QVERIFY(warning != nullptr);
    QCOMPARE(warning->nodes, (std::vector<std::string>{"fused", "gelu", "halved"}));
    QVERIFY(warning->text.find("inline-functions") != std::string::npos);
    QCOMPARE(made.warnings.size(), std::size_t{1});
    QCOMPARE(precisionOf(source.model.graph, made.conversion, "product"), DType::F16);
}

void TestConvertOnnx::callsThatAPersonNamesAreLowered()
{
    const io::LoadedModel source = load("calls");
    policy::Policy policy;
    policy.moves = {{"com.microsoft.FusedMatMul", policy::Policy::Move::To::Target}};
    const mixed::ConvertedModel made = convertedBy(source.model, policy);
    QCOMPARE(precisionOf(source.model.graph, made.conversion, "fused"), DType::F16);
    QCOMPARE(precisionOf(source.model.graph, made.conversion, "gelu"), DType::F32);
    QCOMPARE(warningOf(made, "functions_kept")->nodes, (std::vector<std::string>{"gelu", "halved"}));
}

/// Models of one such node each.
void TestConvertOnnx::callsOfDecodersAreInTheLists_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("target");
    QTest::addColumn<int>("computes");
    const auto row = [](const char *file, DType target, DType computes) {
        QTest::addRow("%s, %s", file, std::string(tensor::nameOf(target)).c_str())
            << file << static_cast<int>(target) << static_cast<int>(computes);
    };
    row("matmul_4_bits", DType::F16, DType::F16);
    row("matmul_4_bits_zeros", DType::BF16, DType::BF16);
    row("matmul_4_bits_real_zeros", DType::F16, DType::F16);
    row("group_query_attention", DType::F16, DType::F16);
    row("group_query_attention_rotary", DType::BF16, DType::F32);
    row("skip_simplified", DType::F16, DType::F32);
    row("simplified_layer_normalization", DType::F16, DType::F32);
}

void TestConvertOnnx::callsOfDecodersAreInTheLists()
{
    QFETCH(const QString, file);
    QFETCH(const int, target);
    QFETCH(const int, computes);
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx_calls/" + file.toStdString() + ".onnx");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = static_cast<DType>(target);
    const graph::Graph &graph = loaded.value().model.graph;
    const mixed::ConvertedModel made = convertedBy(loaded.value().model, policy);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (!graph.isVariable(id))
            QCOMPARE(made.conversion.precisionOf(id), static_cast<DType>(computes));
    QVERIFY(warningOf(made, "functions_kept") == nullptr);
}

void TestConvertOnnx::operatorsThatNobodyUsesAreTold()
{
    const io::LoadedModel source = load("calls");
    policy::Policy policy;
    policy.fp32Ops = {"com.microsoft.Gelo", "com.microsoft.BiasGelu", "own.Halved"};
    const auto decided = mixed::decide(source.model, policy);
    QVERIFY2(decided.ok(), decided.ok() ? "" : decided.error().message().c_str());
    QCOMPARE(decided.value().warnings.size(), std::size_t{1});
    QCOMPARE(decided.value().warnings[0].entry, std::string("operator \"com.microsoft.Gelo\""));
    policy.fp32Ops = {"Gelo"};
    QVERIFY(!mixed::decide(source.model, policy).ok()); // of ai.onnx all names are known
}

/// A name asks for the value, and a function that does not compute it is refused then.
void TestConvertOnnx::outputsThatAreNotTakenStayLeftOut()
{
    const io::LoadedModel source = load("left_out");
    const mixed::ConvertedModel made = convertedBy(source.model, policy::Policy());
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("made.onnx")).toStdString();
    QVERIFY(io::saveModel(made.model, path, source).ok());
    const auto again = io::loadModel(path);
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    const auto *norm = nodeNamed(again.value().model.graph, "norm");
    QVERIFY(norm != nullptr);
    QCOMPARE(norm->outputs, (std::vector<std::string>{"y", {}, {}, "sum"}));
    const auto *cells = nodeNamed(again.value().model.graph, "cells");
    QVERIFY(cells != nullptr);
    QVERIFY(cells->outputs.size() >= 2);
    QVERIFY(cells->outputs[0].empty());
    QVERIFY(!cells->outputs[1].empty());
}

void TestConvertOnnx::typesThatAreNotComputedWithGetNoCasts_data()
{
    QTest::addColumn<int>("mode");
    QTest::newRow("typed") << static_cast<int>(policy::Mode::Typed);
    QTest::newRow("all") << static_cast<int>(policy::Mode::All);
    QTest::newRow("tvm") << static_cast<int>(policy::Mode::Tvm);
}

void TestConvertOnnx::typesThatAreNotComputedWithGetNoCasts()
{
    QFETCH(const int, mode);
    policy::Policy policy;
    policy.mode = static_cast<policy::Mode>(mode);
    const mixed::ConvertedModel made = convertedBy(load("foreign").model, policy);
    const graph::Graph &graph = made.model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).op == "Cast")
            QCOMPARE(graph.node(graph.inputs(id)[0].node).name, std::string("x"));
}

QTEST_GUILESS_MAIN(TestConvertOnnx)
#include "tst_convert_onnx.moc"

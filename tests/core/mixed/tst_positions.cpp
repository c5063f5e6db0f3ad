#include "core/infer/variables.h"
#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "core/mixed/hold/hold_positions.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace halftone;
using tensor::DType;

Q_DECLARE_METATYPE(halftone::tensor::DType)
Q_DECLARE_METATYPE(halftone::policy::Mode)

namespace {

using Names = std::set<std::string>;

/// Operators of the fixture whose names begin so, in bodies too.
void addNames(const graph::Graph &graph, std::string_view prefix, Names &names)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id) && graph.node(id).name.starts_with(prefix))
            names.insert(graph.node(id).name);
        for (const auto &body : graph.node(id).subgraphs)
            addNames(*body, prefix, names);
    }
}

void addLowered(const graph::Graph &source, const rewrite::Conversion &conversion, Names &names)
{
    for (graph::NodeId id = 0; id < source.nodeCount(); ++id)
        if (!source.isVariable(id) && tensor::isHalf(conversion.precisionOf(id)))
            names.insert(source.node(id).name);
    for (const rewrite::ConvertedBody &body : conversion.bodies)
        addLowered(*source.node(body.node).subgraphs[body.body], body.conversion, names);
}

Names lowered(const graph::Graph &source, const rewrite::Conversion &conversion)
{
    Names names;
    addLowered(source, conversion, names);
    return names;
}

/// As a test tells them.
QStringList told(const Names &names)
{
    QStringList list;
    for (const std::string &name : names)
        list << QString::fromStdString(name);
    return list;
}

Names both(const Names &a, const Names &b)
{
    Names names;
    std::ranges::set_intersection(a, b, std::inserter(names, names.end()));
    return names;
}

const policy::Warning *warningOf(const mixed::ConvertedModel &made, std::string_view code)
{
    const auto found = std::ranges::find(made.warnings, code, &policy::Warning::code);
    return found == made.warnings.end() ? nullptr : &*found;
}

} // namespace

/// M-position: what carries whole numbers and times to where rounding them is wrong.
class TestPositions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void pathsAreFoundAndNothingElse();
    void modeTypedKeepsThemInFloat32_data();
    void modeTypedKeepsThemInFloat32();
    void otherModesWarn_data();
    void otherModesWarn();
    void whoAsksForTheTypeGetsItAndIsTold();
    void aPlaceAsRealsHoldsNoDataThatWereSearched();
    void whatMovesFedIdsHasNoCodes();

private:
    mixed::ConvertedModel convert(const policy::Policy &policy) const;

    graph::Model m_model;
    Names m_held;
    Names m_free;
};

void TestPositions::initTestCase()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/positions.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    m_model = loaded.value().model;
    addNames(m_model.graph, "held", m_held);
    addNames(m_model.graph, "free", m_free);
    QVERIFY(m_held.size() > 15 && m_free.size() > 15);
}

mixed::ConvertedModel TestPositions::convert(const policy::Policy &policy) const
{
    auto made = mixed::convertModel(m_model, policy, false);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

void TestPositions::pathsAreFoundAndNothingElse()
{
    policy::Policy policy;
    const auto decided = mixed::decide(m_model, policy);
    QVERIFY2(decided.ok(), decided.ok() ? "" : decided.error().message().c_str());
    Names found;
    for (const auto &[graph, paths] : decided.value().positions)
        for (const auto &held : paths.held)
            found.insert(graph->node(held.node).name);
    QCOMPARE(told(both(found, m_free)), QStringList());
    QCOMPARE(told(found), told(m_held));
}

void TestPositions::modeTypedKeepsThemInFloat32_data()
{
    QTest::addColumn<DType>("target");
    QTest::newRow("float16") << DType::F16;
    QTest::newRow("bfloat16") << DType::BF16;
}

void TestPositions::modeTypedKeepsThemInFloat32()
{
    QFETCH(const DType, target);
    policy::Policy policy;
    policy.target = target;
    const mixed::ConvertedModel made = convert(policy);
    const Names narrow = lowered(m_model.graph, made.conversion);
    QCOMPARE(told(both(narrow, m_held)), QStringList());
    QVERIFY(narrow.contains("free_query") && narrow.contains("free_layer"));
    // 8 bits of a cosine do not tell neighbouring positions apart.
    for (const char *turned : {"free_product", "free_other_product", "free_sum"})
        QVERIFY(target == DType::F16 || !narrow.contains(turned));
    QVERIFY(warningOf(made, "positions_lowered") == nullptr);
    for (graph::NodeId id = 0; id < m_model.graph.nodeCount(); ++id)
        if (m_model.graph.node(id).name == "held_angles") {
            QCOMPARE(made.assignment.rule(id), policy::Rule::PositionPath);
            QVERIFY(made.assignment.entry(id).starts_with("positions: exact for "));
        }
}

void TestPositions::otherModesWarn_data()
{
    QTest::addColumn<policy::Mode>("mode");
    QTest::newRow("tvm") << policy::Mode::Tvm;
    QTest::newRow("all") << policy::Mode::All;
}

void TestPositions::otherModesWarn()
{
    QFETCH(const policy::Mode, mode);
    policy::Policy policy;
    policy.mode = mode;
    const mixed::ConvertedModel made = convert(policy);
    const Names wrong = both(lowered(m_model.graph, made.conversion), m_held);
    QVERIFY(wrong.contains("held_angles"));
    const policy::Warning *const warning = warningOf(made, "positions_lowered");
    QVERIFY(warning != nullptr);
    QCOMPARE(told(Names(warning->nodes.begin(), warning->nodes.end())), told(wrong));
}

void TestPositions::whoAsksForTheTypeGetsItAndIsTold()
{
    policy::Policy policy;
    policy.nodeOverrides["held_angles"] = DType::F16;
    const mixed::ConvertedModel made = convert(policy);
    QCOMPARE(told(both(lowered(m_model.graph, made.conversion), m_held)), QStringList{"held_angles"});
    const policy::Warning *const warning = warningOf(made, "positions_lowered");
    QVERIFY(warning != nullptr);
    QCOMPARE(warning->nodes, std::vector<std::string>{"held_angles"});
}

/// MXNet's argmax gives reals, which one_hot needs whole; the layer whose values it searches may round them.
void TestPositions::aPlaceAsRealsHoldsNoDataThatWereSearched()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/amp/int_heads/model-symbol.json");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const graph::Model &model = loaded.value().model;
    const auto made = mixed::convertModel(model, policy::Policy(), false);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    const Names narrow = lowered(model.graph, made.value().conversion);
    QVERIFY(narrow.contains("f"));
    QVERIFY(!narrow.contains("am"));
}

/// MXNet's Embedding reads ids that are fed as reals. What moves them elsewhere would have their range; the Embedding itself moves rows.
void TestPositions::whatMovesFedIdsHasNoCodes()
{
    test::GraphBuilder g;
    const graph::Entry ids = g.variable("data", {{"__dtype__", "0"}});
    const graph::Entry table = g.variable("table", {{"__dtype__", "0"}});
    const graph::Entry words
        = g.op("Embedding", "words", {ids, table}, {{"input_dim", "1000"}, {"output_dim", "4"}});
    const graph::Entry beside = g.op("Flatten", "beside", {ids});
    const graph::Model model = g.model({words, beside});
    std::vector<policy::Warning> warnings;
    policy::Policy policy;
    policy.dataNames = std::vector<std::string>{"data"};
    const auto variables = infer::classifyVariables(model, policy, warnings);
    QVERIFY2(variables.ok(), variables.ok() ? "" : variables.error().message().c_str());
    const mixed::PositionMap found = mixed::findPositions(model.graph, variables.value(), DType::I8);
    const std::vector<std::string> refusals = mixed::refusalsOfPositions(model.graph, found);
    QCOMPARE(refusals[beside.node], std::string("positions: exact for Embedding \"words\""));
    QCOMPARE(refusals[words.node], std::string());
}

QTEST_GUILESS_MAIN(TestPositions)
#include "tst_positions.moc"

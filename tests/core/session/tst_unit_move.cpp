#include "core/session/document.h"
#include "core/session/unit_move.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using tensor::DType;

/// Attention, LayerNorm and MLP of a transformer layer (tests/data/onnx/long_rows.onnx) moved as one.
class UnitMoveTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aNodeIsInUnitsOneInAnother();
    void aMoveIsOneEditThatOneUndoTakesBack();
    void ofInt8OnlyProductsTakeIt();
    void aUnitWithoutAProductIsNoInt8();
    void whatIsDrawnWithAUnitMovesWithIt();

private:
    session::ModelUnit unitOf(const std::string &node, const std::string &title) const
    {
        const graph::Graph &graph = m_document->session().source().model.graph;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
            if (!graph.isVariable(id) && graph.node(id).name == node)
                for (const session::ModelUnit &unit : session::unitsAround(*snapshot(), {id}))
                    if (unit.title == title)
                        return unit;
        return {};
    }
    std::shared_ptr<const session::Snapshot> snapshot() const
    {
        auto made = session::Document::derive(m_document->request(), nullptr);
        if (!made.ok())
            qFatal("%s", made.error().message().c_str());
        return std::move(made).value();
    }

    std::unique_ptr<session::Document> m_document;
};

void UnitMoveTest::initTestCase()
{
    auto opened = session::Document::open(HALFTONE_TEST_DATA "/onnx/long_rows.onnx");
    if (!opened.ok() && opened.error().code == Errc::Unsupported)
        QSKIP("this build reads no ONNX models");
    QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
    m_document = std::move(opened).value();
}

void UnitMoveTest::aNodeIsInUnitsOneInAnother()
{
    const std::string layer = "/encoder/layer.0";
    const session::ModelUnit softmax = unitOf(layer + "/attention/self/Softmax", "Attention");
    QVERIFY(std::ranges::count(softmax.nodes, layer + "/attention/self/query/MatMul") == 1);
    const session::ModelUnit residual = unitOf(layer + "/attention/self/Softmax", "Residual block");
    QVERIFY(residual.nodes.size() > softmax.nodes.size());
    QVERIFY(std::ranges::count(residual.nodes, layer + "/attention/output/Add") == 1);
    QVERIFY(unitOf(layer + "/intermediate/act/Erf", "GELU").nodes.size()
            < unitOf(layer + "/intermediate/act/Erf", "MLP").nodes.size());
    QVERIFY(unitOf("/Cast", "Attention").nodes.empty());
    const session::ModelUnit block = unitOf(layer + "/attention/self/Softmax", "Transformer block");
    for (const std::string &part : residual.nodes)
        QVERIFY(std::ranges::count(block.nodes, part) == 1);
    QVERIFY(std::ranges::count(block.nodes, layer + "/intermediate/act/Erf") == 1);
    QVERIFY(std::ranges::count(block.nodes, layer + "/output/LayerNorm/Pow") == 1);
}

void UnitMoveTest::aMoveIsOneEditThatOneUndoTakesBack()
{
    const session::ModelUnit norm = unitOf("/encoder/layer.0/output/LayerNorm/Pow", "LayerNorm");
    QVERIFY(norm.nodes.size() > 5);
    QVERIFY(m_document->apply(policy::ExcludeNames{{norm.nodes.front()}}).ok());
    const auto before = m_document->policy().nodeOverrides;
    const auto edit = session::moveUnit(*snapshot(), norm, DType::F32);
    QVERIFY(edit.ok());
    QVERIFY(m_document->apply(edit.value()).ok());
    for (const std::string &name : norm.nodes)
        QVERIFY(m_document->policy().nodeOverrides.at(name) == DType::F32);
    QVERIFY(m_document->policy().excludedNames.empty());
    QCOMPARE(QString::fromStdString(m_document->undoText()).left(9), QStringLiteral("LayerNorm"));
    m_document->undo();
    QVERIFY(m_document->policy().nodeOverrides == before);
    QVERIFY(m_document->policy().excludedNames == std::vector<std::string>{norm.nodes.front()});
    m_document->undo();
}

void UnitMoveTest::ofInt8OnlyProductsTakeIt()
{
    const session::ModelUnit mlp = unitOf("/encoder/layer.0/intermediate/act/Erf", "MLP");
    const auto edit = session::moveUnit(*snapshot(), mlp, DType::I8);
    QVERIFY2(edit.ok(), edit.ok() ? "" : edit.error().message().c_str());
    QVERIFY(m_document->apply(edit.value()).ok());
    const auto &overrides = m_document->policy().nodeOverrides;
    QVERIFY(overrides.at("/encoder/layer.0/intermediate/dense/MatMul") == DType::I8);
    QVERIFY(!overrides.contains("/encoder/layer.0/intermediate/act/Erf"));
    m_document->undo();
    QVERIFY(m_document->policy().nodeOverrides.empty());
}

void UnitMoveTest::aUnitWithoutAProductIsNoInt8()
{
    const session::ModelUnit gelu = unitOf("/encoder/layer.0/intermediate/act/Erf", "GELU");
    QVERIFY(!gelu.nodes.empty());
    session::ModelUnit erf{"Erf", {"/encoder/layer.0/intermediate/act/Erf"}};
    QVERIFY(!session::moveUnit(*snapshot(), erf, DType::I8).ok());
}

/// A folded unit is dragged with the constants that stand in its block.
void UnitMoveTest::whatIsDrawnWithAUnitMovesWithIt()
{
    const auto of = snapshot();
    const session::ModelUnit mlp = unitOf("/encoder/layer.0/intermediate/act/Erf", "MLP");
    std::vector<graph::NodeId> nodes;
    for (graph::NodeId id = 0; id < of->graph().nodeCount(); ++id)
        if (const std::string &name = of->graph().node(id).name;
            name == "/Cast" || std::ranges::count(mlp.nodes, name) == 1)
            nodes.push_back(id);
    QCOMPARE(nodes.size(), mlp.nodes.size() + 1);
    const auto around = session::unitsAround(*of, nodes);
    QCOMPARE(around.size(), std::size_t{1});
    QCOMPARE(around.front().nodes, mlp.nodes);
}

QTEST_GUILESS_MAIN(UnitMoveTest)
#include "tst_unit_move.moc"

#include "core/latency/typed_model.h"
#include "tests/support/build_graph.h"

#include <QTest>

using namespace halftone;
using tensor::DType;

namespace {

/// Two operators in float16 and one in float32, then a cast's own.
graph::Model mixedModel()
{
    test::GraphBuilder g;
    const auto narrow = g.op("amp_cast", "narrow", {g.variable("data")}, {{"dtype", "float16"}});
    const auto relu = g.op("relu", "relu", {narrow});
    const auto wide = g.op("amp_cast", "wide", {relu}, {{"dtype", "float32"}});
    return g.model({g.op("exp", "exp", {wide})});
}

} // namespace

class TestTypedModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyTypeAndShapeIsKnown();
    void shapesThatContradictAreRefused();
    void layersOfEmulatedTypesAreCounted();
};

void TestTypedModel::everyTypeAndShapeIsKnown()
{
    const auto typed = latency::typedModel(mixedModel(), {{"data", {2, 3}}}, {});
    QVERIFY(typed.ok());
    const graph::Graph &graph = typed.value().model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        QVERIFY(typed.value().types.at(id, 0) != DType::Unknown);
        QVERIFY(typed.value().shapes.byNode[id][0] == tensor::Shape({2, 3}));
    }
}

void TestTypedModel::shapesThatContradictAreRefused()
{
    test::GraphBuilder g;
    const auto sum = g.op("elemwise_add", "sum", {g.variable("a"), g.variable("b")});
    const auto typed = latency::typedModel(g.model({sum}), {{"a", {2, 3}}, {"b", {4, 3}}}, {});
    QVERIFY(!typed.ok());
    QVERIFY(typed.error().code == Errc::BadInput);
}

void TestTypedModel::layersOfEmulatedTypesAreCounted()
{
    const auto typed = latency::typedModel(mixedModel(), {{"data", {2, 3}}}, {});
    backends::BackendInfo backend;
    backend.dtypes = {{DType::F32, kernels::Support::Native},
                      {DType::F16, kernels::Support::Emulated},
                      {DType::BF16, kernels::Support::Emulated}};
    const auto emulated = latency::emulatedLayers(typed.value(), backend);
    QCOMPARE(emulated.size(), std::size_t{1}); // nothing is in bfloat16
    QVERIFY(emulated[0].type == DType::F16);
    QCOMPARE(emulated[0].count, std::size_t{2}); // the cast and the ReLU
    backend.dtypes[1].second = kernels::Support::Native;
    QVERIFY(latency::emulatedLayers(typed.value(), backend).empty());
}

QTEST_GUILESS_MAIN(TestTypedModel)
#include "tst_typed_model.moc"

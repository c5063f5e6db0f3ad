#include "core/infer/infer_types.h"
#include "tests/support/build_graph.h"

#include <QTest>

using namespace halftone;
using tensor::DType;

class TestInferTypes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void typesTravelForwardAndBackToParameters();
    void aBatchNormOfHalfDataHasFloat32Parameters();
    void anIntegerPassesAnAmpCastUntouched();
    void aContradictionNamesNodeAndInput();
    void aContradictionIsToldThoughAnotherInputIsOpen();
    void outputsOfUnknownOperatorsStayOpen();
};

void TestInferTypes::typesTravelForwardAndBackToParameters()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    const auto w = g.variable("w");
    const auto fc = g.op("FullyConnected", "fc", {x, w}, {{"num_hidden", "4"}, {"no_bias", "True"}});
    const auto types = infer::inferTypes(g.withHeads({fc}), std::vector{DType::F16});
    QVERIFY(types.ok());
    QCOMPARE(types.value().of(w), DType::F16);
    QCOMPARE(types.value().of(fc), DType::F16);
}

void TestInferTypes::aBatchNormOfHalfDataHasFloat32Parameters()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    std::vector<graph::Entry> inputs{x};
    for (const char *name : {"gamma", "beta", "mean", "var"})
        inputs.push_back(g.variable(name));
    const auto bn = g.op("BatchNorm", "bn", inputs);
    const auto types = infer::inferTypes(g.withHeads({bn}), std::vector{DType::BF16});
    QVERIFY(types.ok());
    QCOMPARE(types.value().of(bn), DType::BF16);
    for (std::size_t k = 1; k < inputs.size(); ++k)
        QCOMPARE(types.value().of(inputs[k]), DType::F32);
}

void TestInferTypes::anIntegerPassesAnAmpCastUntouched()
{
    test::GraphBuilder g;
    const auto cast = g.op("amp_cast", "c", {g.variable("ids")}, {{"dtype", "float16"}});
    const auto types = infer::inferTypes(g.withHeads({cast}), std::vector{DType::I32});
    QVERIFY(types.ok());
    QCOMPARE(types.value().of(cast), DType::I32);
}

void TestInferTypes::aContradictionNamesNodeAndInput()
{
    test::GraphBuilder g;
    const auto sum = g.op("elemwise_add", "sum", {g.variable("a"), g.variable("b")});
    const auto types = infer::inferTypes(g.withHeads({sum}), std::vector{DType::F16, DType::F32});
    QVERIFY(!types.ok());
    QCOMPARE(types.error().where, std::string("sum"));
    QVERIFY(types.error().found.find("float16, float32") != std::string::npos);
}

void TestInferTypes::aContradictionIsToldThoughAnotherInputIsOpen()
{
    test::GraphBuilder g;
    const auto conv = g.op("Convolution", "conv", {g.variable("x"), g.variable("w"), g.variable("b")},
                           {{"kernel", "(1, 1)"}, {"num_filter", "4"}});
    const auto types = infer::inferTypes(g.withHeads({conv}), std::vector{DType::F16, DType::F32});
    QVERIFY(!types.ok());
    QVERIFY(types.error().found.find("input 1 (w)") != std::string::npos);
}

void TestInferTypes::outputsOfUnknownOperatorsStayOpen()
{
    test::GraphBuilder g;
    const auto odd = g.op("NoSuchOp", "odd", {g.variable("a")});
    const auto types = infer::inferTypes(g.withHeads({g.op("relu", "r", {odd})}), std::vector{DType::F32});
    QVERIFY(types.ok());
    QCOMPARE(types.value().of(odd), DType::Unknown);
}

QTEST_APPLESS_MAIN(TestInferTypes)
#include "tst_infer_types.moc"

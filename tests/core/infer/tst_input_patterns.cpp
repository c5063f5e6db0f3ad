#include "core/infer/input_patterns.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

using namespace halftone;
using tensor::DType;

namespace {

graph::Model decoder()
{
    test::OnnxBuilder g(17);
    const auto ids = g.input("ids", "int64", "[1]");
    const auto key = g.input("past.0.key", "float32", "[1]");
    const auto value = g.input("past.0.value", "float32", "[1]");
    const auto weight = g.input("past.weight", "float32", "[1]");
    return {g.withHeads({g.op("Concat", "y", {{"axis", "0"}}, {key, value, weight}),
                         g.op("Identity", "z", {}, {ids})}),
            {test::OnnxBuilder::floats("past.weight", {1}, {1})},
            true};
}

} // namespace

/// Names of inputs may be patterns where a policy is applied to a model.
class TstInputPatterns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void inputsThatMatchTakeTheType()
    {
        policy::Policy policy;
        policy.inputDtypes = {{"/^past/", DType::F16}, {"past.0.key", DType::BF16}};
        QVERIFY(infer::expandInputTypes(decoder(), policy).ok());
        QCOMPARE(policy.inputDtypes,
                 (std::map<std::string, DType>{{"past.0.key", DType::BF16}, {"past.0.value", DType::F16}}));
    }

    void namesStayAsTheyAre()
    {
        policy::Policy policy;
        policy.inputDtypes = {{"nobody", DType::F16}}; // a warning elsewhere
        QVERIFY(infer::expandInputTypes(decoder(), policy).ok());
        QCOMPARE(policy.inputDtypes.size(), std::size_t{1});
    }

    void whatMatchesNothingIsRefused()
    {
        for (const char *text : {"/present/", "/(/", "/weight/"}) {
            policy::Policy policy;
            policy.inputDtypes = {{text, DType::F16}};
            const auto expanded = infer::expandInputTypes(decoder(), policy);
            QVERIFY2(!expanded.ok(), text);
            QCOMPARE(expanded.error().field, Field::InputType);
        }
    }
};

QTEST_APPLESS_MAIN(TstInputPatterns)
#include "tst_input_patterns.moc"

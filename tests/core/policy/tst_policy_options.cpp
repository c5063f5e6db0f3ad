#include "core/policy/policy_options.h"

#include <QTest>

using namespace halftone::policy;
using halftone::Errc;
using halftone::tensor::DType;

class PolicyOptionsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void conditionsAreSplitAtColonEqualsAndCommas()
    {
        Policy policy;
        QVERIFY(addConditional(policy, "LeakyReLU:act_type=elu, selu").ok());
        QVERIFY(addConditional(policy, "Pooling:kernel=(3, 3),[2,2],5").ok());
        const std::vector<ConditionalRule> expected{{"LeakyReLU", "act_type", {"elu", "selu"}},
                                                    {"Pooling", "kernel", {"(3, 3)", "[2,2]", "5"}}};
        QVERIFY(policy.addedConditions == expected);
        QVERIFY(!policy.conditionalOps);
    }

    void namesMayHoldEqualsAndColons()
    {
        Policy policy;
        QVERIFY(addOverride(policy, "block=1:conv=float32").ok());
        QVERIFY(addOverride(policy, "fc=fp16").ok());
        QVERIFY(addOverride(policy, "fc=float32").ok());
        QVERIFY(addInputDtype(policy, "ids:0=int32").ok());
        QVERIFY((policy.nodeOverrides
                 == std::map<std::string, DType>{{"block=1:conv", DType::F32}, {"fc", DType::F32}}));
        QVERIFY((policy.inputDtypes == std::map<std::string, DType>{{"ids:0", DType::I32}}));
    }

    void movesAndExclusionsKeepTheirOrder()
    {
        Policy policy;
        QVERIFY(addMove(policy, "softmax", Policy::Move::To::Target).ok());
        QVERIFY(addMove(policy, "softmax", Policy::Move::To::Fp32).ok());
        QVERIFY(addExcluded(policy, "fc").ok());
        QVERIFY(addExcluded(policy, "/conv/").ok());
        QVERIFY((policy.moves
                 == std::vector<Policy::Move>{{"softmax", Policy::Move::To::Target},
                                              {"softmax", Policy::Move::To::Fp32}}));
        QVERIFY((policy.excludedNames == std::vector<std::string>{"fc", "/conv/"}));
    }

    void targetAndModeAreSet()
    {
        Policy policy;
        QVERIFY(setTarget(policy, "bf16").ok());
        QVERIFY(setMode(policy, "mxnet").ok());
        QCOMPARE(policy.target, DType::BF16);
        QVERIFY(policy.mode == Mode::NodeForNode);
    }

    void badTextsAreBadCallsAndChangeNothing_data()
    {
        QTest::addColumn<QByteArray>("option");
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char *option, const char *text, const char *message) {
            QTest::addRow("%s %s", option, text)
                << QByteArray(option) << std::string(text) << std::string(message);
        };
        row("conditional", "Activation", "condition: \"Activation\", expected OP:ATTR=V1,V2");
        row("conditional", ":a=b", "condition: \":a=b\", expected OP:ATTR=V1,V2");
        row("conditional", "A:=b", "condition: \"A:=b\", expected OP:ATTR=V1,V2");
        row("conditional", "A=b:c", "condition: \"A=b:c\", expected OP:ATTR=V1,V2");
        row("conditional", "A:b=", "condition: an empty value in \"A:b=\", expected OP:ATTR=V1,V2");
        row("conditional", "A:b=c,,d", "condition: an empty value in \"A:b=c,,d\", expected OP:ATTR=V1,V2");
        row("override", "conv0", "override: \"conv0\", expected NAME=DTYPE");
        row("override", "=float32", "override: \"=float32\", expected NAME=DTYPE");
        row("override", "conv0=float33",
            "override: unknown type \"float33\" in \"conv0=float33\", expected an element type, such as "
            "float16 or int32");
        row("input", "ids=",
            "input type: unknown type \"\" in \"ids=\", expected an element type, such as float16 or int32");
        row("exclude", "", "exclusion: an empty name, expected a node's name or /pattern/");
        row("move", "", "widest operator: an empty name, expected an operator");
        row("target", "int8",
            "target type: \"int8\", expected float16 or bfloat16, or for compare float8_e4m3fn, float8_e5m2, "
            "tf32 or posit16");
        row("mode", "", "mode: \"\", expected typed, mxnet, tvm or all");
    }

    void badTextsAreBadCallsAndChangeNothing()
    {
        QFETCH(QByteArray, option);
        QFETCH(std::string, text);
        Policy policy;
        const auto result = option == "conditional" ? addConditional(policy, text)
            : option == "override"                  ? addOverride(policy, text)
            : option == "input"                     ? addInputDtype(policy, text)
            : option == "exclude"                   ? addExcluded(policy, text)
            : option == "target"                    ? setTarget(policy, text)
            : option == "mode"                      ? setMode(policy, text)
                                                    : addMove(policy, text, Policy::Move::To::Widest);
        QVERIFY(!result.ok());
        QVERIFY(result.error().code == Errc::BadCall);
        QTEST(result.error().message(), "message");
        QVERIFY(policy == Policy());
    }
};

QTEST_APPLESS_MAIN(PolicyOptionsTest)
#include "tst_policy_options.moc"

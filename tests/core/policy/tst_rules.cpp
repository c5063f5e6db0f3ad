#include "core/dialect/registry.h"
#include "core/policy/rules.h"

#include <QFile>
#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace halftone::policy;
using halftone::Errc;
using halftone::tensor::DType;

namespace {

/// What resolving said: the error, or the warnings by line.
std::string told(const Policy &policy)
{
    std::vector<Warning> warnings;
    const auto rules = resolve(policy, *halftone::dialect::dialectNamed("mxnet"), warnings);
    if (!rules.ok())
        return rules.error().message();
    std::string text;
    for (const Warning &warning : warnings)
        text += (text.empty() ? "" : "\n") + warning.entry + ' ' + warning.text;
    return text;
}

Rules resolved(const Policy &policy)
{
    std::vector<Warning> warnings;
    auto rules = resolve(policy, *halftone::dialect::dialectNamed("mxnet"), warnings);
    if (!rules.ok())
        qFatal("%s", rules.error().message().c_str());
    return std::move(rules).value();
}

/// "fp32_ops: softmax, policy"; "" for an operator in no list.
std::string place(const Rules &rules, const std::string &op)
{
    const auto at = rules.places.find(op);
    if (at == rules.places.end())
        return "";
    return std::string(nameOf(at->second.list)) + ": " + at->second.entry + ", "
        + std::string(at->second.source);
}

using Names = std::vector<std::string>;

} // namespace

class RulesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theDefaultIsTheBuiltInListsWithoutAWord()
    {
        QCOMPARE(told({}), std::string());
        const Rules rules = resolved({});
        QCOMPARE(place(rules, "Convolution"),
                 std::string("target_dtype_ops: Convolution, built-in float16 1.9.1"));
        QCOMPARE(place(rules, "softmax"), std::string("fp32_ops: softmax, built-in float16 1.9.1"));
        QCOMPARE(place(rules, "elemwise_add"),
                 std::string("widest_dtype_ops: elemwise_add, built-in float16 1.9.1"));
        QCOMPARE(place(rules, "Activation"),
                 std::string("conditional_fp32_ops: Activation, built-in float16 1.9.1"));
        QCOMPARE(place(rules, "Pooling"), std::string("fp16_fp32_ops: Pooling, built-in float16 1.9.1"));
        QCOMPARE(place(rules, "no_such_op"), std::string());
        const std::vector<ConditionalRule> expected{{"LeakyReLU", "act_type", {"elu", "selu"}}};
        QVERIFY(rules.conditions.at("LeakyReLU") == expected);
    }

    void everyTypeAndVersionResolvesWithoutAWord()
    {
        for (const DType type : {DType::F16, DType::BF16}) {
            for (const char *version : {"1.9.1", "2.0.0b1", "master"}) {
                Policy policy;
                policy.target = type;
                policy.listVersion = version;
                QCOMPARE(told(policy), std::string());
            }
        }
        Policy policy;
        policy.listVersion = "master";
        QCOMPARE(place(resolved(policy), "_npi_matmul"),
                 std::string("target_dtype_ops: _npi_matmul, built-in float16 master"));
    }

    /// `_add` stands neutral and `_sparse_FullyConnected` in fp32 (bfloat16), but the reference matches only
    /// elemwise_add and FullyConnected.
    void builtInAliasesPlaceNothing()
    {
        Policy policy;
        policy.target = DType::BF16;
        const Rules rules = resolved(policy);
        QVERIFY(place(rules, "elemwise_add").starts_with("widest_dtype_ops"));
        QVERIFY(place(rules, "FullyConnected").starts_with("target_dtype_ops"));
        QCOMPARE(place(rules, "_add"), std::string());
    }

    void aGivenListReplacesTheBuiltInOne()
    {
        Policy policy;
        policy.fp32Ops = Names{"log"};
        const Rules rules = resolved(policy);
        QCOMPARE(place(rules, "log"), std::string("fp32_ops: log, policy"));
        QCOMPARE(place(rules, "softmax"), std::string());
        QVERIFY(place(rules, "Convolution").starts_with("target_dtype_ops"));
        policy.conditionalOps.emplace();
        QVERIFY(resolved(policy).conditions.empty());
    }

    void aliasesInAGivenListCountAsTheirOperatorAndAreTold()
    {
        Policy policy;
        policy.fp32Ops = Names{"Softmax"};
        QCOMPARE(told(policy), std::string("fp32_ops: \"Softmax\" is an alias of SoftmaxOutput"));
        QCOMPARE(place(resolved(policy), "SoftmaxOutput"),
                 std::string("fp32_ops: Softmax (alias of SoftmaxOutput), policy"));
    }

    void aPastedBuiltInListMeansWhatTheBuiltInListMeans()
    {
        for (const DType type : {DType::F16, DType::BF16}) {
            Policy pasted;
            pasted.target = type;
            const QString file
                = QStringLiteral("%1/resources/oplists/%2.json")
                      .arg(QStringLiteral(HALFTONE_SOURCE_DIR),
                           type == DType::F16 ? QStringLiteral("float16") : QStringLiteral("bfloat16"));
            QFile source(file);
            QVERIFY(source.open(QIODevice::ReadOnly));
            const QJsonObject lists = QJsonDocument::fromJson(source.readAll()).object();
            const auto names = [&](const char *key) {
                Names all;
                for (const auto &name : lists[QLatin1String(key)].toArray())
                    all.push_back(name.toString().toStdString());
                return all;
            };
            pasted.targetOps = names("target_dtype_ops");
            pasted.fp32Ops = names("fp32_ops");
            pasted.widestOps = names("widest_dtype_ops");
            QCOMPARE(told(pasted), std::string());
            const Rules got = resolved(pasted);
            Policy plain;
            plain.target = type;
            const Rules want = resolved(plain);
            QCOMPARE(got.places.size(), want.places.size());
            for (const auto &[op, where] : want.places)
                QVERIFY2(got.places.at(op).list == where.list, op.c_str());
        }
    }

    void anOperatorInTwoListsIsRefusedAndBothAreNamed()
    {
        Policy policy;
        policy.fp32Ops = Names{"exp", "Convolution"};
        QCOMPARE(told(policy),
                 std::string("fp32_ops[1]: \"Convolution\" is also in target_dtype_ops (built-in "
                             "float16 1.9.1), expected each operator in only one list"));
        policy.targetOps = Names{"Convolution"};
        QCOMPARE(told(policy),
                 std::string("fp32_ops[1]: \"Convolution\" is also in target_dtype_ops (policy), "
                             "expected each operator in only one list"));
        Policy conditional;
        conditional.targetOps = Names{"Activation"};
        QCOMPARE(told(conditional),
                 std::string("target_dtype_ops[0]: \"Activation\" is also in conditional_fp32_ops "
                             "(built-in float16 1.9.1), expected each operator in only one list"));
        Policy given;
        given.conditionalOps = {{"softmax", "axis", {"1"}}};
        QVERIFY(told(given).starts_with(
            "conditional_fp32_ops[0]: \"softmax\" is also in fp32_ops (built-in float16 1.9.1)"));
        Policy alias;
        alias.fp32Ops = Names{"_npx_convolution"};
        QVERIFY(told(alias).starts_with("fp32_ops[0]: \"_npx_convolution (alias of Convolution)\" is also in "
                                        "target_dtype_ops"));
        Policy added;
        added.addedConditions = {{"Convolution", "no_bias", {"True"}}};
        QVERIFY(
            told(added).starts_with("condition Convolution: \"Convolution\" is also in target_dtype_ops"));
    }

    void unknownOperatorsAreRefusedWithTheNearestName()
    {
        Policy policy;
        policy.targetOps = Names{"FullyConected"};
        QCOMPARE(told(policy),
                 std::string("target_dtype_ops[0]: unknown operator \"FullyConected\" (did you mean "
                             "FullyConnected?), expected an operator of MXNet"));
        Policy moved;
        moved.moves = {{"NoSuchOperatorAtAll", Policy::Move::To::Fp32}};
        QCOMPARE(told(moved),
                 std::string("fp32 operator NoSuchOperatorAtAll: unknown operator \"NoSuchOperatorAtAll\", "
                             "expected an operator of MXNet"));
        Policy condition;
        condition.conditionalOps = {{"Poolin", "pool_type", {"avg"}}};
        QVERIFY(told(condition).starts_with(
            "conditional_fp32_ops[0]: unknown operator \"Poolin\" (did you mean Pooling"));
    }

    void operatorsThatOnlyOtherListsNameAreTakenAndTold()
    {
        Policy policy;
        policy.targetOps = Names{"_npi_matmul"};
        QCOMPARE(told(policy),
                 std::string("target_dtype_ops: \"_npi_matmul\" is not an operator of MXNet 1.9.1, only the "
                             "lists of mxnet 2.0.0beta1 name it"));
        policy.listVersion = "master";
        QCOMPARE(told(policy), std::string());
    }

    void givenListsBeatTheBuiltInWidestListAndTheOtherWayRound()
    {
        Policy target;
        target.targetOps = Names{"elemwise_add"};
        QCOMPARE(told(target), std::string());
        QCOMPARE(place(resolved(target), "elemwise_add"),
                 std::string("target_dtype_ops: elemwise_add, policy"));
        Policy widest;
        widest.widestOps = Names{"softmax", "LeakyReLU"};
        QCOMPARE(told(widest),
                 std::string("widest_dtype_ops: \"LeakyReLU\" removes the operator from the built-in "
                             "conditional_fp32_ops"));
        QCOMPARE(place(resolved(widest), "softmax"), std::string("widest_dtype_ops: softmax, policy"));
        QVERIFY(!resolved(widest).conditions.contains("LeakyReLU"));
        Policy conditional;
        conditional.conditionalOps = {{"Concat", "dim", {"0"}}};
        QCOMPARE(told(conditional),
                 std::string("conditional_fp32_ops: \"Concat\" removes the operator from the built-in "
                             "widest_dtype_ops: it is neutral where no condition holds"));
        Policy both;
        both.widestOps = Names{"dot"};
        both.targetOps = Names{"dot"};
        QVERIFY(told(both).starts_with("widest_dtype_ops[0]: \"dot\" is also in target_dtype_ops (policy)"));
    }

    void conditionsOnAttributesThatDoNotExistAreRefused()
    {
        Policy policy;
        policy.conditionalOps = {{"Activation", "act_type", {"softrelu"}}, {"Pooling", "pool_typ", {"avg"}}};
        const std::string text = told(policy);
        QVERIFY2(text.starts_with("conditional_fp32_ops[1]: Pooling has no attribute \"pool_typ\" (did you "
                                  "mean pool_type?), expected one of "),
                 text.c_str());
        QVERIFY(text.find("kernel") != std::string::npos
                && text.find("pooling_convention") != std::string::npos);
        Policy none;
        none.conditionalOps = {{"Flatten", "axis", {"1"}}};
        QCOMPARE(told(none),
                 std::string("conditional_fp32_ops[0]: Flatten has no attribute \"axis\", expected an "
                             "operator that has attributes"));
    }

    void conditionValuesThatCannotBeAreTold()
    {
        Policy policy;
        policy.conditionalOps = {{"Pooling", "pool_type", {"avgg", "max"}},
                                 {"Pooling", "kernel", {"(2, 2)", "two"}},
                                 {"Pooling", "global_pool", {"yes", "True"}},
                                 {"Pooling", "pool_type", {}}};
        QCOMPARE(
            told(policy),
            std::string(
                "conditional_fp32_ops: \"Pooling\" pool_type is never \"avgg\" (did you mean avg?), expected "
                "one of avg, lp, max, sum\n"
                "conditional_fp32_ops: \"Pooling\" kernel is never \"two\", expected a list of numbers\n"
                "conditional_fp32_ops: \"Pooling\" global_pool is never \"yes\", expected True or False\n"
                "conditional_fp32_ops: \"Pooling\" pool_type has no values: the condition never holds"));
        QCOMPARE(resolved(policy).conditions.at("Pooling").size(), std::size_t{4});
    }

    void addedConditionsJoinThoseInForce()
    {
        Policy policy;
        policy.addedConditions = {{"Pooling", "pool_type", {"avg"}}, {"LeakyReLU", "slope", {"0.1"}}};
        const Rules rules = resolved(policy);
        QCOMPARE(place(rules, "Pooling"), std::string("conditional_fp32_ops: Pooling, added"));
        QCOMPARE(rules.conditions.at("LeakyReLU").size(), std::size_t{2});
        QVERIFY(rules.conditions.contains("Activation"));
    }

    void movesTakeTheOperatorFromWhereverItStands()
    {
        Policy policy;
        policy.moves = {{"softmax", Policy::Move::To::Target},    {"Convolution", Policy::Move::To::Fp32},
                        {"Activation", Policy::Move::To::Target}, {"_sparse_cosh", Policy::Move::To::Widest},
                        {"Pooling", Policy::Move::To::Fp32},      {"Pooling", Policy::Move::To::Target}};
        QCOMPARE(told(policy),
                 std::string("moves: \"Activation\" removes the operator's rules from conditional_fp32_ops\n"
                             "widest_dtype_ops: \"_sparse_cosh\" is an alias of cosh"));
        const Rules rules = resolved(policy);
        QCOMPARE(place(rules, "softmax"), std::string("target_dtype_ops: softmax, moved"));
        QCOMPARE(place(rules, "Convolution"), std::string("fp32_ops: Convolution, moved"));
        QCOMPARE(place(rules, "Activation"), std::string("target_dtype_ops: Activation, moved"));
        QCOMPARE(place(rules, "cosh"), std::string("widest_dtype_ops: _sparse_cosh (alias of cosh), moved"));
        QCOMPARE(place(rules, "Pooling"), std::string("target_dtype_ops: Pooling, moved"));
        QVERIFY(!rules.conditions.contains("Activation"));
    }

    void operatorsWithNothingToCastAreRefused()
    {
        for (const char *op : {"_zeros", "_arange"}) {
            Policy policy;
            policy.targetOps = Names{op};
            QCOMPARE(told(policy),
                     "target_dtype_ops[0]: \"" + std::string(op)
                         + "\" has no inputs to cast, expected an operator with inputs");
            policy.targetOps.reset();
            policy.moves = {{op, Policy::Move::To::Widest}};
            QVERIFY(told(policy).starts_with("widest operator " + std::string(op) + ": \"" + op
                                             + "\" has no inputs"));
        }
        Policy policy;
        policy.widestOps = Names{"BatchNorm"};
        QCOMPARE(told(policy),
                 std::string("widest_dtype_ops[0]: \"BatchNorm\" writes to its inputs, so they cannot be "
                             "cast to the widest type, expected an operator that only reads its inputs"));
        policy.widestOps.reset();
        // UpSampling's inputs hang on an attribute that has no default.
        policy.targetOps = Names{"BatchNorm", "Concat", "add_n", "_foreach", "UpSampling"};
        QCOMPARE(told(policy), std::string());
    }

    void overridesToAThirdTypeAreRefused()
    {
        Policy policy;
        policy.nodeOverrides = {{"conv0", DType::F16}, {"fc", DType::F32}};
        QCOMPARE(told(policy), std::string());
        policy.target = DType::BF16;
        QCOMPARE(told(policy),
                 std::string("node_overrides[\"conv0\"]: float16, expected float32, int8 or bfloat16"));
    }

    void targetAndVersionAreChecked()
    {
        Policy policy;
        policy.target = DType::I8;
        QCOMPARE(told(policy), std::string("target_dtype: int8, expected float16 or bfloat16"));
        policy = {};
        policy.listVersion = "1.8";
        QCOMPARE(told(policy), std::string("lists: \"1.8\", expected 1.9.1, 2.0.0b1 or master"));
    }
};

QTEST_APPLESS_MAIN(RulesTest)
#include "tst_rules.moc"

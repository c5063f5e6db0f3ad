#include "core/policy/policy_json.h"

#include <QTest>

#include <random>

using namespace halftone::policy;
using halftone::tensor::DType;

namespace {

Policy everything()
{
    Policy policy;
    policy.target = DType::BF16;
    policy.mode = Mode::NodeForNode;
    policy.dataRule = DataRule::WithoutType;
    policy.listVersion = "master";
    policy.targetOps = {"Convolution", "FullyConnected"};
    policy.fp32Ops = std::vector<std::string>{};
    policy.widestOps = {"add_n"};
    policy.conditionalOps = {{"Activation", "act_type", {"softrelu", "tanh"}}, {"LeakyReLU", "act_type", {}}};
    policy.addedConditions = {{"Pooling", "pool_type", {"avg"}}};
    policy.moves = {{"softmax", Policy::Move::To::Target},
                    {"exp", Policy::Move::To::Fp32},
                    {"dot", Policy::Move::To::Widest}};
    policy.excludedNames = {"conv0", "/fc./", "Größe"};
    policy.nodeOverrides = {{"a=b", DType::F32}, {"c", DType::BF16}};
    policy.reasons = {{"a=b", "float32: lowering it to bfloat16 costs 4.1 dB for 0.020 ms"}};
    policy.inputDtypes = {{"ids", DType::I32}, {"data", DType::F32}};
    policy.dataNames = {"data", "ids"};
    policy.int8Ops = {"Convolution"};
    policy.thresholdMethod = ThresholdMethod::Entropy;
    policy.thresholds = {{"conv0_output", {kDefaultThresholdMethod, 3.5}},
                         {"data", {kDefaultThresholdMethod, 0.1}},
                         {"relu1_output", {ThresholdMethod::Percentile, std::nullopt}}};
    policy.castParams = true;
    policy.keepIoTypes = true;
    policy.share = false;
    return policy;
}

std::string errorOf(std::string_view json)
{
    const auto policy = readPolicy(json);
    return policy.ok() ? "no error" : policy.error().message();
}

} // namespace

class PolicyJsonTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anEmptyObjectIsTheDefaultPolicy()
    {
        const auto policy = readPolicy("{}");
        QVERIFY(policy.ok());
        QVERIFY(policy.value() == Policy());
        QCOMPARE(writePolicy(Policy()), std::string("{\n  \"target_dtype\": \"float16\"\n}\n"));
    }

    void everyKeyIsRead()
    {
        const auto policy = readPolicy(R"({
            "target_dtype": "bfloat16", "mode": "mxnet", "api": "convert_symbol", "lists": "master",
            "target_dtype_ops": ["Convolution", "FullyConnected"], "fp32_ops": [], "widest_dtype_ops": ["add_n"],
            "conditional_fp32_ops": [["Activation", "act_type", ["softrelu", "tanh"]], ["LeakyReLU", "act_type", []]],
            "added_conditional_fp32_ops": [["Pooling", "pool_type", ["avg"]]],
            "moves": [["softmax", "target_dtype_ops"], ["exp", "fp32_ops"], ["dot", "widest_dtype_ops"]],
            "excluded_sym_names": ["conv0", "\u002ffc.\u002f", "Gr\u00f6\u00dfe"],
            "node_overrides": {"a=b": "float32", "c": "bf16"},
            "reasons": {"a=b": "float32: lowering it to bfloat16 costs 4.1 dB for 0.020 ms"}, "input_dtypes": {"ids": "int32", "data": "fp32"},
            "data_names": ["data", "ids"], "cast_optional_params": true, "keep_io_types": true, "share": false, "int8_ops": ["Convolution"],
            "threshold_method": "entropy", "thresholds": {"conv0_output": 3.5, "data": 1e-1, "relu1_output": "percentile"}})");
        QVERIFY2(policy.ok(), policy.ok() ? "" : policy.error().message().c_str());
        QVERIFY(policy.value() == everything());
    }

    void aThresholdIsANumberAboveZeroOrAMethod()
    {
        const char *const expected = "a number above 0, or one of minmax, entropy, percentile, mse";
        for (const char *text : {"0", "-1", "1e999", "true", "null", "\"naive\"", "[1]", "{}"}) {
            const std::string error = errorOf(R"({"thresholds": {"a": 1, "b": )" + std::string(text) + "}}");
            QVERIFY2(error != "no error", text);
            QVERIFY2(QString::fromStdString(error).contains("thresholds[\"b\"]")
                         || std::string(text) == "1e999", // refused by the parser
                     error.c_str());
            if (std::string(text) != "1e999")
                QVERIFY2(QString::fromStdString(error).contains(expected), error.c_str());
        }
        QVERIFY(errorOf(R"({"thresholds": {"a": 1, "a": 2}})") != "no error");
        QVERIFY(errorOf(R"({"threshold_method": "kl"})") != "no error");
        QCOMPARE(readPolicy(R"({"thresholds": {"a": 2}})").value().thresholds.at("a").value, 2.0);
    }

    void aReasonIsAText()
    {
        QCOMPARE(readPolicy(R"({"reasons": {"a": "because"}})").value().reasons.at("a"),
                 std::string("because"));
        const std::string error = errorOf(R"({"reasons": {"a": "because", "b": 3}})");
        QVERIFY2(QString::fromStdString(error).contains("reasons[\"b\"]"), error.c_str());
        QVERIFY(errorOf(R"({"reasons": {"a": "because", "a": "why"}})") != "no error");
        QVERIFY(errorOf(R"({"reasons": ["a"]})") != "no error");
    }

    void whatIsWrittenReadsAsTheSame()
    {
        const auto policy = readPolicy(writePolicy(everything()));
        QVERIFY2(policy.ok(), policy.ok() ? "" : policy.error().message().c_str());
        QVERIFY(policy.value() == everything());
    }

    void quotesAndLineBreaksInNamesSurvive()
    {
        Policy policy;
        policy.excludedNames = {"say \"no\"\n", "a\\b"};
        const auto again = readPolicy(writePolicy(policy));
        QVERIFY(again.ok() && again.value() == policy);
    }

    void anyPartOfAPolicySurvivesTheRoundTrip()
    {
        std::mt19937 random(3);
        for (int round = 0; round < 500; ++round) {
            Policy policy = everything();
            const auto drop = [&](auto &member) {
                if (random() % 2)
                    member = {};
            };
            drop(policy.mode), drop(policy.dataRule), drop(policy.targetOps), drop(policy.fp32Ops),
                drop(policy.widestOps);
            drop(policy.conditionalOps), drop(policy.addedConditions), drop(policy.moves),
                drop(policy.excludedNames);
            drop(policy.nodeOverrides), drop(policy.inputDtypes), drop(policy.dataNames),
                drop(policy.int8Ops);
            drop(policy.castParams), drop(policy.keepIoTypes), drop(policy.share);
            const auto again = readPolicy(writePolicy(policy));
            QVERIFY(again.ok() && again.value() == policy);
        }
    }

    void nullCountsAsAbsent()
    {
        const auto policy
            = readPolicy(R"({"fp32_ops": null, "mode": null, "target_dtype": null, "node_overrides": null,
            "cast_optional_params": null, "conditional_fp32_ops": null})");
        QVERIFY(policy.ok() && policy.value() == Policy());
    }

    void shortNamesOfTheTargetAreTaken()
    {
        for (const auto &[text, type] : {std::pair{"fp16", DType::F16},
                                         {"half", DType::F16},
                                         {"bf16", DType::BF16},
                                         {"float16", DType::F16}}) {
            const auto policy = readPolicy(std::string("{\"target_dtype\": \"") + text + "\"}");
            QVERIFY(policy.ok());
            QCOMPARE(policy.value().target, type);
        }
    }

    void whatDoesNotFitIsRefusedWithItsPath_data()
    {
        QTest::addColumn<std::string>("json");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char *json, const char *message) {
            QTest::addRow("%s", json) << std::string(json) << std::string(message);
        };
        row(R"([])", "the policy: a list, expected an object with the keys of a policy");
        row(R"("x")", "the policy: one string, \"x\", expected an object with the keys of a policy");
        row(R"(null)", "the policy: null, expected an object with the keys of a policy");
        row(R"({"fp32_op": []})", "the policy: unknown key \"fp32_op\" (did you mean fp32_ops?)");
        row(R"({"zzz": []})", "the policy: unknown key \"zzz\"");
        row(R"({"fp32_ops": [], "fp32_ops": []})", "fp32_ops: duplicate key");
        row(R"({"fp32_ops": null, "fp32_ops": []})", "fp32_ops: duplicate key");
        row(R"({"target_dtype": "int8"})",
            "target_dtype: \"int8\", expected float16 or bfloat16, or for compare float8_e4m3fn, "
            "float8_e5m2, tf32 or posit16");
        row(R"({"target_dtype": 16})",
            "target_dtype: 16, expected float16 or bfloat16, or for compare float8_e4m3fn, float8_e5m2, tf32 "
            "or posit16");
        row(R"({"mode": "fast"})", "mode: \"fast\", expected typed, mxnet, tvm or all");
        row(R"({"api": ""})", "api: \"\", expected convert_model or convert_symbol");
        row(R"({"lists": "1.8"})", "lists: \"1.8\", expected 1.9.1, 2.0.0b1 or master");
        row(R"({"excluded_sym_names": "conv0"})",
            "excluded_sym_names: one string, \"conv0\", expected a list of strings");
        row(R"({"fp32_ops": {"exp": 1}})", "fp32_ops: an object, expected a list of strings");
        row(R"({"fp32_ops": ["exp", 3]})", "fp32_ops[1]: 3, expected a string");
        row(R"({"fp32_ops": ["exp", null]})", "fp32_ops[1]: null, expected a string");
        row(R"({"fp32_ops": ["exp", "log", ["sin"]]})", "fp32_ops[2]: a list, expected a string");
        row(R"({"conditional_fp32_ops": ["Activation"]})",
            "conditional_fp32_ops[0]: one string, \"Activation\", expected [operator, attribute, [values]]");
        row(R"({"conditional_fp32_ops": [["Activation", "act_type", "softrelu"]]})",
            "conditional_fp32_ops[0][2]: one string, \"softrelu\", expected a list of strings");
        row(R"({"conditional_fp32_ops": [["A", "b", ["c"]], ["A", "b"]]})",
            "conditional_fp32_ops[1][2]: the end of the list, expected a list of strings");
        row(R"({"conditional_fp32_ops": [["A", "b", ["c"], "d"]]})",
            "conditional_fp32_ops[0][3]: one string, \"d\", expected the end of the list");
        row(R"({"conditional_fp32_ops": [["A", "b", ["c", 7.5]]]})",
            "conditional_fp32_ops[0][2][1]: 7.5, expected a string");
        row(R"({"conditional_fp32_ops": [[["A"]]]})",
            "conditional_fp32_ops[0][0]: a list, expected an operator's name");
        row(R"({"conditional_fp32_ops": [["A", true]]})",
            "conditional_fp32_ops[0][1]: true, expected an attribute's name");
        row(R"({"moves": [["exp", "neutral"]]})",
            "moves[0][1]: \"neutral\", expected target_dtype_ops, fp32_ops, widest_dtype_ops or "
            "fp16_fp32_ops");
        row(R"({"moves": [["exp"]]})",
            "moves[0][1]: the end of the list, expected target_dtype_ops, fp32_ops, widest_dtype_ops or "
            "fp16_fp32_ops");
        row(R"({"node_overrides": {"conv0": "float17"}})",
            "node_overrides[\"conv0\"]: \"float17\", expected an element type, such as float16 "
            "or int32");
        row(R"({"node_overrides": {"a": "float32", "a": "float32"}})",
            "node_overrides[\"a\"]: duplicate name");
        row(R"({"input_dtypes": ["ids"]})", "input_dtypes: a list, expected an object of {name: type}");
        row(R"({"cast_optional_params": 1})", "cast_optional_params: 1, expected true or false");
        row(R"({"cast_optional_params": "true"})",
            "cast_optional_params: one string, \"true\", expected true or false");
        row(R"({"mode": true})", "mode: true, expected typed, mxnet, tvm or all");
    }

    void whatDoesNotFitIsRefusedWithItsPath()
    {
        QFETCH(std::string, json);
        QTEST(errorOf(json), "message");
    }

    void brokenTextIsRefusedWithItsByte()
    {
        QCOMPARE(errorOf(""), std::string("byte 0: the text ends, expected the rest of the policy"));
        QCOMPARE(errorOf("{\"mode\": \"mx"),
                 std::string("byte 12: the text ends, expected the rest of the policy"));
        QCOMPARE(errorOf("<html>"), std::string("byte 0: invalid JSON at \"<html>\""));
        QCOMPARE(errorOf(R"({"mode": "mxnet"} x)"), std::string("byte 18: invalid JSON at \"x\""));
        QCOMPARE(errorOf(R"({"mode": mxnet})"), std::string("byte 9: invalid JSON at \"mxnet}\""));
        QCOMPARE(errorOf(std::string_view("{}\0{", 4)),
                 std::string("byte 2: a NUL byte, expected JSON in UTF-8"));
        QVERIFY(errorOf("{\"mode\": \"\xff\"}").starts_with("byte 10: invalid JSON"));
        QVERIFY(errorOf("\xff\xfe{").starts_with("byte 0: invalid JSON"));
        QVERIFY(readPolicy("\xef\xbb\xbf{}").ok());
    }

    void deepNestingIsRefusedAtOnce()
    {
        const std::string deep(1'000'000, '[');
        QCOMPARE(errorOf(deep),
                 std::string("the policy: a list, expected an object with the keys of a policy"));
        QCOMPARE(errorOf(R"({"fp32_ops": )" + deep), std::string("fp32_ops[0]: a list, expected a string"));
        std::string objects = R"({"node_overrides": )";
        for (int i = 0; i < 100'000; ++i)
            objects += R"({"a": )";
        QCOMPARE(errorOf(objects),
                 std::string(
                     "node_overrides[\"a\"]: an object, expected an element type, such as float16 or int32"));
    }

    void oversizedTextIsRefused()
    {
        const std::string blank(kLongestPolicy + 1, ' ');
        QCOMPARE(errorOf(blank), std::string("the policy: 8388609 bytes, expected at most 8388608"));
    }

    void everyTruncationIsAnError()
    {
        const std::string whole = writePolicy(everything());
        const std::size_t end = whole.rfind('}');
        for (std::size_t length = 0; length <= end; ++length)
            QVERIFY2(!readPolicy(std::string_view(whole).substr(0, length)).ok(),
                     std::to_string(length).c_str());
    }

    void namesThatAreNoTextAreWrittenAllTheSame()
    {
        Policy policy;
        policy.excludedNames = {"a\xff"};
        const auto again = readPolicy(writePolicy(policy));
        QVERIFY(again.ok());
        QCOMPARE(again.value().excludedNames.front(), std::string("a\xef\xbf\xbd"));
    }
};

QTEST_APPLESS_MAIN(PolicyJsonTest)
#include "tst_policy_json.moc"

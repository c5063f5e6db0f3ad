#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace halftone::test;

namespace {

const QStringList kShape{"--shape", "data=1,1,8,8"};

QString converted(const QTemporaryDir &folder, const QStringList &more)
{
    const QString prefix = folder.filePath("m");
    const CliOutcome outcome = callCli(QStringList{"convert", kSample, "--out", prefix} + more);
    if (outcome.code != 0)
        qFatal("%s", outcome.err.constData());
    return prefix + "-symbol.json";
}

CliOutcome verified(const QString &model, const QStringList &more = {})
{
    return callCli(QStringList{"verify", model, "--json"} + kShape + more);
}

} // namespace

class TestCliVerify : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aModelAsTrainedComputesInFloat32()
    {
        const CliOutcome outcome = verified(kSample);
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const auto report = outcome.json();
        QCOMPARE(report.at("types").size(), std::size_t{1});
        const auto &wide = report.at("types").at("float32");
        QCOMPARE(wide.at("operators_share").get<double>(), 1.0);
        QCOMPARE(wide.at("flops_share").get<double>(), 1.0);
        QCOMPARE(wide.at("uncosted").get<int>(), 0);
        QCOMPARE(report.at("casts").at("count").get<int>(), 0);
        QVERIFY(report.at("requested").is_null());
        QVERIFY(report.at("differences").empty());
    }

    /// Products are nearly all of the work; what they come to is counted by hand here.
    void theSharesAreThoseOfTheOperators()
    {
        QTemporaryDir folder;
        const QString model = converted(folder, {"--target", "bf16"});
        const auto report = verified(model).json();
        const auto whole = verified(kSample).json();
        QCOMPARE(report.at("flops"), whole.at("flops"));
        QCOMPARE(report.at("operators"), whole.at("operators"));
        std::int64_t flops = 0;
        int operators = 0;
        for (const auto &[type, share] : report.at("types").items()) {
            flops += share.at("flops").get<std::int64_t>();
            operators += share.at("operators").get<int>();
        }
        QCOMPARE(flops, report.at("flops").get<std::int64_t>());
        QCOMPARE(operators, report.at("operators").get<int>());
        QVERIFY(report.at("types").at("bfloat16").at("flops_share").get<double>() > 0.9);
        QVERIFY(report.at("casts").at("count").get<int>() > 0);
        for (const auto &node : report.at("nodes")) {
            if (node.at("op") == "Convolution")
                QCOMPARE(node.at("computes").get<std::string>(), std::string("bfloat16"));
        }
    }

    void aConversionIsWhatItsPolicyAsks()
    {
        QTemporaryDir folder;
        const QString policy = kSampleFolder + "all-float16-but-sum.policy.json";
        const QString model = converted(folder, {"--policy", policy});
        const CliOutcome outcome = verified(model, {"--policy", policy});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        QVERIFY(outcome.json().at("requested").get<int>() > 0);
        const CliOutcome text = callCli(QStringList{"verify", model, "--policy", policy} + kShape);
        QVERIFY(text.out.contains("compute in the requested type"));
    }

    void whatDiffersIsNamedWithItsReason()
    {
        QTemporaryDir folder;
        const QString model = converted(folder, {"--target", "float16"});
        const auto all = callCli({"info", model, "--json"}).json();
        const auto nodes = verified(model).json().at("nodes");
        std::string lowered;
        for (const auto &node : nodes) {
            if (node.at("op") == "Convolution")
                lowered = node.at("name").get<std::string>();
        }
        const CliOutcome excluded
            = verified(model, {"--target", "float16", "--exclude", QString::fromStdString(lowered)});
        QCOMPARE(excluded.code, 1);
        const auto differences = excluded.json().at("differences");
        QCOMPARE(differences.size(), std::size_t{1});
        QCOMPARE(differences[0].at("node").get<std::string>(), lowered);
        QCOMPARE(differences[0].at("requested").get<std::string>(), std::string("float32"));
        QCOMPARE(differences[0].at("computes").get<std::string>(), std::string("float16"));
        QVERIFY(differences[0].at("why").get<std::string>().find("is float16") != std::string::npos);
        QVERIFY(excluded.lastLine().startsWith("error: ") && excluded.lastLine().contains(lowered.c_str()));

        const CliOutcome untouched = verified(kSample, {"--target", "float16"});
        QCOMPARE(untouched.code, 1);
        const auto told = untouched.json();
        for (const auto &difference : told.at("differences"))
            QVERIFY(difference.at("why").get<std::string>().find("is float32") != std::string::npos);
    }

    /// What a mode or a chip decides is asked for as well: the built-in lists alone ask for something else here.
    void modesAndChipsAreHeardAsInAConversion_data()
    {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("tvm") << QStringList{"--mode", "tvm"};
        QTest::newRow("all") << QStringList{"--mode", "all"};
        QTest::newRow("conv16") << QStringList{"--hardware", "conv16"};
    }
    void modesAndChipsAreHeardAsInAConversion()
    {
        QFETCH(QStringList, how);
        QTemporaryDir folder;
        const QStringList asked = QStringList{"--target", "float16"} + how;
        const QString model = converted(folder, asked);
        const CliOutcome outcome = verified(model, asked);
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        QVERIFY(outcome.json().at("requested").get<int>() > 0);
        QCOMPARE(verified(kSample, asked).code, 1); // as trained
    }

    /// An LSTM whose weights are codes and all else float32, in every conversion.
    void aLayerOnCodesStaysAsItIs_data()
    {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("float16") << QStringList{"--target", "float16"};
        QTest::newRow("bfloat16") << QStringList{"--target", "bfloat16"};
        QTest::newRow("all") << QStringList{"--target", "float16", "--mode", "all"};
        QTest::newRow("types of inputs and outputs")
            << QStringList{"--target", "float16", "--no-keep-io-types"};
    }

    void aLayerOnCodesStaysAsItIs()
    {
        QFETCH(QStringList, how);
        QTemporaryDir folder;
        const QString layer
            = QStringLiteral(HALFTONE_TEST_DATA "/onnx_recurrent/codes_forward_int8_tensor.onnx");
        const QString made = folder.filePath("made.onnx");
        const auto outcome = callCli(QStringList{"convert", layer, "--out", made} + how);
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        QVERIFY2(!outcome.err.contains("warning"), outcome.err.constData());
        const auto report = callCli({"verify", made, "--json"}).json();
        QCOMPARE(report.at("types").size(), std::size_t{1});
        QCOMPARE(report.at("types").at("int8").at("operators").get<int>(), 1);
        QCOMPARE(report.at("casts").at("count").get<int>(), 0);
        const auto profiled = callCli({"profile", made, "--repeats", "1", "--warmup", "1", "--json"});
        QVERIFY2(profiled.code == 0, profiled.err.constData());
        const auto step = profiled.json().at("layers").at(0);
        QCOMPARE(step.at("dtype").get<std::string>(), std::string("int8"));
        QCOMPARE(step.at("kernel").get<std::string>(), std::string("own lstm on codes"));
    }

    void othersModelsAreReadToo()
    {
        const auto coded = callCli({"verify", QStringLiteral(HALFTONE_TEST_DATA "/qdq/qdq.onnx"), "--json"});
        QVERIFY2(coded.code == 0, coded.err.constData());
        QVERIFY(coded.json().at("types").at("int8").at("operators").get<int>() >= 2);
        const QString layer
            = QStringLiteral(HALFTONE_TEST_DATA "/onnx_recurrent/codes_forward_int8_tensor.onnx");
        QCOMPARE(
            callCli({"verify", layer, "--json"}).json().at("types").at("int8").at("operators").get<int>(), 1);
        QTemporaryDir folder;
        const QString prefix = folder.filePath("q");
        QCOMPARE(
            callCli({"convert", kSampleFolder + "digits.onnx", "--target", "float16", "--out", prefix}).code,
            0);
        const auto half
            = callCli({"verify", prefix + ".onnx", "--target", "float16", "--json"}); // of one example
        QVERIFY2(half.code == 0, half.err.constData());
        QVERIFY(half.json().at("types").at("float16").at("flops_share").get<double>() > 0.9);
    }

    void aShapeThatContradictsTheModelIsRefused_data()
    {
        QTest::addColumn<QString>("model");
        QTest::newRow("weights beside it") << kSample;
        QTest::newRow("weights inside") << kSampleFolder + "digits.onnx";
    }

    void aShapeThatContradictsTheModelIsRefused()
    {
        QFETCH(QString, model);
        for (const char *command : {"verify", "info"}) {
            const CliOutcome outcome = callCli({command, model, "--shape", "data=1,7,8,8"});
            QCOMPARE(outcome.code, 1);
            QVERIFY2(outcome.err.contains("shape") && outcome.err.contains("expected"),
                     outcome.err.constData());
        }
    }

    /// A loop of 2^40 steps, and one that doubles a tensor 60 times: nothing is run for what they would cost.
    void loopsAreNotRunForTheirCosts()
    {
        for (const char *name : {"loop_scan", "loop_doubling", "loop_largest"}) {
            const QString model
                = QStringLiteral(HALFTONE_TEST_DATA "/onnx_refused/%1.onnx").arg(QLatin1String(name));
            const CliOutcome outcome = callCli({"verify", model, "--json"});
            if (outcome.err.contains("without ONNX"))
                QSKIP("this build was made without ONNX");
            QVERIFY2(outcome.code == 0, outcome.err.constData());
            QCOMPARE(outcome.json().at("operators").get<int>() - outcome.json().at("in_bodies").get<int>(),
                     1);
            QVERIFY(outcome.json().at("uncosted").get<int>() >= 1);
        }
    }

    void importedListsConvertAndVerify()
    {
        QTemporaryDir folder;
        const QString call = folder.filePath("call.py");
        std::ofstream(call.toStdString())
            << "float16.convert_float_to_float16(m, keep_io_types=True, op_block_list=['Softmax', 'Own'])\n";
        const QString policy = folder.filePath("p.policy.json");
        const CliOutcome made
            = callCli({"policy", "--from", "onnxconverter", call, "--out", policy, "--json"});
        QVERIFY2(made.code == 0, made.err.constData());
        QCOMPARE(made.json().at("unmatched"), nlohmann::json::parse(R"(["Own"])"));
        const QString prefix = folder.filePath("m");
        const QString model = kSampleFolder + "digits.onnx";
        const CliOutcome out = callCli({"convert", model, "--policy", policy, "--out", prefix});
        QVERIFY2(out.code == 0, out.err.constData());
        const CliOutcome outcome = verified(prefix + ".onnx", {"--policy", policy});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        // Printed, it is the same file.
        const CliOutcome printed = callCli({"policy", "--from", "onnxconverter", call});
        QCOMPARE(nlohmann::json::parse(printed.out.toStdString()), made.json().at("policy"));
        QVERIFY(printed.err.contains("no known operator matches Own"));
        QCOMPARE(callCli({"policy", "--from", "caffe", call}).code, 2);
        QCOMPARE(callCli({"policy", "--from", "tvm", call}).code, 1);
    }
};

QTEST_GUILESS_MAIN(TestCliVerify)
#include "tst_cli_verify.moc"

#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace halftone::test;
using nlohmann::json;

namespace {

QString written(const QTemporaryDir &folder, const char *name, const char *text)
{
    const QString path = folder.filePath(QLatin1String(name));
    writeFile(path, text);
    return path;
}

json nodeOf(const json &report, const std::string &name)
{
    for (const json &node : report.at("nodes")) {
        if (node.at("name") == name)
            return node;
    }
    return {};
}

} // namespace

/// int8, bfloat16 and float32 in one graph, by the command line.
class TestCliMixed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theReportSaysWhatIsInt8()
    {
        QTemporaryDir folder;
        const auto done
            = callCli({"convert", kSample, "--out", folder.filePath("mixed"), "--target", "bfloat16",
                       "--int8-op", "Convolution", "--inputs", kCalibrationDigits, "--json"});
        QVERIFY2(done.code == 0, done.err);
        const json report = done.json();
        const json conv = nodeOf(report, "stem_conv");
        QCOMPARE(conv.at("assigned").get<std::string>(), std::string("int8"));
        QCOMPARE(conv.at("requested").get<std::string>(), std::string("int8"));
        QCOMPARE(conv.at("rule").get<std::string>(), std::string("int8-list"));
        QVERIFY(conv.contains("fused_into"));
        QCOMPARE(nodeOf(report, "fc").at("assigned").get<std::string>(), std::string("bfloat16"));
        QVERIFY(report.at("quantizes").get<int>() > 0);
        QVERIFY(report.at("dequantizes").get<int>() > 0);
        std::set<std::string> assigned;
        for (const json &node : report.at("nodes")) {
            if (node.at("op") != "null" && node.at("assigned").is_string())
                assigned.insert(node.at("assigned").get<std::string>());
        }
        QCOMPARE(assigned, (std::set<std::string>{"bfloat16", "float32", "int8"}));
        // What was written runs, and its symbol has ranges.
        const std::string symbol
            = halftone::test::readFile(folder.filePath("mixed-symbol.json").toStdString());
        QVERIFY(symbol.find("max_calib_range") != std::string::npos);
        const auto ran = callCli({"run", folder.filePath("mixed-symbol.json"), "--inputs", kDigits, "--out",
                                  folder.filePath("out.npz"), "--json"});
        QVERIFY2(ran.code == 0, ran.err);
    }

    void aPolicyFileAndATableGiveTheSameAsOptionsAndData()
    {
        QTemporaryDir folder;
        const QString table = folder.filePath("table.json");
        const auto calibrated = callCli({"calibrate", kSample, "--inputs", kCalibrationDigits, "--method",
                                         "mse", "--dtype", "auto", "--out", table});
        QVERIFY2(calibrated.code == 0, calibrated.err);
        const QString policy = written(
            folder, "p.json",
            R"({"target_dtype": "bfloat16", "int8_ops": ["Convolution"], "node_overrides": {"fc": "int8"}})");
        const auto byTable = callCli(
            {"convert", kSample, "--out", folder.filePath("a"), "--policy", policy, "--table", table});
        QVERIFY2(byTable.code == 0, byTable.err);
        const auto byData = callCli({"convert", kSample, "--out", folder.filePath("b"), "--target",
                                     "bfloat16", "--int8-op", "Convolution", "--override", "fc=int8",
                                     "--inputs", kCalibrationDigits, "--calib", "mse"});
        QVERIFY2(byData.code == 0, byData.err);
        QCOMPARE(halftone::test::readFile(folder.filePath("a-symbol.json").toStdString()),
                 halftone::test::readFile(folder.filePath("b-symbol.json").toStdString()));
    }

    void aThresholdByHandIsTheRangeThatIsWritten()
    {
        QTemporaryDir folder;
        const QString policy = written(
            folder, "p.json",
            R"({"target_dtype": "bfloat16", "int8_ops": ["Convolution"], "thresholds": {"normalized_output": 0.75}})");
        const auto done = callCli({"convert", kSample, "--out", folder.filePath("a"), "--policy", policy,
                                   "--inputs", kCalibrationDigits});
        QVERIFY2(done.code == 0, done.err);
        const std::string symbol = halftone::test::readFile(folder.filePath("a-symbol.json").toStdString());
        QVERIFY(symbol.find("\"0.750000\"") != std::string::npos);
    }

    void withoutDataRangesAreFoundAtRunTimeAndThatIsSaid()
    {
        QTemporaryDir folder;
        const auto done = callCli({"convert", kSample, "--out", folder.filePath("a"), "--target", "bfloat16",
                                   "--int8-op", "Convolution"});
        QVERIFY2(done.code == 0, done.err);
        QVERIFY2(done.err.contains("at run time"), done.err);
    }

    void comparisonAndProfileTakeSuchPolicies()
    {
        const auto compared = callCli({"compare", kSample, "--inputs", kDigits, "--examples", "64",
                                       "--target", "bfloat16", "--int8-op", "Convolution", "--json"});
        QVERIFY2(compared.code == 0, compared.err);
        const json report = compared.json();
        QVERIFY(report.at("unmatched").at("model").empty());
        QVERIFY(report.at("unmatched").at("other").empty());
        bool hasCodes = false;
        for (const json &layer : report.at("layers")) {
            if (layer.at("dtype") == "uint8" || layer.at("dtype") == "int8") {
                hasCodes = true;
                // Eight bits of a layer's values leave 20 dB at the least.
                QVERIFY2(layer.at("sqnr_db").get<double>() > 20, layer.dump().c_str());
            }
        }
        QVERIFY(hasCodes);
        QVERIFY(report.at("top1").at("agree").get<double>() > 0.9);
        const auto profiled
            = callCli({"profile", kSample, "--target", "bfloat16", "--int8-op", "Convolution", "--shape",
                       "data=1,1,8,8", "--repeats", "3", "--versus-fp32", "--json"});
        if (profiled.code == 3)
            QSKIP("this build measures nothing");
        QVERIFY2(profiled.code == 0, profiled.err);
        QVERIFY(profiled.json().at("versus").at("ratio").get<double>() > 0);
    }

    /// A file of ONNX says of each output in which type it comes; where that is not so, checkers and runtimes refuse it.
    void outputsSayTheTypesThatTheyComeIn()
    {
        QTemporaryDir folder;
        const QString model = QStringLiteral(HALFTONE_TEST_DATA "/tvm/conv_relu/model.onnx");
        const QString out = folder.filePath("low.onnx");
        for (const auto &[option, type] :
             {std::pair("--no-keep-io-types", "float16"), std::pair("--keep-io-types", "float32")}) {
            const auto made
                = callCli({"convert", model, "--mode", "tvm", "--target", "float16", option, "--out", out});
            if (made.code == 3)
                QSKIP("this build was made without ONNX");
            QVERIFY2(made.code == 0, made.err);
            const auto outputs = callCli({"info", out, "--json"}).json().at("outputs");
            QCOMPARE(outputs.at(0).at("dtype").get<std::string>(), type);
        }
    }

    void badCallsSayWhatTheyWant()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath("a");
        QVERIFY(callCli({"convert", kSample, "--out", out, "--int8-op", "Convolutoin"})
                    .lastLine()
                    .contains("did you mean"));
        QCOMPARE(callCli({"convert", kSample, "--out", out, "--override", "fc=int32"}).code, 1);
        QCOMPARE(callCli({"convert", kSample, "--out", out, "--calib", "kl"}).code, 2);
        QCOMPARE(callCli({"convert", kSample, "--out", out, "--int8-op", "Convolution", "--table",
                          folder.filePath("none.json")})
                     .code,
                 1);
    }

    void recurrentLayersAreLoweredToBfloat16_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("op");
        QTest::newRow("RNN") << "rnn_forward" << QByteArray("RNN");
        QTest::newRow("GRU") << "gru_bidirectional" << QByteArray("GRU");
        QTest::newRow("LSTM") << "lstm_reverse" << QByteArray("LSTM");
    }
    /// They take it from opset 22 on; these models are of opset 14.
    void recurrentLayersAreLoweredToBfloat16()
    {
        QFETCH(const QString, file);
        QFETCH(const QByteArray, op);
        const QString model = QStringLiteral(HALFTONE_TEST_DATA "/onnx_recurrent/") + file + ".onnx";
        QTemporaryDir folder;
        const auto done = callCli(
            {"convert", model, "--target", "bfloat16", "--out", folder.filePath("narrow"), "--json"});
        QVERIFY2(done.code == 0, done.err);
        QVERIFY2(done.err.contains("raised to 22 for bfloat16 in " + op), done.err);
        const json report = done.json();
        QCOMPARE(report.at("opset").at("to").get<int>(), 22);
        QCOMPARE(nodeOf(report, "y0").at("assigned").get<std::string>(), std::string("bfloat16"));
        const auto timed = callCli({"profile", folder.filePath("narrow.onnx"), "--repeats", "2", "--json"});
        QVERIFY2(timed.code == 0, timed.err);
        const json times = timed.json();
        int recurrent = 0;
        for (const json &layer : times.at("layers")) {
            const auto kernel = layer.at("kernel").get<std::string>();
            QVERIFY2(!kernel.starts_with("ref"), kernel.c_str());
            recurrent += kernel.starts_with("own ") ? 1 : 0;
        }
        QVERIFY(recurrent > 0);
    }
};

QTEST_GUILESS_MAIN(TestCliMixed)
#include "tst_cli_mixed.moc"

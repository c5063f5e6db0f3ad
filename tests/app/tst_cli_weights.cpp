#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

using namespace halftone::test;

namespace {

const QString kOnnx
    = kSampleFolder + QStringLiteral("digits.onnx"); // whose Gemm "fc" multiplies with 32 x 10 weights
constexpr double kBits = 4 + (32 + 4) / 32.0; // codes, and a scale and a zero point for each 32 of them

nlohmann::json written(const QStringList &arguments)
{
    const CliOutcome outcome = callCli(arguments + QStringList{"--json"});
    if (outcome.code != 0)
        qFatal("%s", outcome.err.constData());
    return outcome.json();
}

/// A policy file that wants codes.
QString policyIn(const QTemporaryDir &folder, const QByteArray &method)
{
    const QString path = folder.filePath("policy.json");
    writeFile(path,
              R"({"target_dtype": "float16", "weights": [["", "uint4/32"]], "weight_method": ")" + method
                  + "\"}");
    return path;
}

} // namespace

class TestCliWeights : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const CliOutcome outcome = callCli({"info", kOnnx});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
    }

    void quantizeWritesWhatInfoReads()
    {
        const QTemporaryDir folder;
        const QString out = folder.filePath("codes.onnx");
        const auto report = written({"quantize", kOnnx, "--weights", "uint4/32", "--out", out});
        QCOMPARE(report.at("weights").size(), std::size_t{1});
        const auto &row = report.at("weights").at(0);
        QCOMPARE(row.at("node").get<std::string>(), std::string("fc"));
        QCOMPARE(row.at("form").get<std::string>(), std::string("qdq"));
        QCOMPARE(row.at("method").get<std::string>(), std::string("mse"));
        QCOMPARE(row.at("bytes").get<int>(), 320 / 2 + 10 * 4 + 10 / 2);
        QCOMPARE(report.at("bits_per_weight").get<double>(), kBits);
        QVERIFY(report.at("skipped").empty());
        const auto info = written({"info", out});
        QCOMPARE(info.at("weights").at(0).at("format").get<std::string>(), std::string("uint4/32"));
        QCOMPARE(info.at("bits_per_weight").get<double>(), kBits);
    }

    void dataGiveCodesByGptq()
    {
        const QTemporaryDir folder;
        const auto report
            = written({"quantize", kOnnx, "--weights", "int8/32", "--inputs", kCalibrationDigits,
                       "--examples", "20", "--out", folder.filePath("codes.onnx")});
        QCOMPARE(report.at("weights").at(0).at("method").get<std::string>(), std::string("gptq"));
        QVERIFY(report.at("weights").at(0).at("sqnr_db").get<double>() > 35);
    }

    void codesGoWith16Bit()
    {
        const QTemporaryDir folder;
        const QString out = folder.filePath("both.onnx");
        const auto report
            = written({"convert", kOnnx, "--target", "float16", "--weights", "uint4/32", "--out", out});
        QCOMPARE(report.at("target").get<std::string>(), std::string("float16"));
        QCOMPARE(report.at("weights").at(0).at("node").get<std::string>(), std::string("fc"));
        QCOMPARE(report.at("bits_per_weight").get<double>(), 4 + (16 + 4) / 32.0); // scales are float16
    }

    void commandsThatDoNotFollowSaySo()
    {
        const QTemporaryDir folder;
        const QString policy = policyIn(folder, "mse");
        const CliOutcome profiled
            = callCli({"profile", kOnnx, "--policy", policy, "--shape", "data=1,1,8,8", "--repeats", "1"});
        QVERIFY2(profiled.code == 0 && profiled.err.contains("not followed here"), profiled.err.constData());
        const CliOutcome verified = callCli({"verify", kOnnx, "--policy", policy});
        QVERIFY2(verified.err.contains("weights: not verified"), verified.err.constData());
        const CliOutcome converted
            = callCli({"convert", kOnnx, "--policy", policy, "--out", folder.filePath("m")});
        QVERIFY2(converted.code == 0 && !converted.err.contains("not followed"), converted.err.constData());
    }

    void refusals_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("words");
        QTest::newRow("gptq without data")
            << QStringList{"quantize", kOnnx, "--weights", "int4/32", "--method", "gptq"}
            << QStringLiteral("--method: gptq needs data");
        QTest::newRow("form without weights")
            << QStringList{"convert", kOnnx, "--target", "float16", "--form", "qdq"}
            << QStringLiteral("--form: concerns weights");
        QTest::newRow("method without weights")
            << QStringList{"compare", kOnnx, "--method", "rtn", "--inputs", kDigits}
            << QStringLiteral("--method: concerns weights");
        QTest::newRow("block that is no power of two")
            << QStringList{"quantize", kOnnx, "--weights", "int4/48"} << QStringLiteral("int4/32 works");
        QTest::newRow("isolated errors")
            << QStringList{"compare", kOnnx, "--weights", "int4/32", "--effect", "both", "--inputs", kDigits}
            << QStringLiteral("--effect: both with formats of weights");
        QTest::newRow("int8 beside them")
            << QStringList{"quantize", kOnnx, "--weights", "int4/32", "--calib", "entropy"}
            << QStringLiteral("--calib: cannot be combined with --weights");
    }
    void refusals()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, words);
        const QTemporaryDir folder;
        if (arguments.front() != QStringLiteral("compare"))
            arguments << "--out" << folder.filePath("m");
        const CliOutcome outcome = callCli(arguments);
        QVERIFY(outcome.code != 0);
        QVERIFY2(outcome.err.contains(words.toUtf8()), outcome.err.constData());
    }

    void aPolicyMayNotAskForGptqWhereThereAreNoData()
    {
        const QTemporaryDir folder;
        const CliOutcome outcome = callCli(
            {"convert", kOnnx, "--policy", policyIn(folder, "gptq"), "--out", folder.filePath("m")});
        QVERIFY(outcome.code != 0);
        QVERIFY2(outcome.err.contains("gptq needs data"), outcome.err.constData());
    }
};

QTEST_GUILESS_MAIN(TestCliWeights)
#include "tst_cli_weights.moc"

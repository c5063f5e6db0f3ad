#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

using halftone::test::callCli;
using halftone::test::CliOutcome;
using nlohmann::json;

namespace {

using halftone::test::kDigits;
using halftone::test::kSample;

double top1(const QString &symbol)
{
    QTemporaryDir folder;
    const CliOutcome run
        = callCli({"run", symbol, "--inputs", kDigits, "--out", folder.filePath("o.npz"), "--json"});
    if (run.code != 0)
        qFatal("%s", run.err.constData());
    return run.json()["accuracy"]["top1"];
}

} // namespace

class TestCliQuantize : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSampleKeepsItsAccuracyInInt8_data()
    {
        QTest::addColumn<QString>("form");
        QTest::addColumn<QString>("method");
        for (const char *form : {"onednn", "plain"}) {
            for (const char *method : {"naive", "entropy", "percentile", "mse"})
                QTest::addRow("%s %s", form, method) << form << method;
        }
    }

    void theSampleKeepsItsAccuracyInInt8()
    {
        QFETCH(QString, form);
        QFETCH(QString, method);
        QTemporaryDir folder;
        const QString prefix = folder.filePath("int8");
        // The energy of a picture reaches 10^6: whoever divides by it stays in float32 by itself.
        const CliOutcome made = callCli({"quantize", kSample, "--inputs", kDigits, "--examples", "64",
                                         "--form", form, "--calib", method, "--out", prefix, "--json"});
        QVERIFY2(made.code == 0, made.err.constData());
        const json report = made.json();
        QCOMPARE(report["examples"], 64);
        QVERIFY(report["quantized"].size() > 4);
        for (const json &node : report["skipped"])
            QVERIFY(!node["why"].get<std::string>().empty());
        for (const json &threshold : report["thresholds"]) {
            QVERIFY(threshold.contains("sqnr_db"));
            QVERIFY(threshold.contains("sqnr_db_minmax"));
        }
        QVERIFY(top1(prefix + "-symbol.json") > top1(kSample) - 0.03);
    }

    void aTableGivesWhatTheSameCalibrationGives()
    {
        QTemporaryDir folder;
        const QString table = folder.filePath("t.json");
        QCOMPARE(callCli({"calibrate", kSample, "--inputs", kDigits, "--method", "entropy", "--dtype", "auto",
                          "--out", table})
                     .code,
                 0);
        const auto quantized = [&](const QStringList &how) {
            const QString prefix = folder.filePath("q");
            const CliOutcome made = callCli(QStringList{"quantize", kSample, "--out", prefix} + how);
            if (made.code != 0)
                qFatal("%s", made.err.constData());
            return halftone::test::readFile((prefix + "-symbol.json").toStdString());
        };
        QCOMPARE(quantized({"--table", table}), quantized({"--inputs", kDigits, "--calib", "entropy"}));
    }

    void badCallsSayWhatIsWrong()
    {
        const std::pair<QStringList, const char *> calls[] = {
            {{"--calib", "entropy"}, "--inputs"},
            {{"--table", "t.json", "--calib", "mse"}, "--table"},
            {{"--exclude", "no_such_node"}, "no_such_node"},
            {{"--exclude-op", "Convolutoin"}, "Convolution"},
            {{"--percentile", "0", "--inputs", kDigits}, "--percentile"},
        };
        QTemporaryDir folder;
        for (const auto &[options, word] : calls) {
            const CliOutcome outcome
                = callCli(QStringList{"quantize", kSample, "--out", folder.filePath("q")} + options);
            QCOMPARE(outcome.code, 2);
            QVERIFY2(outcome.err.contains(word), outcome.err.constData());
            QCOMPARE(outcome.err.count('\n'), 1);
        }
        const CliOutcome broken
            = callCli({"quantize", kSample, "--out", folder.filePath("q"), "--table", kSample});
        QCOMPARE(broken.code, 1);
    }

    void int8ModelsAreComparedLayerByLayer()
    {
        QTemporaryDir folder;
        const QString prefix = folder.filePath("int8");
        QCOMPARE(callCli({"quantize", kSample, "--inputs", kDigits, "--out", prefix}).code, 0);
        const CliOutcome compared = callCli(
            {"compare", kSample, "--against", prefix + "-symbol.json", "--inputs", kDigits, "--json"});
        QVERIFY2(compared.code == 0, compared.err.constData());
        std::size_t codes = 0;
        const json report = compared.json();
        for (const json &layer : report["layers"]) {
            if (layer["dtype"] != "int8" && layer["dtype"] != "uint8")
                continue;
            ++codes;
            QVERIFY2(layer["sqnr_db"].is_number() && layer["sqnr_db"].get<double>() > 15,
                     layer["name"].get<std::string>().c_str());
        }
        QVERIFY(codes >= 4);
    }

    void latencyIsMeasuredInInt8()
    {
        const CliOutcome outcome = callCli(
            {"profile", kSample, "--shape", "data=1,1,8,8", "--quantized", "--repeats", "3", "--json"});
        if (outcome.code == 3)
            QSKIP("this build has no latency plans");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        std::size_t codes = 0;
        const json report = outcome.json();
        for (const json &layer : report["layers"])
            codes += layer["dtype"] == "uint8" || layer["dtype"] == "int8" ? 1 : 0;
        QVERIFY(codes >= 4);
    }
};

QTEST_GUILESS_MAIN(TestCliQuantize)
#include "tst_cli_quantize.moc"

#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <signal.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QIODevice>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone::test;

namespace {

QStringList comparing(const QStringList &more)
{
    return QStringList{"compare", kSample, "--inputs", kDigits, "--json"} + more;
}

} // namespace

class TestCliCompare : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// 9.78 % and 99.33 % are what resources/sample/emulate.py finds with NumPy alone.
    void theSampleIsRuinedAndMended()
    {
        const auto ruined
            = callCli(comparing({"--policy", kSampleFolder + "all-float16.policy.json"})).json();
        QCOMPARE(ruined.at("first_divergence").get<std::string>(), std::string("energy"));
        QCOMPARE(qRound(1e4 * ruined.at("top1").at("fp32").get<double>()), 9933);
        QCOMPARE(qRound(1e4 * ruined.at("top1").at("mixed").get<double>()), 978);
        const auto mended
            = callCli(comparing({"--policy", kSampleFolder + "all-float16-but-sum.policy.json"})).json();
        QVERIFY(mended.at("first_divergence").is_null());
        QCOMPARE(qRound(1e4 * mended.at("top1").at("mixed").get<double>()), 9933);
        QCOMPARE(mended.at("top1").at("agree").get<double>(), 1.0);
        QCOMPARE(mended.at("outputs").at(0).at("name").get<std::string>(), std::string("prob_output"));
    }

    /// What the sums of the sample come to is 4,000 and more: beyond float8_e4m3fn, within the others.
    void formatsThatNoFileKnowsAreAnalysed_data()
    {
        QTest::addColumn<QString>("format");
        QTest::addColumn<double>("leastDb");
        QTest::addColumn<double>("mostDb");
        // 6 dB a bit of the mantissa: 4, 3, 11 and at most 12 significant ones.
        QTest::newRow("e4m3fn") << "float8_e4m3fn" << 15.0 << 40.0;
        QTest::newRow("e5m2") << "float8_e5m2" << 10.0 << 34.0;
        QTest::newRow("tf32") << "tf32" << 60.0 << 90.0;
        QTest::newRow("posit16") << "posit16" << 55.0 << 95.0;
    }
    /// The model itself on two backends: float32 sums in two orders, layer by layer; a policy goes to the other one.
    void oneModelOnTwoBackends()
    {
        const auto report = callCli(comparing({"--against-backend", "reference", "--examples", "8"})).json();
        QCOMPARE(report.at("backend").get<std::string>(), "cpu");
        QCOMPARE(report.at("against_backend").get<std::string>(), "reference");
        QVERIFY(!report.at("layers").empty());
        for (const auto &layer : report.at("layers"))
            QCOMPARE(layer.at("dtype").get<std::string>(), "float32");
        QVERIFY(report.at("first_divergence").is_null());
        QVERIFY(report.at("outputs")[0].at("sqnr_db").is_string()
                || report.at("outputs")[0].at("sqnr_db").get<double>() > 100);
        const auto lowered
            = callCli(comparing({"--against-backend", "reference", "--target", "float16", "--examples", "8"}))
                  .json();
        const double db = lowered.at("outputs")[0].at("sqnr_db").get<double>();
        QVERIFY2(db < 90, qPrintable(QString::number(db)));
        const CliOutcome absent = callCli(comparing({"--against-backend", "nothing"}));
        QCOMPARE(absent.code, 2);
        QCOMPARE(callCli(comparing({"--against-backend", "reference", "--effect", "isolated"})).code, 2);
    }
    void formatsThatNoFileKnowsAreAnalysed()
    {
        QFETCH(QString, format);
        QFETCH(double, leastDb);
        QFETCH(double, mostDb);
        const CliOutcome outcome = callCli(comparing(
            {"--target", format, "--examples", "32", "--effect", "both", "--backend", "reference"}));
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const auto report = outcome.json();
        QCOMPARE(report.at("analysed_format").get<std::string>(), format.toStdString());
        bool isSeen = false;
        for (const auto &layer : report.at("layers")) {
            if (layer.at("op") != "Convolution" || layer.at("dtype") != format.toStdString())
                continue;
            // Alone, a layer's error is that of its inputs, weights and result.
            const double alone = layer.at("isolated").at("sqnr_db").get<double>();
            QVERIFY2(alone > leastDb && alone < mostDb, qPrintable(QString::number(alone)));
            isSeen = true;
        }
        QVERIFY(isSeen);
        const CliOutcome byCpu = callCli(comparing({"--target", format, "--examples", "32"}));
        QVERIFY2(byCpu.code == 0, byCpu.err.constData());
        const CliOutcome text
            = callCli({"compare", kSample, "--inputs", kDigits, "--examples", "4", "--target", format});
        QVERIFY(text.out.contains("the lists of float16"));
    }

    void formatsThatNoFileKnowsAreNotWritten()
    {
        QTemporaryDir folder;
        const CliOutcome refused
            = callCli({"convert", kSample, "--target", "tf32", "--out", folder.filePath("m")});
        QCOMPARE(refused.code, 3);
        QVERIFY(refused.err.contains("--target: tf32 can only be analysed"));
        QVERIFY(QDir(folder.path()).isEmpty());
        QCOMPARE(callCli({"profile", kSample, "--target", "posit16", "--shape", "data=1,1,8,8"}).code, 3);
    }

    void everyLayerHasTheKeysOfTheContract()
    {
        QTemporaryDir folder;
        const QString csv = folder.filePath("layers.csv");
        const auto report = callCli(comparing({"--examples", "8", "--effect", "both", "--csv", csv})).json();
        for (const auto &layer : report.at("layers")) {
            for (const char *key : {"name", "op", "dtype", "max_abs", "mean_abs", "rel_l2", "cosine",
                                    "sqnr_db", "overflow", "nan", "isolated", "isolated_at_output"})
                QVERIFY2(layer.contains(key), key);
        }
        const QByteArray text = QByteArray::fromStdString(halftone::test::readFile(csv.toStdString()));
        const QList<QByteArray> lines = text.trimmed().split('\n');
        QCOMPARE(std::size_t(lines.size()), report.at("layers").size() + 1);
        for (const QByteArray &line : lines)
            QCOMPARE(line.count(','), lines[0].count(','));
    }

    /// The file is MXNet's own; what MXNet delivers of it is recorded beside it.
    void whatAFileCannotDoInMxnetIsToldAndCanBeComputed()
    {
        const QString folder = QStringLiteral(HALFTONE_TEST_DATA "/delivery/");
        const QStringList call{"compare",   folder + "int8-addend-symbol.json",
                               "--inputs",  folder + "int8-addend.npz",
                               "--against", folder + "int8-addend-symbol.json"};
        const CliOutcome defined = callCli(call + QStringList{"--json"});
        QVERIFY2(defined.code == 0, defined.err.constData());
        QCOMPARE(defined.json().at("arithmetic").get<std::string>(), std::string("defined"));
        QCOMPARE(defined.json().at("warnings").size(), 1U);
        QVERIFY(defined.json().at("warnings").at(0).at("entry").get<std::string>().find("add")
                != std::string::npos);
        QVERIFY(defined.err.contains("saturates at 127 instead of 255"));
        const CliOutcome mxnet = callCli(call + QStringList{"--as", "mxnet", "--json"});
        QCOMPARE(mxnet.json().at("arithmetic").get<std::string>(), std::string("mxnet"));
        QVERIFY(callCli(call + QStringList{"--as", "mxnet"}).out.contains("as MXNet 1.9.1 on a CPU"));
        QCOMPARE(callCli(call + QStringList{"--as", "tensorflow"}).code, 2);
    }

    void memoryIsALimitAndTellsWhenItIsTooSmall()
    {
        const auto wide = callCli(comparing({})).json();
        const auto narrow = callCli(comparing({"--memory", "1"})).json();
        QVERIFY(narrow.at("peak_bytes").get<int>() <= 1 << 20);
        QCOMPARE(narrow.at("layers"), wide.at("layers")); // examples are always computed one by one
        QCOMPARE(narrow.at("top1"), wide.at("top1"));
        QCOMPARE(callCli(comparing({"--memory", "1024KiB"})).json().at("layers"), wide.at("layers"));
        QVERIFY(wide.at("process_peak_bytes").get<std::int64_t>()
                > wide.at("peak_bytes").get<std::int64_t>());
        for (const QString wrong : {"2TiB", "GiB", "-1", "1.5"})
            QCOMPARE(callCli(comparing({"--memory=" + wrong})).code, 2);
        const CliOutcome none = callCli(comparing({"--memory", "0"}));
        QCOMPARE(none.code, 3);
        QVERIFY(none.err.contains("--memory"));
    }

    /// The digits have black pixels, whose logarithm is no number. relu makes 0 of it, which can be compared.
    void anUncleanFloat32RunStopsAtItsFirstNode()
    {
        QTemporaryDir folder;
        QFile model(folder.filePath("log-symbol.json"));
        QVERIFY(model.open(QIODevice::WriteOnly));
        model.write(R"({"nodes": [{"op": "null", "name": "data", "inputs": []},
                                  {"op": "abs", "name": "positive", "inputs": [[0, 0, 0]]},
                                  {"op": "log", "name": "the_log", "inputs": [[1, 0, 0]]},
                                  {"op": "negative", "name": "last", "inputs": [[2, 0, 0]]}],
                        "arg_nodes": [0], "heads": [[3, 0, 0]]})");
        model.close();
        for (const char *effect : {"cumulative", "both"}) {
            const CliOutcome outcome = callCli({"compare", model.fileName(), "--inputs", kDigits, "--effect",
                                                effect, "--examples", "4", "--json"});
            QCOMPARE(outcome.code, 1);
            QVERIFY2(outcome.err.contains("the_log") && outcome.err.contains("NaN or infinite"),
                     outcome.err.constData());
            QVERIFY(outcome.out.isEmpty());
        }
        QVERIFY(model.open(QIODevice::ReadOnly));
        const QByteArray text = model.readAll().replace("negative", "relu");
        model.close();
        QVERIFY(model.open(QIODevice::WriteOnly));
        model.write(text);
        model.close();
        const auto report
            = callCli({"compare", model.fileName(), "--inputs", kDigits, "--examples", "4", "--json"}).json();
        QCOMPARE(report.at("first_not_finite_fp32").get<std::string>(), std::string("the_log"));
    }

    void anotherModelIsMatchedByName()
    {
        QTemporaryDir folder;
        QCOMPARE(callCli({"convert", kSample, "--out", folder.filePath("low")}).code, 0);
        const QString other = folder.filePath("low-symbol.json");
        const auto report = callCli(comparing({"--examples", "20", "--against", other})).json();
        QVERIFY(report.at("unmatched").at("model").empty());
        QVERIFY(report.at("unmatched").at("other").empty());
        const auto own = callCli(comparing({"--examples", "20"})).json();
        QCOMPARE(report.at("layers").size(), own.at("layers").size());
        for (std::size_t k = 0; k < own.at("layers").size(); ++k)
            QCOMPARE(report.at("layers")[k].at("rmse"), own.at("layers")[k].at("rmse"));
        QCOMPARE(callCli(comparing({"--against", other, "--effect", "isolated"})).code, 2);
        QCOMPARE(callCli(comparing({"--against", folder.filePath("none-symbol.json")})).code, 1);
    }

    void calibrateCollectsChosenTensors()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath("t.json");
        const QStringList call{"calibrate", kSample, "--inputs", kCalibrationDigits, "--json"};
        const CliOutcome outcome
            = callCli(call + QStringList{"--layers", "stem_conv|energy_output", "--out", out});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const auto report = outcome.json();
        QCOMPARE(halftone::test::readJson(out.toStdString()), report);
        std::map<std::string, nlohmann::json> tensors;
        for (const auto &tensor : report.at("tensors"))
            tensors[tensor.at("name")] = tensor;
        QCOMPARE(tensors.size(), std::size_t{4}); // mean_energy_output has the name in it too
        QCOMPARE(tensors.at("energy_output").at("overflow_fp16").get<double>(), 1.0);
        QVERIFY(tensors.at("stem_conv_weight").at("parameter").get<bool>());
        QVERIFY(tensors.at("stem_conv_weight").at("channels").size() > 1);
        QCOMPARE(tensors.at("stem_conv_output").at("histogram").at("counts").size(),
                 tensors.at("stem_conv_output").at("histogram").at("bins").get<std::size_t>());
        QCOMPARE(callCli(call + QStringList{"--layers", "no_such"}).code, 2);
        QCOMPARE(callCli(call + QStringList{"--layers", "(("}).code, 2);
        QCOMPARE(callCli(call + QStringList{"--method", "no_such"}).code, 2);
    }

    void calibrateTakesBareArrays()
    {
        const auto report = callCli({"calibrate", "--array", kDigits, "--json"}).json();
        const auto &array = report.at("arrays").at(0);
        QCOMPARE(array.at("name").get<std::string>(), std::string("data"));
        QCOMPARE(array.at("max").get<double>(), 255.0);
        QVERIFY(array.at("fp16").contains("overflow") && array.at("note").is_null());
        const CliOutcome none = callCli({"calibrate", "--array", kDigits, "--batches", "batch_"});
        QCOMPARE(none.code, 1);
        QVERIFY(none.err.contains("batch_0"));
        QCOMPARE(callCli({"calibrate", kSample, "--array", kDigits}).code, 2);
        QCOMPARE(callCli({"calibrate", kSample}).code, 2);
    }

    void aComparisonIsCancelledWithinASecond()
    {
        QProcess process;
        process.start(QStringLiteral(HALFTONE_CLI),
                      comparing({"--effect", "both", "--backend", "reference"}));
        QVERIFY(process.waitForStarted());
        QTest::qWait(300);
        QElapsedTimer timer;
        timer.start();
        kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(5000));
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(process.exitCode(), 130);
    }
};

QTEST_GUILESS_MAIN(TestCliCompare)
#include "tst_cli_compare.moc"

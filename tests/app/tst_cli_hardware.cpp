#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <utility>

using namespace halftone::test;
using nlohmann::json;

namespace {

json converted(const QStringList &options)
{
    const QTemporaryDir folder;
    const CliOutcome outcome
        = callCli(QStringList{"convert", kSample, "--out", folder.filePath("m"), "--json"} + options);
    if (outcome.code != 0)
        qFatal("%s", outcome.err.constData());
    return outcome.json();
}

bool warns(const json &report, const std::string &code)
{
    for (const json &warning : report.at("warnings")) {
        if (warning.contains("code") && warning.at("code") == code)
            return true;
    }
    return false;
}

} // namespace

/// Chips, modes tvm and all, and accumulators by the command line.
class TestCliHardware : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void listsAndShowsDescriptions();
    void aChipDecidesWhatIsLowered();
    void everyNodeTellsItsArithmetic();
    void aBrokenDescriptionIsNamedWithItsPlace();
    void aReportIsOfTheChip();
    void aChipDecidesWhatIsQuantized_data();
    void aChipDecidesWhatIsQuantized();
    void modesTvmAndAll();
    void aNarrowAccumulatorIsSeen();
    void thisMachineIsMeasuredOnce();
    void theGpuIsAChipOfItsOwn();
    void timesAreMadeLeast();
};

void TestCliHardware::listsAndShowsDescriptions()
{
    const json all = callCli({"hardware", "--json"}).json();
    const json &listed = all.at("hardware");
    const auto isThis = [&all](const json &chip) { return chip.at("name") == all.at("this"); };
    QCOMPARE(std::count_if(listed.begin(), listed.end(), isThis), 1); // always, whatever processor this is
    QVERIFY(listed.size() >= 14 && listed.size() <= 16);
    QVERIFY(callCli({"hardware"}).out.contains("NVIDIA A100"));
    const json one = callCli({"hardware", "sm_80", "--json"}).json();
    QCOMPARE(one.at("classes").at("conv").at("bf16").at("support").get<std::string>(), std::string("native"));
    QVERIFY(callCli({"hardware", "conv16"}).out.contains("TVM RFC"));
    const CliOutcome here = callCli({"hardware", "this", "--json"});
    QVERIFY2(here.code == 0, here.err.constData());
    QCOMPARE(here.json().at("name"), all.at("this"));
    const QString name = QString::fromStdString(all.at("this").get<std::string>());
    QCOMPARE(callCli({"hardware", name, "--json"}).code, 0);
    QCOMPARE(callCli({"hardware", "sm80"}).code, 2);
}

void TestCliHardware::aChipDecidesWhatIsLowered()
{
    const json report = converted({"--target", "float16", "--hardware", "conv16"});
    QCOMPARE(report.at("hardware").get<std::string>(), std::string("conv16"));
    for (const json &node : report.at("nodes")) {
        const std::string unit = node.at("unit").is_null() ? "" : node.at("unit").get<std::string>();
        if (node.at("assigned") == "float16")
            QVERIFY(unit == "conv" || unit == "gemm");
        if (node.at("op") == "Activation") {
            QCOMPARE(node.at("rule").get<std::string>(), std::string("hardware"));
            QCOMPARE(node.at("entry").get<std::string>(),
                     std::string("hardware: conv16 has no float16 elementwise unit"));
        }
    }
    QVERIFY(!warns(report, "no_fast_path"));
    QVERIFY(warns(converted({"--target", "float16", "--hardware", "avx2"}), "no_fast_path"));
    QVERIFY(converted({"--target", "float16"}).at("hardware").is_null());
}

void TestCliHardware::everyNodeTellsItsArithmetic()
{
    const json report = converted({"--target", "float16", "--hardware", "armv8.2-fp16"});
    int products = 0;
    for (const json &node : report.at("nodes")) {
        QVERIFY(node.contains("accumulate") && node.contains("output"));
        if (node.at("op") != "Convolution" || node.at("assigned") != "float16")
            continue;
        ++products;
        QCOMPARE(node.at("accumulate").get<std::string>(), std::string("float16"));
        QCOMPARE(node.at("output").get<std::string>(), std::string("float16"));
    }
    QVERIFY(products > 0);
    QVERIFY(warns(report, "narrow_accumulator"));
}

void TestCliHardware::aBrokenDescriptionIsNamedWithItsPlace()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("own.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(callCli({"hardware", "conv16", "--json"}).out.replace("\"native\"", "\"perhaps\""));
    file.close();
    const CliOutcome outcome
        = callCli({"convert", kSample, "--out", folder.filePath("m"), "--hardware", path});
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.lastLine().contains(path.toUtf8() + ": classes.conv.fp32.support: \"perhaps\""),
             outcome.err.constData());
}

void TestCliHardware::aReportIsOfTheChip()
{
    const QTemporaryDir folder;
    const QString page = folder.filePath("page.html");
    const CliOutcome outcome = callCli({"report", kSample, "--hardware", "conv16", "--out", page});
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    QFile file(page);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray html = file.readAll();
    QVERIFY(html.contains("conv16 has no float16 elementwise unit"));
    QVERIFY(html.contains("<th>computes<th>sums in<th>gives"));
    QVERIFY(html.contains("float16</span><td>float32<td>float16<td>")); // a convolution
    QVERIFY(html.contains("<h2>Chip</h2>"));
    QCOMPARE(callCli({"report", kSample, "--hardware", "conv17", "--out", page}).code, 2);
}

void TestCliHardware::aChipDecidesWhatIsQuantized_data()
{
    QTest::addColumn<QString>("model");
    QTest::newRow("fused") << kSample;
    QTest::newRow("pairs") << kSampleFolder + "digits.onnx";
}

void TestCliHardware::aChipDecidesWhatIsQuantized()
{
    QFETCH(QString, model);
    const QTemporaryDir folder;
    const auto quantized = [&](const QString &chip) {
        const CliOutcome outcome
            = callCli({"quantize", model, "--inputs", kDigits, "--examples", "4", "--calib", "naive",
                       "--hardware", chip, "--out", folder.filePath(chip), "--json"});
        return outcome.code == 0 ? outcome.json() : json{{"quantized", outcome.err.toStdString()}};
    };
    const json none = quantized("conv16");
    QVERIFY2(none.at("quantized").empty(), none.at("quantized").dump().c_str());
    QVERIFY(warns(none, "no_fast_path"));
    const auto isOfTheChip = [](const json &one) { return one.at("why") == "conv16 has no int8 conv unit"; };
    QVERIFY(std::ranges::any_of(none.at("skipped"), isOfTheChip));
    const json all = quantized("int8-npu");
    QVERIFY2(!all.at("quantized").empty() && all.at("quantized").is_array(),
             all.at("quantized").dump().c_str());
    QVERIFY(!warns(all, "no_fast_path"));
    QVERIFY(!quantized("amx").at("quantized").empty());
}

void TestCliHardware::modesTvmAndAll()
{
    const json tvm = converted({"--mode", "tvm", "--target", "bfloat16"});
    QCOMPARE(tvm.at("mode").get<std::string>(), std::string("tvm"));
    for (const json &node : tvm.at("nodes")) {
        if (node.at("op") == "Convolution") {
            QCOMPARE(node.at("rule").get<std::string>(), std::string("tvm-always"));
            QCOMPARE(node.at("accumulate").get<std::string>(), std::string("float32"));
        }
    }
    for (const json &node : converted({"--mode", "all"}).at("nodes"))
        QVERIFY(node.at("assigned") != "float32");
}

/// The sums of a convolution round less in float32, and that is seen layer by layer.
void TestCliHardware::aNarrowAccumulatorIsSeen()
{
    const auto worst = [](const char *accumulate) {
        const json report
            = callCli({"compare", kSample, "--target", "bfloat16", "--accumulate", accumulate, "--backend",
                       "reference", "--inputs", kDigits, "--examples", "4", "--json"})
                  .json();
        double least = 1000;
        for (const json &layer : report.at("layers")) {
            if (layer.at("op") == "Convolution" && layer.at("sqnr_db").is_number())
                least = std::min(least, layer.at("sqnr_db").get<double>());
        }
        return least;
    };
    QVERIFY(worst("bfloat16") + 3 < worst("float32"));
}

/// Rates that were found go into warnings, the report and the next description; a second call finds them kept.
void TestCliHardware::thisMachineIsMeasuredOnce()
{
    const QTemporaryDir cache;
    qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
    const auto reset = qScopeGuard([] { qunsetenv("XDG_CACHE_HOME"); });
    const CliOutcome here = callCli({"hardware", "this", "--json"});
    QVERIFY2(here.code == 0, here.err.constData());
    if (!here.json().contains("measured"))
        QSKIP("this build has no latency plans");
    const json measured = here.json().at("measured");
    for (const json &types : measured.at("speed")) {
        for (const json &speed : types)
            QVERIFY(speed.get<double>() > 0);
    }
    QCOMPARE(callCli({"hardware", "this", "--json"}).json().at("measured"), measured);
    QVERIFY(callCli({"hardware", "this"}).out.contains("times as fast as float32, on"));
    const json report = converted({"--target", "bfloat16", "--hardware", "this"});
    const json &rate = report.at("rates").at("conv").at("measured");
    QCOMPARE(rate, measured.at("speed").value("conv", json::object()).value("bf16", json()));
    QCOMPARE(callCli({"hardware", "avx2", "--measure"}).code, 2);

    // What is kept is a description like any other.
    const QStringList kept = QDir(cache.filePath("halftone")).entryList({"measured-*.json"});
    QCOMPARE(kept.size(), 1);
    QCOMPARE(
        callCli({"hardware", cache.filePath("halftone/" + kept.front()), "--json"}).json().at("measured"),
        measured);
}

/// Where there is none, it is said; where there is one, it is of those that are listed and has been measured.
void TestCliHardware::theGpuIsAChipOfItsOwn()
{
    const QTemporaryDir cache;
    qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
    const auto reset = qScopeGuard([] { qunsetenv("XDG_CACHE_HOME"); });
    const json listed = callCli({"hardware", "--json"}).json();
    const CliOutcome gpu = callCli({"hardware", "this-gpu", "--json"});
    if (gpu.code == 3) {
        QVERIFY(listed.at("this_gpu").is_null());
        QVERIFY2(gpu.lastLine().contains("this-gpu"), gpu.err.constData());
        QCOMPARE(callCli({"hardware", "this-gpu", "--measure"}).code, 3);
        QCOMPARE(callCli({"convert", kSample, "--hardware", "this-gpu", "--out", cache.filePath("m")}).code,
                 3);
        return;
    }
    QCOMPARE(gpu.code, 0);
    QCOMPARE(gpu.json().at("name"), listed.at("this_gpu"));
    QCOMPARE(gpu.json().at("kind").get<std::string>(), std::string("gpu"));
    QVERIFY(gpu.json().at("measured").at("speed").at("conv").at("fp16").get<double>() > 0);
}

/// On a chip that was found to be slower in float16, nothing is lowered where time is made least; on a fast one as much as ever.
void TestCliHardware::timesAreMadeLeast()
{
    const QTemporaryDir folder;
    const auto lowered = [&folder](double speed) {
        json chip = callCli({"hardware", "sm_80", "--json"}).json();
        for (const char *unit : {"conv", "gemm", "elementwise"})
            chip["measured"]["speed"][unit]["fp16"] = speed;
        chip["measured"].update({{"machine", "a test's"}, {"when", "2026-01-01"}});
        const QString path = folder.filePath("own.json");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("%s", qPrintable(file.errorString()));
        file.write(QByteArray::fromStdString(chip.dump()));
        file.close();
        const json report = converted({"--hardware", path, "--optimise", "time", "--inputs", kDigits});
        const auto isLow = [](const json &node) { return node.at("assigned") == "float16"; };
        const json &nodes = report.at("nodes");
        return std::pair(std::count_if(nodes.begin(), nodes.end(), isLow), warns(report, "no_fast_path"));
    };
    QCOMPARE(lowered(0.5), (std::pair<std::ptrdiff_t, bool>(0, true)));
    QVERIFY(lowered(1000).first > 5 && !lowered(1000).second);
    const CliOutcome without
        = callCli({"convert", kSample, "--out", folder.filePath("m"), "--optimise", "time"});
    QCOMPARE(without.code, 2);
    QVERIFY2(without.lastLine().contains("--optimise: time needs a chip to estimate times for"),
             without.err.constData());
}

QTEST_APPLESS_MAIN(TestCliHardware)
#include "tst_cli_hardware.moc"

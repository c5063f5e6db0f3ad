#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <signal.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone::test;

namespace {

const QString kAmp = QStringLiteral(HALFTONE_TEST_DATA "/amp/");

QStringList filesIn(const QTemporaryDir &folder)
{
    return QDir(folder.path()).entryList(QDir::Files | QDir::Hidden | QDir::System);
}

} // namespace

class TestCli : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void helpAndVersionEndWithZero_data();
    void helpAndVersionEndWithZero();
    void aBadCallEndsWithTwoAndOneLine_data();
    void aBadCallEndsWithTwoAndOneLine();
    void aBadPolicyNamesTheOption();
    void badInputEndsWithOneAndNamesFileAndPlace_data();
    void badInputEndsWithOneAndNamesFileAndPlace();
    void whatThisBuildCannotDoEndsWithThree_data();
    void whatThisBuildCannotDoEndsWithThree();
    void infoPrintsOneJsonDocument();
    void infoOfABareParameterFileListsItsArrays();
    void infoShowsShapesThatFollowFromAnInput();
    void listsPrintsWhatTheReferenceHas();
    void convertWritesAModelAndSaysWhyEveryNodeIsAsItIs();
    void everyCastCarriesTheEdgeThatNeededIt();
    void castParamsStoresHalfAsManyBytes();
    void typesAndShapesComeFromADataExample();
    void optionsWinOverThePolicyFile();
    void strictTurnsAWarningIntoAnError();
    void aFailedConversionLeavesNothingBehind();
    void theSourceIsNeverWrittenOver();
    void loadAndSaveKeepTheParametersByteForByte();
    void rewriteRunsPassesInOrderAndNamesThem();
    void strippingGivesTheFloat32ParametersBackWhenTheyAreThere();
    void theReportTellsEveryAction();
};

void TestCli::helpAndVersionEndWithZero_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("help") << QStringList{"--help"};
    QTest::newRow("version") << QStringList{"--version"};
    for (const char *command : {"info", "lists", "convert", "rewrite"})
        QTest::newRow(command) << QStringList{command, "--help"};
}

void TestCli::helpAndVersionEndWithZero()
{
    QFETCH(QStringList, arguments);
    const CliOutcome outcome = callCli(arguments);
    QCOMPARE(outcome.code, 0);
    QVERIFY(!outcome.out.isEmpty());
    QCOMPARE(outcome.err, QByteArray());
}

void TestCli::aBadCallEndsWithTwoAndOneLine_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("no command") << QStringList{}
                                << QByteArray("error: no command given; see 'halftone-cli --help'");
    QTest::newRow("unknown command") << QStringList{"frobnicate"} << QByteArray("frobnicate");
    QTest::newRow("unknown option") << QStringList{"info", kSample, "--colour"}
                                    << QByteArray(
                                           "error: unknown option --colour; see 'halftone-cli info --help'");
    QTest::newRow("unknown choice")
        << QStringList{"compare", kSample, "--effect", "half"}
        << QByteArray("error: --effect: \"half\", expected cumulative, isolated or both; "
                      "see 'halftone-cli compare --help'");
    QTest::newRow("no number") << QStringList{"convert", kSample, "--out", "x", "--opset", "x"}
                               << QByteArray(
                                      "error: --opset: \"x\", expected a number; see 'halftone-cli convert "
                                      "--help'");
    QTest::newRow("number out of range") << QStringList{"profile", kSample, "--repeats", "0"}
                                         << QByteArray("error: --repeats: 0, expected at least 1");
    QTest::newRow("batches of none") << QStringList{"run", kSample, "--batch", "0"}
                                     << QByteArray("error: --batch: 0, expected a positive number");
    QTest::newRow("no examples") << QStringList{"report", kSample, "--out", "x", "--examples", "0"}
                                 << QByteArray("error: --examples: 0, expected a positive number");
    QTest::newRow("unknown option with a value")
        << QStringList{"info", kSample, "--tolerance", "3"}
        << QByteArray("error: unknown option --tolerance; see 'halftone-cli info --help'");
    QTest::newRow("input of a copy")
        << QStringList{"convert", kSampleFolder + "digits.onnx", "--out", "x", "--input", "data=float16"}
        << QByteArray("error: --input: a model that is copied keeps the types of its inputs; to convert it");
    QTest::newRow("no opset") << QStringList{"convert", kSample, "--out", "x", "--opset", "13"}
                              << QByteArray(
                                     "error: --opset: not available for MXNet models, which have no opset");
    QTest::newRow("lists of no type")
        << QStringList{"lists", "--target", "int8"}
        << QByteArray("error: --target: \"int8\", expected float16 or bfloat16");
    QTest::newRow("no model") << QStringList{"convert", "--out", "x"} << QByteArray("MODEL");
    QTest::newRow("bad target") << QStringList{"convert", kSample, "--out", "x", "--target", "int8"}
                                << QByteArray("float16");
    QTest::newRow("bad mode") << QStringList{"convert", kSample, "--out", "x", "--mode", "fast"}
                              << QByteArray("mxnet");
    QTest::newRow("bad shape") << QStringList{"info", kSample, "--shape", "data=1,x"}
                               << QByteArray("NAME=1,3,224,224");
    QTest::newRow("bad pass") << QStringList{"rewrite", kSample, "--out", "x", "--pass", "shar"}
                              << QByteArray("did you mean share");
    QTest::newRow("bad override") << QStringList{"convert", kSample, "--out", "x", "--override", "fc"}
                                  << QByteArray("--override");
    QTest::newRow("unknown chip") << QStringList{"convert", kSample, "--out", "x", "--hardware", "sm80"}
                                  << QByteArray("did you mean sm_80");
    QTest::newRow("bad accumulator") << QStringList{"convert", kSample, "--out", "x", "--accumulate", "int8"}
                                     << QByteArray("bfloat16");
    QTest::newRow("bad list version") << QStringList{"lists", "--version", "3"} << QByteArray("1.9.1");
}

void TestCli::aBadCallEndsWithTwoAndOneLine()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, part);
    const CliOutcome outcome = callCli(arguments);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.out, QByteArray());
    QCOMPARE(outcome.err.count('\n'), 1);
    QVERIFY2(outcome.err.startsWith("error: ") && outcome.err.contains(part), outcome.err.constData());
}

void TestCli::aBadPolicyNamesTheOption()
{
    const auto errorOf = [](const QString &option, const QString &value) {
        const CliOutcome outcome = callCli({"convert", kSample, "--out", "x", option, value});
        return QString::number(outcome.code) + ' ' + QString::fromUtf8(outcome.lastLine());
    };
    QCOMPARE(
        errorOf("--exclude", "/[/"),
        QStringLiteral("1 error: --exclude[0], character 1 of the pattern: unmatched '['; write '\\[' to "
                       "match the character itself"));
    QVERIFY(errorOf("--override", "conv0=int4")
                .startsWith(QStringLiteral("1 error: --override[\"conv0\"]: int4")));
}

void TestCli::badInputEndsWithOneAndNamesFileAndPlace_data()
{
    QTest::addColumn<QByteArray>("symbol");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("empty") << QByteArray() << QByteArray("empty");
    QTest::newRow("html") << QByteArray("<html><body>404</body></html>") << QByteArray("web page");
    QTest::newRow("ONNX in protobuf's text form")
        << QByteArray("ir_version: 9\ngraph {\n  node {\n") << QByteArray("format=\"textproto\"");
    QTest::newRow("ONNX in protobuf's JSON form")
        << QByteArray("{\n  \"irVersion\": \"9\",\n  \"graph\": {") << QByteArray("format=\"json\"");
    QTest::newRow("ONNX in its own language")
        << QByteArray("<\n   ir_version: 9,\n   opset_import: [\"\" : 18]\n>\n")
        << QByteArray("format=\"onnxtxt\"");
    QTest::newRow("cut") << QByteArray(R"({"nodes": [)") << QByteArray("byte");
    QTest::newRow("no heads") << QByteArray(R"({"nodes": [], "arg_nodes": []})") << QByteArray("heads");
}

void TestCli::badInputEndsWithOneAndNamesFileAndPlace()
{
    QFETCH(QByteArray, symbol);
    QFETCH(QByteArray, part);
    QTemporaryDir folder;
    const QString path = folder.filePath("bad-symbol.json");
    writeFile(path, symbol);
    const CliOutcome outcome = callCli({"info", path, "--json"});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY2(outcome.lastLine().startsWith("error: " + path.toUtf8() + ": ")
                 && outcome.lastLine().contains(part),
             outcome.err.constData());
}

void TestCli::whatThisBuildCannotDoEndsWithThree_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("no such lists") << QStringList{"lists", "--dialect", "no-format"};
    QTest::newRow("backend") << QStringList{"run", kSample, "--inputs", kDigits, "--backend", "cuda"};
}

void TestCli::whatThisBuildCannotDoEndsWithThree()
{
    QFETCH(QStringList, arguments);
    const CliOutcome outcome = callCli(arguments);
    QCOMPARE(outcome.code, 3);
    QVERIFY2(outcome.lastLine().startsWith("error: "), outcome.err.constData());
}

void TestCli::infoPrintsOneJsonDocument()
{
    const CliOutcome outcome = callCli({"info", kAmp + "cnn_fp16/model-symbol.json", "--json"});
    QCOMPARE(outcome.code, 0);
    const auto info = outcome.json();
    QCOMPARE(info.at("inputs").at(0).at("name").get<std::string>(), std::string("data"));
    QCOMPARE(info.at("outputs").at(0).at("name").get<std::string>(), std::string("prob_output"));
    QCOMPARE(info.at("ops").at("Convolution").get<int>(), 2);
    QCOMPARE(info.at("params").at("dtypes").at("float32").get<int>(), 12);
}

void TestCli::infoOfABareParameterFileListsItsArrays()
{
    const auto info = callCli({"info", kAmp + "cnn_fp16/model-0000.params", "--json"}).json();
    QCOMPARE(info.at("format").get<std::string>(), std::string("mxnet-params"));
    QCOMPARE(info.at("arrays").size(), std::size_t{12});
    QCOMPARE(info.at("arrays").at(0).at("storage").get<std::string>(), std::string("default"));
}

void TestCli::infoShowsShapesThatFollowFromAnInput()
{
    const auto info
        = callCli({"info", kAmp + "cnn_fp16/model-symbol.json", "--shape", "data=7,3,12,12", "--json"})
              .json();
    QCOMPARE(info.at("outputs").at(0).at("shape").at(0).get<int>(), 7);
}

void TestCli::listsPrintsWhatTheReferenceHas()
{
    const auto lists = callCli({"lists", "--dialect", "mxnet", "--json"}).json();
    QCOMPARE(lists.at("target_dtype_ops"),
             (nlohmann::json{"Convolution", "Deconvolution", "FullyConnected", "RNN"}));
    QCOMPARE(
        callCli({"lists", "--dialect", "mxnet", "--target", "bf16", "--json"}).json().at("target_dtype_ops"),
        (nlohmann::json{"Convolution", "FullyConnected"}));
    QVERIFY(callCli({"lists", "--dialect", "mxnet"}).out.contains("fp32_ops (136)"));
    // The version tells the format, and ONNX is the default.
    QVERIFY(callCli({"lists", "--version", "1.9.1"}).out.contains("fp32_ops (136)"));
    QCOMPARE(callCli({"lists"}).out, callCli({"lists", "--dialect", "onnx"}).out);
    QVERIFY(callCli({"lists"}).out.contains("MatMul"));
}

void TestCli::convertWritesAModelAndSaysWhyEveryNodeIsAsItIs()
{
    QTemporaryDir folder;
    const CliOutcome outcome
        = callCli({"convert", kAmp + "cnn_fp16/model-symbol.json", "--out", folder.filePath("m"), "--report",
                   folder.filePath("r.json"), "--json", "--exclude", "s2_conv"});
    QCOMPARE(outcome.code, 0);
    QCOMPARE(filesIn(folder), (QStringList{"m-0000.params", "m-symbol.json", "r.json"}));
    const auto report = outcome.json();
    QCOMPARE(halftone::test::readJson(folder.filePath("r.json").toStdString()), report);
    int seen = 0;
    for (const auto &node : report.at("nodes")) {
        const auto is
            = [&node](const char *name, const char *requested, const char *assigned, const char *rule) {
                  return node.at("name") != name
                      || (node.at("requested") == requested && node.at("assigned") == assigned
                          && node.at("rule") == rule);
              };
        QVERIFY(is("s1_conv", "target", "float16", "target-list"));
        QVERIFY(is("s2_conv", "fp32", "float32", "excluded-name"));
        QVERIFY(is("prob", "fp32", "float32", "fp32-list"));
        if (node.at("op") != "null") {
            QVERIFY(!node.at("rule").get<std::string>().empty());
            ++seen;
        }
        if (node.at("name") == "s2_conv")
            QVERIFY(node.at("entry").get<std::string>().find("s2_conv") != std::string::npos);
    }
    QVERIFY(seen > 5);
    QCOMPARE(report.at("outputs").at(0).at("name").get<std::string>(), std::string("prob_output"));
}

void TestCli::everyCastCarriesTheEdgeThatNeededIt()
{
    QTemporaryDir folder;
    const auto report
        = callCli({"convert", kAmp + "cast_dedup/model-symbol.json", "--out", folder.filePath("m"), "--json"})
              .json();
    const auto source = halftone::test::readJson((kAmp + "cast_dedup/model-symbol.json").toStdString());
    QCOMPARE(report.at("cast_nodes").size(),
             report.at("casts").get<std::size_t>() + report.at("multicasts").get<std::size_t>());
    for (const auto &cast : report.at("cast_nodes")) {
        const auto &needed = cast.at("needed_by");
        if (needed.contains("head"))
            continue;
        const auto &nodes = source.at("nodes");
        const auto consumer = std::find_if(nodes.begin(), nodes.end(), [&](const auto &node) {
            return node.at("name") == needed.at("node");
        });
        QVERIFY(consumer != nodes.end());
        const auto entry = consumer->at("inputs").at(needed.at("input").template get<std::size_t>());
        const std::string producer = nodes.at(entry.at(0).template get<std::size_t>()).at("name");
        QVERIFY(cast.at("tensor").template get<std::string>().starts_with(producer));
    }
}

void TestCli::castParamsStoresHalfAsManyBytes()
{
    QTemporaryDir folder;
    const auto report = callCli({"convert", kAmp + "cnn_bf16_castparams/model-symbol.json", "--target",
                                 "bfloat16", "--cast-params", "--out", folder.filePath("m"), "--json"})
                            .json();
    QCOMPARE(report.at("params").size(), std::size_t{4});
    const auto info = callCli({"info", folder.filePath("m-0000.params"), "--json"}).json();
    QCOMPARE(info.at("params").at("dtypes").at("bfloat16").get<int>(), 4);
    QCOMPARE(info.at("params").at("dtypes").at("float32").get<int>(), 8);
}

void TestCli::typesAndShapesComeFromADataExample()
{
    QTemporaryDir folder;
    const CliOutcome outcome
        = callCli({"convert", kSample, "--inputs", kDigits, "--out", folder.filePath("m"), "--json"});
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const auto told = outcome.json();
    for (const auto &node : told.at("nodes"))
        QVERIFY(!node.at("shape").is_null());
    const CliOutcome wrong = callCli(
        {"convert", kAmp + "cnn_fp16/model-symbol.json", "--inputs", kDigits, "--out", folder.filePath("n")});
    QCOMPARE(wrong.code, 1);
}

void TestCli::optionsWinOverThePolicyFile()
{
    QTemporaryDir folder;
    writeFile(folder.filePath("p.json"), R"({"target_dtype": "bfloat16", "mode": "mxnet"})");
    const auto report = callCli({"convert", kSample, "--policy", folder.filePath("p.json"), "--target",
                                 "fp16", "--out", folder.filePath("m"), "--json"})
                            .json();
    QCOMPARE(report.at("target").get<std::string>(), std::string("float16"));
}

void TestCli::strictTurnsAWarningIntoAnError()
{
    QTemporaryDir folder;
    const QStringList call{"convert", kSample, "--exclude", "no_such_node", "--out", folder.filePath("m")};
    const CliOutcome lenient = callCli(call);
    QCOMPARE(lenient.code, 0);
    QVERIFY(lenient.err.contains("warning: ") && lenient.err.contains("no_such_node"));
    QTemporaryDir other;
    const CliOutcome strict = callCli(QStringList{"convert", kSample, "--exclude", "no_such_node", "--out",
                                                  other.filePath("m"), "--strict"});
    QCOMPARE(strict.code, 1);
    QVERIFY(strict.err.contains("no_such_node"));
    QCOMPARE(filesIn(other), QStringList());
}

void TestCli::aFailedConversionLeavesNothingBehind()
{
    QTemporaryDir folder;
    QCOMPARE(callCli({"convert", kSample, "--target-op", "NoSuchOp", "--out", folder.filePath("m")}).code, 1);
    QCOMPARE(filesIn(folder), QStringList());
    QCOMPARE(callCli({"convert", kSample, "--out", folder.filePath("missing/m")}).code, 1);
}

void TestCli::theSourceIsNeverWrittenOver()
{
    QTemporaryDir folder;
    for (const char *name : {"model-symbol.json", "model-0000.params"})
        QVERIFY(QFile::copy(kAmp + "cnn_fp16/" + name, folder.filePath(name)));
    const std::string before = halftone::test::readFile(folder.filePath("model-symbol.json").toStdString());
    const CliOutcome outcome
        = callCli({"convert", folder.filePath("model-symbol.json"), "--out", folder.filePath("model")});
    QCOMPARE(outcome.code, 2);
    QCOMPARE(halftone::test::readFile(folder.filePath("model-symbol.json").toStdString()), before);
}

void TestCli::loadAndSaveKeepTheParametersByteForByte()
{
    QTemporaryDir folder;
    QCOMPARE(callCli({"rewrite", kSample, "--pass", "share", "--out", folder.filePath("m")}).code, 0);
    QString params = kSample;
    params.replace("-symbol.json", "-0000.params");
    QCOMPARE(halftone::test::readFile(folder.filePath("m-0000.params").toStdString()),
             halftone::test::readFile(params.toStdString()));
}

void TestCli::strippingGivesTheFloat32ParametersBackWhenTheyAreThere()
{
    QTemporaryDir folder;
    QString params = kSample;
    params.replace("-symbol.json", "-0000.params");
    QCOMPARE(callCli({"convert", kSample, "--cast-params", "--out", folder.filePath("low")}).code, 0);
    const QStringList strip{"rewrite", folder.filePath("low-symbol.json"),
                            "--pass",  "strip-casts",
                            "--out",   folder.filePath("back")};
    const CliOutcome rounded = callCli(strip);
    QVERIFY(rounded.err.contains("stay rounded"));
    QVERIFY(halftone::test::readFile(folder.filePath("back-0000.params").toStdString())
            != halftone::test::readFile(params.toStdString()));
    const CliOutcome restored = callCli(strip + QStringList{"--fp32-params", params});
    QVERIFY2(restored.code == 0, restored.err.constData());
    QVERIFY(!restored.err.contains("stay rounded"));
    QCOMPARE(halftone::test::readFile(folder.filePath("back-0000.params").toStdString()),
             halftone::test::readFile(params.toStdString()));
    const CliOutcome wrong = callCli(
        strip + QStringList{"--fp32-params", kAmp + "cnn_fp16/model-0000.params"}); // another network
    QVERIFY(wrong.code == 1 && wrong.err.contains("the shape of the float32 array differs"));
}

void TestCli::theReportTellsEveryAction()
{
    QTemporaryDir folder;
    const auto once = callCli({"convert", kSample, "--out", folder.filePath("a"), "--json"}).json();
    QCOMPARE(once.at("mode").get<std::string>(), std::string("typed"));
    QCOMPARE(once.at("multicasts").get<int>(), 0);
    const QString twins = QStringLiteral(HALFTONE_SOURCE_DIR "/tests/data/cse/same_two_inputs-symbol.json");
    const QStringList merging{"convert", twins, "--no-params", "--json", "--out", folder.filePath("t")};
    QVERIFY(!callCli(merging).json().at("merged").empty());
    QVERIFY(callCli(merging + QStringList{"--no-share"}).json().at("merged").empty());
    QVERIFY(callCli(merging + QStringList{"--mode", "mxnet"}).json().at("merged").empty());
    QVERIFY(!callCli(merging + QStringList{"--mode", "mxnet", "--share"}).json().at("merged").empty());
    for (const char *key : {"casts_folded", "casts_moved", "merged", "heads_copied", "bodies"})
        QVERIFY2(once.contains(key), key);
    const auto twice
        = callCli({"convert", folder.filePath("a-symbol.json"), "--out", folder.filePath("b"), "--json"})
              .json();
    QCOMPARE(twice.at("casts_folded").size(), once.at("casts").get<std::size_t>());
    QCOMPARE(twice.at("casts"), once.at("casts"));
    QCOMPARE(halftone::test::readFile(folder.filePath("a-symbol.json").toStdString()),
             halftone::test::readFile(folder.filePath("b-symbol.json").toStdString()));
}

void TestCli::rewriteRunsPassesInOrderAndNamesThem()
{
    QTemporaryDir folder;
    QVERIFY(callCli({"rewrite", "--list"}).out.contains("strip-casts"));
    const QString converted = folder.filePath("m");
    QCOMPARE(callCli({"convert", kAmp + "cnn_fp16/model-symbol.json", "--out", converted}).code, 0);
    const auto rewritten = callCli({"rewrite", converted + "-symbol.json", "--pass", "strip-casts", "--pass",
                                    "share", "--out", folder.filePath("s"), "--json"})
                               .json();
    QCOMPARE(rewritten.at("passes").at(0).at("name").get<std::string>(), std::string("strip-casts"));
    QCOMPARE(rewritten.at("passes").at(0).at("changed").get<int>(),
             6); // amp_cast in case.json's expected_counts
    QCOMPARE(rewritten.at("passes").at(1).at("name").get<std::string>(), std::string("share"));
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"

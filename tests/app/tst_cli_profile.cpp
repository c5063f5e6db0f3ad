#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QTest>

using namespace halftone;
using namespace halftone::test;

namespace {

QStringList profileOf(const QString &shape, const QStringList &more)
{
    return QStringList{"profile", kSample, "--shape", shape, "--repeats", "3", "--warmup", "1"} + more;
}

} // namespace

class TestCliProfile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aBatchStandsForTheFirstAxisOfEveryShape();
    void aBatchThatIsNoNumberOfExamplesIsRefused_data();
    void aBatchThatIsNoNumberOfExamplesIsRefused();
    void whoAsksForAnEmulatedTypeIsToldBeforeAnythingIsMeasured();
    void aNativeTypeIsNotWarnedOf();
    void aMachineWithOtherWorkIsRecognised();
    void integersAreAnExamplesOrLegal_data();
    void integersAreAnExamplesOrLegal();
};

void TestCliProfile::initTestCase()
{
    if (callCli(profileOf("data=1,1,8,8", {})).code == 3)
        QSKIP("this build has no backend that measures");
}

void TestCliProfile::aBatchStandsForTheFirstAxisOfEveryShape()
{
    const auto measured = [](const QString &shape, const QStringList &more) {
        const CliOutcome outcome = callCli(profileOf(shape, QStringList{"--json"} + more));
        if (outcome.code != 0)
            qFatal("%s", outcome.err.constData());
        return outcome.json();
    };
    const nlohmann::json batched = measured("data=1,1,8,8", {"--batch", "64"});
    const nlohmann::json single = measured("data=1,1,8,8", {});
    QCOMPARE(batched.at("inputs").dump(), std::string(R"({"data":[64,1,8,8]})"));
    QCOMPARE(single.at("inputs").dump(), std::string(R"({"data":[1,1,8,8]})"));
    // Not equal to those of another plan of the same shapes: kernels are chosen by measured time.
    QVERIFY(batched.at("peak_bytes") > single.at("peak_bytes"));
}

void TestCliProfile::aBatchThatIsNoNumberOfExamplesIsRefused_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("negative") << profileOf("data=1,1,8,8", {"--batch", "-1"});
    QTest::newRow("beyond all memory") << profileOf("data=1,1,8,8", {"--batch", "99999999999"});
    QTest::newRow("no shape to put it in") << QStringList{"profile", kSample, "--batch", "4"};
}

void TestCliProfile::aBatchThatIsNoNumberOfExamplesIsRefused()
{
    QFETCH(QStringList, arguments);
    const CliOutcome outcome = callCli(arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains("--batch"), outcome.err.constData());
}

void TestCliProfile::whoAsksForAnEmulatedTypeIsToldBeforeAnythingIsMeasured()
{
    if (callCli({"backends", "--json"}).out.contains("\"float16\": \"native\""))
        QSKIP("this machine computes in float16");
    // So many runs never end: what is read here was said before them.
    QProcess program;
    program.start(
        QStringLiteral(HALFTONE_CLI),
        {"profile", kSample, "--shape", "data=256,1,8,8", "--target", "float16", "--repeats", "100000000"});
    QVERIFY(program.waitForStarted());
    QByteArray told;
    QElapsedTimer clock;
    clock.start();
    while (!told.contains('\n') && clock.elapsed() < 30000 && program.state() == QProcess::Running) {
        program.waitForReadyRead(1000);
        told += program.readAllStandardError();
    }
    const bool stillRuns = program.state() == QProcess::Running;
    program.kill();
    program.waitForFinished();
    QVERIFY(stillRuns);
    QVERIFY2(told.contains("no native support for float16") && told.contains("emulated"), told.constData());
    QVERIFY(program.readAllStandardOutput().isEmpty());
}

void TestCliProfile::aNativeTypeIsNotWarnedOf()
{
    const CliOutcome outcome = callCli(profileOf("data=1,1,8,8", {}));
    QCOMPARE(outcome.code, 0);
    QVERIFY2(!outcome.err.contains("warning"), outcome.err.constData());
}

/// Whether or not something else runs meanwhile: what is said follows from the figures beside it.
void TestCliProfile::aMachineWithOtherWorkIsRecognised()
{
    const CliOutcome outcome = callCli(profileOf("data=1,1,8,8", {"--json"}));
    QCOMPARE(outcome.code, 0);
    const nlohmann::json json = outcome.json();
    const double median = json.at("median_ms").get<double>();
    const bool isDisturbed = json.at("disturbed").get<bool>();
    if (median > 2 * json.at("min_ms").get<double>() || json.at("p95_ms").get<double>() > 2 * median)
        QVERIFY(isDisturbed); // as it may be for other reasons
    QCOMPARE(outcome.err.contains("unreliable"), isDisturbed);
    QVERIFY(json.at("attempts").get<int>() >= 1 && (isDisturbed || json.at("attempts").get<int>() <= 4));
}

void TestCliProfile::integersAreAnExamplesOrLegal_data()
{
    QTest::addColumn<QStringList>("more");
    QTest::newRow("an example") << QStringList{"--inputs", HALFTONE_TEST_DATA "/onnx/integers-inputs.npz"};
    QTest::newRow("guessed") << QStringList{};
    QTest::newRow("in turns, converted") << QStringList{
        "--inputs", HALFTONE_TEST_DATA "/onnx/integers-inputs.npz", "--versus-fp32", "--target", "bfloat16"};
}

/// Rows of a table, how many values are kept, a branch: a model with these is timed, its branch by the interpreter.
void TestCliProfile::integersAreAnExamplesOrLegal()
{
    QFETCH(QStringList, more);
    const CliOutcome outcome = callCli(
        QStringList{"profile", HALFTONE_TEST_DATA "/onnx/integers.onnx", "--repeats", "3", "--json"} + more);
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const nlohmann::json json = outcome.json();
    double bodies = 0;
    for (const nlohmann::json &layer : json.at("layers")) {
        QCOMPARE(layer.at("reference").get<bool>(), false);
        if (layer.at("kernel") == "control flow, computed by the interpreter")
            bodies += layer.at("median_us").get<double>();
    }
    QVERIFY(bodies > 0);
}

QTEST_GUILESS_MAIN(TestCliProfile)
#include "tst_cli_profile.moc"

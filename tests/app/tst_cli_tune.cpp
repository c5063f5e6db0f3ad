#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <csignal>

using namespace halftone::test;
using nlohmann::json;

namespace {

QStringList tuneOf(const QString &model, const QString &out, const QStringList &more = {})
{
    return QStringList{"tune",       model, "--inputs", kDigits, "--target", "bfloat16",
                       "--examples", "16",  "--out",    out,     "--json"}
    + more;
}

json jsonIn(const QString &path)
{
    return json::parse(contentOf(path).toStdString());
}

/// What a search says of a network, but for the times that a search took itself.
json pointsOf(const CliOutcome &outcome)
{
    json points = outcome.json()["points"];
    for (json &point : points) {
        point.erase("policy");
        point.erase("found_s");
    }
    return points;
}

json allPoints(const json &front)
{
    json points = front["points"];
    const json others = front["measured"];
    for (const json &point : others)
        points.push_back(point);
    return points;
}

} // namespace

class TestCliTune : public QObject
{
    Q_OBJECT

    /// The options that go on from a copy of the record.
    QStringList fromRecord(const QTemporaryDir &folder, const QStringList &more = {}) const
    {
        const QString state = folder.filePath("s.json");
        QFile::remove(state);
        if (!QFile::copy(m_folder.filePath("s.json"), state))
            qFatal("the record cannot be copied");
        return tuneOf(kSample, folder.filePath("f.json"), QStringList{"--state", state} + more);
    }

    /// The record without its errors, as if it were of a search with so many threads.
    void writeTimesOnly(const QString &path, const QString &threads) const
    {
        json record = jsonIn(m_folder.filePath("s.json"));
        for (const char *key : {"alone", "glances", "measured", "confirmed"})
            record[key] = json::array();
        QString basis = QString::fromStdString(record["basis"].get<std::string>());
        record["basis"] = basis.replace("; threads 0;", "; threads " + threads + ';').toStdString();
        writeFile(path, QByteArray::fromStdString(record.dump()));
    }

    QTemporaryDir m_folder;
    CliOutcome m_first; ///< the search that was recorded

private Q_SLOTS:
    void initTestCase();
    void theFrontIsMeasuredAndFasterThanFloat32();
    void everyPointsPolicyGivesItsErrorAgain();
    void bothFormatsAreTuned();
    void aRecordedSearchGivesTheSamePoints();
    void errorsAreTheSameWithAnyThreadsAndBatches();
    void whoInterruptsWaitsLessThanASecond();
    void aReportHasTheFront();
    void anAdoptedPolicyIsTunedAnew();
    void whatWasKilledGoesOn();
    void aStateOfAnotherSearchIsRefused();
    void whatIsPickedIsWhatItsPolicyConverts();
    void aLimitThatNothingNarrowMeetsPicksFloat32();
    void pinnedNodesStay();
    void badCallsAreRefused_data();
    void badCallsAreRefused();
};

void TestCliTune::initTestCase()
{
    m_first = callCli(tuneOf(kSample, m_folder.filePath("f.json"), {"--state", m_folder.filePath("s.json")}));
    if (m_first.code == 3 || m_first.err.contains("emulates"))
        QSKIP("this machine has no backend with a native bfloat16, so that nothing can be timed");
    QVERIFY2(m_first.code == 0, m_first.err.constData());
}

void TestCliTune::theFrontIsMeasuredAndFasterThanFloat32()
{
    const json front = m_first.json();
    QCOMPARE(jsonIn(m_folder.filePath("f.json")), front);
    QCOMPARE(front["stopped_by"], json("done"));
    QVERIFY(front["evaluations"] >= 2);
    QCOMPARE(front["points"][0]["origin"], json("float32"));
    QCOMPARE(front["points"][0]["metric"], json("inf"));
    double least = front["points"][0]["median_ms"];
    for (std::size_t k = 1; k < front["points"].size(); ++k) {
        const json &point = front["points"][k];
        QVERIFY(point["ratio"] < 1);
        QVERIFY(point["clean"]);
        QVERIFY(point["median_ms"] < least); // each loses more than the one before, for less time
        least = point["median_ms"];
        QVERIFY(point["ci95"][0] <= point["median_ms"] && point["median_ms"] <= point["ci95"][1]);
        QVERIFY(point["predicted"].contains("median_ms"));
        QVERIFY(!point["groups"].empty()); // a reason each
    }
}

/// Of another command, over the same examples: to the bit, whatever the threads and the examples at a time.
void TestCliTune::everyPointsPolicyGivesItsErrorAgain()
{
    const json points = allPoints(m_first.json());
    QVERIFY(points.size() >= 2);
    for (const json &point : points) {
        const CliOutcome compared
            = callCli({"compare", kSample, "--inputs", kDigits, "--examples", "16", "--policy",
                       QString::fromStdString(point["policy"]), "--threads", "1", "--json"});
        QVERIFY2(compared.code == 0, compared.err.constData());
        QCOMPARE(compared.json()["outputs"][0]["sqnr_db"], point["sqnr_db"]);
    }
}

void TestCliTune::bothFormatsAreTuned()
{
    QTemporaryDir folder;
    const CliOutcome outcome
        = callCli(tuneOf(kSampleFolder + "digits.onnx", folder.filePath("f.json"), {"--time", "1s"}));
    if (outcome.err.contains("without ONNX"))
        QSKIP("this build is without ONNX");
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    QVERIFY(outcome.json()["evaluations"] >= 2);
}

void TestCliTune::aRecordedSearchGivesTheSamePoints()
{
    QTemporaryDir folder;
    const CliOutcome again = callCli(fromRecord(folder));
    QVERIFY2(again.code == 0, again.err.constData());
    QCOMPARE(pointsOf(again), pointsOf(m_first));
    QCOMPARE(contentOf(folder.filePath("s.json")),
             contentOf(m_folder.filePath("s.json"))); // nothing new was asked
}

/// Groups alone and whole networks lose the same, to the bit, whatever computes them side by side. The times are those of the
/// first search, so that the same networks are asked for.
void TestCliTune::errorsAreTheSameWithAnyThreadsAndBatches()
{
    const json first = m_first.json();
    for (const QStringList &more : {QStringList{"--threads", "1", "--points", "1"},
                                    QStringList{"--threads", "3", "--points", "1", "--batch", "5"}}) {
        QTemporaryDir folder;
        writeTimesOnly(folder.filePath("s.json"), more[1]);
        const CliOutcome outcome = callCli(tuneOf(kSample, folder.filePath("f.json"),
                                                  more + QStringList{"--state", folder.filePath("s.json")}));
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const json front = outcome.json();
        QCOMPARE(front["groups"].size(), first["groups"].size());
        for (std::size_t k = 0; k < front["groups"].size(); ++k)
            for (const auto &[label, figures] : front["groups"][k]["labels"].items())
                QCOMPARE(figures["sqnr_db"], first["groups"][k]["labels"][label]["sqnr_db"]);
        std::size_t common = 0;
        const json points = allPoints(front);
        const json others = allPoints(first);
        for (const json &point : points)
            for (const json &other : others)
                if (point["labels"] == other["labels"]) {
                    QCOMPARE(point["sqnr_db"], other["sqnr_db"]);
                    ++common;
                }
        QVERIFY(common >= 2); // the ends at least
    }
}

/// At any moment, within a second, with what was found and a record to go on from.
void TestCliTune::whoInterruptsWaitsLessThanASecond()
{
    for (const int milliseconds : {400, 900, 1700}) {
        QTemporaryDir folder;
        QProcess process;
        QStringList call = tuneOf(kSample, folder.filePath("f.json"), {"--state", folder.filePath("s.json")});
        call[call.indexOf("--examples") + 1] = "500"; // one evaluation takes long
        process.start(QStringLiteral(HALFTONE_CLI), call);
        QVERIFY(process.waitForStarted());
        if (process.waitForFinished(milliseconds)) {
            QVERIFY(milliseconds > 400); // a quick machine was done: nothing is left to interrupt
            return;
        }
        QElapsedTimer clock;
        clock.start();
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished());
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
        if (QFile::exists(folder.filePath("f.json"))) {
            const json why = jsonIn(folder.filePath("f.json"))["stopped_by"];
            QVERIFY(why == "cancelled" || (milliseconds > 400 && why == "done")); // at that very moment
        }
    }
}

/// Its plane, and the reasons of the policy that was taken over.
void TestCliTune::aReportHasTheFront()
{
    QTemporaryDir folder;
    const json front = m_first.json();
    const std::size_t last = front["points"].size() - 1;
    const std::string policy = front["points"][last]["policy"];
    const QStringList call{"report",   kSample,
                           "--front",  m_folder.filePath("f.json"),
                           "--policy", QString::fromStdString(policy),
                           "--out",    folder.filePath("r.html")};
    const CliOutcome outcome = callCli(call);
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const QByteArray page = contentOf(folder.filePath("r.html"));
    QVERIFY(page.contains("Error against time"));
    QCOMPARE(page.count("<b>this one</b>"), 1);
    for (const auto &[group, reason] : front["points"][last]["groups"].items())
        QVERIFY2(page.contains(QByteArray::fromStdString(reason)), reason.dump().c_str());
    QFile broken(folder.filePath("broken.json"));
    QVERIFY(broken.open(QIODevice::WriteOnly));
    broken.write("{\"points\": [{\"median_ms\": \"soon\"}]}");
    broken.close();
    QStringList bad = call;
    bad[3] = broken.fileName();
    const CliOutcome refused = callCli(bad);
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains("broken.json") && refused.err.contains("points[0].median_ms"),
             refused.err.constData());
}

/// What a search has decided is searched again; what a person has decided stays.
void TestCliTune::anAdoptedPolicyIsTunedAnew()
{
    QTemporaryDir folder;
    const json front = m_first.json();
    const std::string wide = front["points"][0]["policy"]; // every group in float32 by name
    QVERIFY(!jsonIn(QString::fromStdString(wide))["reasons"].empty());
    const CliOutcome again = callCli(tuneOf(kSample, folder.filePath("f.json"),
                                            {"--policy", QString::fromStdString(wide), "--time", "1s"}));
    QVERIFY2(again.code == 0, again.err.constData());
    const json groups = again.json()["groups"];
    for (std::size_t k = 0; k < groups.size(); ++k)
        QCOMPARE(groups[k]["tunable"], front["groups"][k]["tunable"]);
}

/// Killed without a word at some moments: each time the record is whole, and holds no less than before.
void TestCliTune::whatWasKilledGoesOn()
{
    QTemporaryDir folder;
    const QString state = folder.filePath("s.json");
    std::size_t known = 0;
    for (const unsigned long milliseconds : {300U, 700U, 1300U}) {
        QProcess process;
        process.start(QStringLiteral(HALFTONE_CLI),
                      tuneOf(kSample, folder.filePath("f.json"), {"--state", state}));
        QVERIFY(process.waitForStarted());
        QThread::msleep(milliseconds);
        process.kill();
        QVERIFY(process.waitForFinished());
        if (!QFile::exists(state))
            continue;
        const json record = jsonIn(state);
        const std::size_t now = record["alone"].size() + record["measured"].size();
        QVERIFY(now >= known);
        known = now;
    }
    const CliOutcome outcome = callCli(tuneOf(kSample, folder.filePath("f.json"), {"--state", state}));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    QCOMPARE(outcome.json()["stopped_by"], json("done"));
}

void TestCliTune::aStateOfAnotherSearchIsRefused()
{
    QTemporaryDir folder;
    const CliOutcome other = callCli(fromRecord(folder, {"--exclude", "fc1"}));
    QVERIFY(other.code != 0);
    QVERIFY2(other.lastLine().contains("s.json"), other.err.constData());
    QCOMPARE(contentOf(folder.filePath("s.json")), contentOf(m_folder.filePath("s.json")));
}

void TestCliTune::whatIsPickedIsWhatItsPolicyConverts()
{
    QTemporaryDir folder;
    const CliOutcome outcome = callCli(fromRecord(
        folder, {"--limit", "sqnr=20", "--pick", "fastest-within", "--write", folder.filePath("picked")}));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const json front = outcome.json();
    QVERIFY(front.contains("picked"));
    bool isFound = false;
    json points = front["points"];
    for (const json &point : points) {
        const CliOutcome converted
            = callCli({"convert", kSample, "--policy", QString::fromStdString(point["policy"]), "--out",
                       folder.filePath("converted")});
        QVERIFY2(converted.code == 0, converted.err.constData());
        isFound = isFound
            || (contentOf(folder.filePath("converted-symbol.json"))
                    == contentOf(folder.filePath("picked-symbol.json"))
                && contentOf(folder.filePath("converted-0000.params"))
                    == contentOf(folder.filePath("picked-0000.params")));
    }
    QVERIFY(isFound);
}

void TestCliTune::aLimitThatNothingNarrowMeetsPicksFloat32()
{
    QTemporaryDir folder;
    const CliOutcome outcome = callCli(fromRecord(
        folder, {"--limit", "sqnr=400", "--pick", "fastest-within", "--write", folder.filePath("picked")}));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    QVERIFY(!contentOf(folder.filePath("picked-symbol.json")).contains("amp_cast"));
}

void TestCliTune::pinnedNodesStay()
{
    QTemporaryDir folder;
    const CliOutcome info
        = callCli({"convert", kSample, "--target", "bfloat16", "--out", folder.filePath("c"), "--json"});
    QVERIFY2(info.code == 0, info.err.constData());
    std::string pinned;
    const json nodes = info.json()["nodes"]; // a loop does not keep what it would be a part of
    for (const json &node : nodes)
        if (node["requested"] == "target" && pinned.empty())
            pinned = node["name"];
    QVERIFY(!pinned.empty());
    const CliOutcome outcome
        = callCli(tuneOf(kSample, folder.filePath("f.json"),
                         {"--override", QString::fromStdString(pinned) + "=float32", "--time", "1s"}));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const json points = outcome.json()["points"];
    for (const json &point : points)
        QCOMPARE(jsonIn(QString::fromStdString(point["policy"]))["node_overrides"][pinned], json("float32"));
}

void TestCliTune::badCallsAreRefused_data()
{
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QByteArray>("told");
    QTest::newRow("limit of nothing") << QStringList{"--limit", "beauty=3"} << QByteArray("--limit");
    QTest::newRow("limit without a number") << QStringList{"--limit", "sqnr=much"} << QByteArray("--limit");
    QTest::newRow("no time") << QStringList{"--time", "soon"} << QByteArray("--time");
    QTest::newRow("time that is over") << QStringList{"--time", "-3s"} << QByteArray("--time");
    QTest::newRow("pick, not written") << QStringList{"--pick", "knee"} << QByteArray("--write");
    QTest::newRow("written, not picked") << QStringList{"--write", "p"} << QByteArray("--pick");
}

void TestCliTune::badCallsAreRefused()
{
    QFETCH(QStringList, more);
    QFETCH(QByteArray, told);
    QTemporaryDir folder;
    const CliOutcome outcome = callCli(tuneOf(kSample, folder.filePath("f.json"), more));
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains(told), outcome.err.constData());
    QVERIFY(!QFile::exists(folder.filePath("f.json")));
}

QTEST_GUILESS_MAIN(TestCliTune)
#include "tst_cli_tune.moc"

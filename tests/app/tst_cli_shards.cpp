#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

using namespace halftone::test;

/// Tables of the sample, however the work is cut. Bench/shards.py does the same on trained models.
class TestCliShards : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tablesDoNotDependOnTheWayThere_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::newRow("calibrate") << QStringList{"calibrate", kSample, "--method", "percentile"};
        QTest::newRow("entropy") << QStringList{"calibrate", kSample,    "--method",
                                                "entropy",   "--layers", "prob*"};
        QTest::newRow("compare") << QStringList{"compare",  kSample,    "--target",
                                                "bfloat16", "--metric", "cosine"};
    }

    void tablesDoNotDependOnTheWayThere()
    {
        QFETCH(QStringList, command);
        command += QStringList{"--inputs", kDigits, "--examples", "9"};
        const std::string serial = table(callCli(command + QStringList{"--json"}));
        for (const QString batch : {"1", "3", "32"}) {
            for (const QString threads : {"1", "2"})
                QCOMPARE(
                    table(callCli(command + QStringList{"--json", "--batch", batch, "--threads", threads})),
                    serial);
        }
        // Too little for packed weights, and for many examples at a time; what kernels need differs from CPU to CPU.
        QCOMPARE(table(callCli(command + QStringList{"--json", "--memory", "192KiB"})), serial);
        const CliOutcome none = callCli(command + QStringList{"--json", "--memory", "1KiB"});
        QCOMPARE(none.code, 3);
        QVERIFY(none.err.contains("is too small for one example"));
        QVERIFY2(none.err.contains("expected about "), none.err.constData());
        for (const int count : {1, 2, 4, 7})
            QCOMPARE(merged(command, count), serial);
        QCOMPARE(merged(command, 4, true), serial);
    }

    /// The model stays loaded, and who asks hears of each shard before it asks for the next one.
    void shardsAreWrittenAsStandardInputNamesThem()
    {
        const QTemporaryDir folder;
        const QString out = folder.filePath("s");
        const QStringList command{"calibrate",  kSample, "--inputs", kDigits,
                                  "--examples", "4",     "--shard",  "-/4"};
        QProcess program;
        program.start(QStringLiteral(HALFTONE_CLI), command + QStringList{"--out", out});
        for (const QByteArray shard : {"3", "1", "3"}) {
            program.write(shard + '\n');
            while (!program.canReadLine())
                QVERIFY(program.waitForReadyRead(50'000));
            QVERIFY(program.readLine().contains("shard " + shard + " of 4"));
            QVERIFY(QFile::remove(out));
        }
        program.closeWriteChannel();
        QVERIFY(program.waitForFinished(50'000));
        QCOMPARE(program.exitCode(), 0);
        for (const QByteArray line : {"0", "5", "x", "", "1/4"}) {
            const CliOutcome outcome = callCli(command + QStringList{"--out", out}, line + '\n');
            QCOMPARE(outcome.code, 1);
            QVERIFY(outcome.err.contains("standard input"));
            QVERIFY(outcome.err.contains("1 to 4"));
        }
    }

    /// Errors of groups alone, by whoever they were computed, are the search's own.
    void aSearchGoesOnFromItsShards()
    {
        const QTemporaryDir folder;
        const auto in = [&folder](const char *name) { return folder.filePath(QString::fromLatin1(name)); };
        const QStringList command{"tune", kSample,    "--inputs", kDigits,     "--examples",
                                  "4",    "--target", "bfloat16", "--threads", "1"};
        if (callCli(command + QStringList{"--groups-only", "--state", in("any"), "--out", in("none")})
                .err.contains("emulates"))
            QSKIP("this machine has no backend with a native bfloat16, so that nothing can be timed");
        const auto run = [&command](const QStringList &more) {
            const CliOutcome outcome = callCli(command + more);
            if (outcome.code != 0)
                qFatal("%s", outcome.err.constData());
            return outcome;
        };
        run({"--groups-only", "--state", in("groups"), "--out", in("none")});
        run({"--state", in("groups"), "--shard", "2/2", "--out", in("s2")});
        run({"--state", in("groups"), "--shard", "1/2", "--out", in("s1")});
        QCOMPARE(callCli({"merge", in("s2"), in("s1"), "--out", in("state")}).code, 0);
        const auto front = [&](const char *state) {
            return run({"--json", "--state", in(state), "--out", in("front.json")}).json();
        };
        const auto errors = [](const nlohmann::json &found) {
            std::string text;
            for (const nlohmann::json &group : found["groups"])
                for (const auto &[label, cost] : group["labels"].items())
                    text += label + cost["sqnr_db"].dump() + ' ';
            return text;
        };
        const nlohmann::json merged = front("state");
        const nlohmann::json serial = front("serial");
        QCOMPARE(errors(merged), errors(serial));
        QVERIFY(errors(merged).size() > 20);
        const CliOutcome other = callCli({"tune", kSample, "--inputs", kDigits, "--examples", "5", "--target",
                                          "bfloat16", "--state", in("state"), "--out", in("f.json")});
        QCOMPARE(other.code, 1);
        QVERIFY(other.err.contains("a different search"));
    }

    void shardsCanBeCounted()
    {
        for (const QString command : {"calibrate", "compare"}) {
            const QStringList call{command, kSample, "--inputs", kDigits, "--count-shards"};
            QCOMPARE(callCli(call + QStringList{"--examples", "3"}).out.trimmed(), "3");
            const CliOutcome all = callCli(call);
            QVERIFY2(all.out.trimmed().toInt() > 16, all.err.constData());
            QCOMPARE(callCli(call + QStringList{"--shard", "1/2", "--out", "s"}).code, 2);
        }
    }

    void badCallsSayWhatIsWrong()
    {
        const QTemporaryDir folder;
        const QString out = folder.filePath("s");
        const QStringList command{"calibrate", kSample, "--inputs", kDigits, "--examples", "2"};
        for (const QString shard : {"0/2", "3/2", "1", "/", "a/b", "1/0", "1/99999999", "-", "-/", "-/0"}) {
            const CliOutcome outcome = callCli(command + QStringList{"--out", out, "--shard", shard});
            QCOMPARE(outcome.code, 2);
            QVERIFY2(outcome.err.contains("--shard") && outcome.err.contains("-/N"), outcome.err.constData());
        }
        QCOMPARE(callCli(command + QStringList{"--shard", "1/2"}).code, 2);
        QCOMPARE(callCli(command + QStringList{"--out", out, "--shard", "1/2", "--grid", "first-batch"}).code,
                 2);
        const CliOutcome many = callCli(command + QStringList{"--out", out, "--shard", "1/3"});
        QCOMPARE(many.code, 2);
        QVERIFY(many.err.contains("at most as many shards as examples"));
        QCOMPARE(callCli(command + QStringList{"--out", out, "--shard", "1/2"}).code, 0);
        const CliOutcome missing = callCli({"merge", out, "--out", folder.filePath("t.json")});
        QCOMPARE(missing.code, 1);
        QVERIFY(missing.err.contains("2/2 is missing"));
        QVERIFY(
            callCli({"merge", kSample, "--out", folder.filePath("t.json")}).err.contains("statistics file"));
    }

private:
    /// But for what depends on the machine's hurry.
    static std::string table(nlohmann::json document)
    {
        for (const char *key : {"seconds", "peak_bytes", "process_peak_bytes", "memory"})
            document.erase(key);
        return document.dump();
    }

    static std::string table(const CliOutcome &outcome)
    {
        if (outcome.code != 0)
            qFatal("%s", outcome.err.constData());
        return table(outcome.json());
    }

    /// asked: of a program that stays, after another shard
    static std::string merged(const QStringList &command, int count, bool asked = false)
    {
        const QTemporaryDir folder;
        QStringList shards;
        for (int k = count; k >= 1; --k) {
            shards += folder.filePath(QString::number(k));
            const QString which = asked ? QStringLiteral("-") : QString::number(k);
            const CliOutcome made
                = callCli(command
                              + QStringList{"--shard", QStringLiteral("%1/%2").arg(which).arg(count), "--out",
                                            shards.back()},
                          asked ? QByteArray::number(k % count + 1) + '\n' + QByteArray::number(k) + '\n'
                                : QByteArray());
            if (made.code != 0)
                qFatal("%s", made.err.constData());
        }
        const QString out = folder.filePath("t.json");
        const CliOutcome joined = callCli(QStringList{"merge"} + shards + QStringList{"--out", out});
        if (joined.code != 0)
            qFatal("%s", joined.err.constData());
        return table(nlohmann::json::parse(halftone::test::readFile(out.toStdString())));
    }
};

QTEST_GUILESS_MAIN(TestCliShards)
#include "tst_cli_shards.moc"

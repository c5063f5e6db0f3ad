#include "app/hosts/host_list.h"
#include "app/hosts/host_run.h"

#include <QTest>

using namespace halftone;

/// What a person, mpirun and halftone-mpi write about hosts, as it is read.
class TestHostTexts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void listsOfHostsAreRead_data();
    void listsOfHostsAreRead();
    void rankZeroIsOnThisMachine();
    void progressIsReadByHost();
    void theReasonIsFoundInWhatWasSaid_data();
    void theReasonIsFoundInWhatWasSaid();
};

void TestHostTexts::listsOfHostsAreRead_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("names") << QByteArray("a\n\nb # the other\n") << QByteArray("a 1, b 1");
    QTest::newRow("slots") << QByteArray("a slots=8 max_slots=9\r\nb:4") << QByteArray("a 8, b 4");
    QTest::newRow("twice") << QByteArray("a slots=2\na slots=3") << QByteArray("a 5");
    QTest::newRow("this machine by two names")
        << QByteArray("localhost\n127.0.0.1 slots=3") << QByteArray("localhost 4");
    QTest::newRow("no number") << QByteArray("a\nb slots=many") << QByteArray("line 2: \"b slots=many\"");
    QTest::newRow("none at a time") << QByteArray("a slots=0") << QByteArray("line 1: \"a slots=0\"");
    QTest::newRow("an option") << QByteArray("--mca x") << QByteArray("line 1: \"--mca x\"");
    QTest::newRow("a word more") << QByteArray("a cores=3") << QByteArray("line 1: \"a cores=3\"");
    QTest::newRow("nobody") << QByteArray("# none\n") << QByteArray("hosts: the list is empty");
}

void TestHostTexts::listsOfHostsAreRead()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, expected);
    const auto hosts = app::readHosts(text.toStdString());
    if (!hosts.ok()) {
        QVERIFY2(QByteArray::fromStdString(hosts.error().message()).startsWith(expected),
                 hosts.error().message().c_str());
        QVERIFY(app::readHosts(text.toStdString(), "HOSTS").error().message().starts_with("HOSTS: "));
        return;
    }
    QByteArray found;
    for (const app::Host &host : hosts.value())
        found += (found.isEmpty() ? "" : ", ") + QByteArray::fromStdString(host.name) + ' '
            + QByteArray::number(qulonglong(host.slots));
    QCOMPARE(found, expected);
}

/// It keeps the journal, and computes nothing: the slots that were asked for stay.
void TestHostTexts::rankZeroIsOnThisMachine()
{
    const auto hosts = app::readHosts("far slots=3\nlocalhost slots=2").value();
    const app::Ranks ranks = app::ranksOn(hosts, false);
    QCOMPARE(ranks.hostfile, std::string("localhost slots=3\nfar slots=3\n"));
    QCOMPARE(ranks.count, std::size_t{6});
    const app::Ranks each = app::ranksOn(hosts, true);
    QCOMPARE(each.hostfile, std::string("localhost slots=2\nfar slots=1\n"));
    QCOMPARE(each.count, std::size_t{3});
    QCOMPARE(app::ranksOn(app::readHosts("far").value(), false).hostfile,
             std::string("localhost slots=1\nfar slots=1\n"));
}

void TestHostTexts::progressIsReadByHost()
{
    const auto progress = app::readProgress(
        R"({"phase": "computing", "tasks": 8, "done": 5, "before": 1, "seconds": 8.0, "ranks": [
            {"host": "a", "done": 2, "task": 8}, {"host": "b", "done": 1, "task": null},
            {"host": "a", "done": 1, "task": 7}, {"host": "", "done": 0, "task": null}]})");
    QVERIFY(progress);
    QCOMPARE(progress->hosts.size(), std::size_t{2});
    QCOMPARE(progress->hosts[0].ranks, std::size_t{2});
    QCOMPARE(progress->hosts[0].done, std::size_t{3});
    QVERIFY(progress->hosts[0].shards == std::vector<std::size_t>({7, 8}));
    QCOMPARE(*progress->secondsLeft(), 8.0 / (5 - 1) * (8 - 5));
    for (const char *other : {"", "[]", "{\"ranks\": [3, {\"host\": 4}], \"tasks\": -1", "\"x\""})
        QVERIFY(!app::readProgress(other));
    QVERIFY(app::readProgress(R"({"ranks": [3, {"host": 4}], "tasks": -1})"));
}

void TestHostTexts::theReasonIsFoundInWhatWasSaid_data()
{
    QTest::addColumn<QByteArray>("said");
    QTest::addColumn<QByteArray>("reason");
    QTest::newRow("ours, and what it follows from") << QByteArray(
        "1 of 4 shards, computing\nerror: x.npz: not there\nerror: shard 2: failed with exit code 1; "
        "see the error above\n-----\nMPI_ABORT was invoked on rank 0.\n-----\n")
                                                    << QByteArray("x.npz: not there");
    const QByteArray theirs = "-----------\nORTE was unable to reliably start one or more\ndaemons.\n\n"
                              "* not finding the required libraries\n-----------\n";
    QTest::newRow("Open MPI's") << theirs
                                << QByteArray("ORTE was unable to reliably start one or more daemons.");
    QTest::newRow("of ssh, which names the host")
        << "ssh: Could not resolve hostname node9: Name or service not known\n" + theirs
        << QByteArray("ssh: Could not resolve hostname node9: Name or service not known");
    QTest::newRow("Open MPI's, after a rank was killed") << QByteArray(
        "-----\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per "
        "user-direction, the job has been aborted.\n-----\n-----\nmpirun noticed that process rank 2 with "
        "PID 0 on node vm exited on signal 9 (Killed).\n-----\n")
                                                         << QByteArray(
                                                                "mpirun noticed that process rank 2 with PID "
                                                                "0 on node vm exited on signal 9 (Killed).");
    QTest::newRow("nothing") << QByteArray("3 of 4 shards\n") << QByteArray();
}

void TestHostTexts::theReasonIsFoundInWhatWasSaid()
{
    QFETCH(const QByteArray, said);
    QFETCH(const QByteArray, reason);
    QCOMPARE(QByteArray::fromStdString(app::reasonIn(said.toStdString())), reason);
}

QTEST_GUILESS_MAIN(TestHostTexts)
#include "tst_host_texts.moc"

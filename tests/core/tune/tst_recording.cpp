#include "core/tune/recording.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <csignal>
#include <thread>

using namespace halftone;
using tune::Label;
using tune::Labels;
using tune::Record;
using tune::RecordingOracle;

namespace {

constexpr std::size_t kGroups = 40;

/// Takes a while for each answer, and notes in a file, one byte each, how many it has given.
class NotingOracle final : public tune::Oracle
{
public:
    explicit NotingOracle(QString file)
        : m_file(std::move(file))
    {
    }

    Result<tune::Network> profile(const Progress & /*progress*/) override
    {
        tune::Network network;
        network.groups.resize(kGroups);
        network.wideMs = 1;
        note();
        return network;
    }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t group, Label /*label*/, const Progress & /*progress*/) override
    {
        note();
        return 1e-3 * static_cast<double>(group + 1);
    }
    Result<tune::Measurement> measure(const Labels & /*labels*/, const Progress & /*progress*/) override
    {
        note();
        return tune::Measurement{};
    }

private:
    void note()
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        QFile file(m_file);
        if (!file.open(QIODevice::Append | QIODevice::Unbuffered) || file.write("x") != 1)
            qFatal("cannot note");
    }

    QString m_file;
};

Record recordIn(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    auto record = tune::readRecord(file.readAll().toStdString());
    if (!record.ok())
        qFatal("%s", record.error().message().c_str());
    return std::move(record).value();
}

std::size_t answersIn(const Record &record)
{
    return (record.network ? 1 : 0) + record.alone.size() + record.measured.size();
}

/// Asks for everything, as a search does.
void askAll(const QString &notes, const QString &state)
{
    NotingOracle inner(notes);
    RecordingOracle oracle(inner, recordIn(state), state.toStdString());
    static_cast<void>(oracle.profile({}));
    for (std::size_t k = 0; k < kGroups; ++k)
        static_cast<void>(oracle.errorAlone(k, Label::Target, {}));
    for (std::size_t k = 0; k < kGroups; ++k) {
        Labels labels(kGroups, Label::Float32);
        labels[k] = Label::Target;
        static_cast<void>(oracle.measure(labels, {}));
    }
}

} // namespace

/// Two groups and what lies between them, of which a guess is told at first.
class GuessingOracle final : public tune::Oracle
{
public:
    Result<tune::Network> profile(const Progress & /*progress*/) override
    {
        tune::Network network;
        network.groups.resize(2);
        network.links = {{0, {1}, {0.5}, 1000}};
        network.wideMs = 1;
        return network;
    }
    Result<std::optional<std::vector<tune::Link>>> timeConversions(const Progress & /*progress*/) override
    {
        ++asked;
        std::vector<tune::Link> links = resumed.links;
        for (tune::Link &link : links) {
            link.prices.castMicroseconds = 2e-3 * link.elements;
            link.prices.widenMicroseconds = 3e-3 * link.elements;
            link.prices.codesMicroseconds = 5e-3 * link.elements;
        }
        return std::optional(std::move(links));
    }
    void resume(const tune::Network &network) override { resumed = network; }
    Result<double> errorAlone(std::size_t, Label, const Progress & /*progress*/) override { return 0.0; }
    Result<tune::Measurement> measure(const Labels &, const Progress & /*progress*/) override
    {
        return tune::Measurement{};
    }

    int asked = 0;
    tune::Network resumed;
};

class TestRecording : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whoIsKilledLosesOneAnswerAtMost();
    void timesOfConversionsAreAskedForOnce();
    void onlyWhatIsNotToBeTrustedIsAskedForAgain();
};

/// Of all answers that were given at most one a kill was given again.
void TestRecording::whoIsKilledLosesOneAnswerAtMost()
{
    QTemporaryDir folder;
    const QString notes = folder.filePath("notes");
    const QString state = folder.filePath("state.json");
    qint64 kills = 0;
    for (const int milliseconds : {30, 75, 110}) {
        const pid_t child = fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            askAll(notes, state);
            _exit(0);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        QCOMPARE(::kill(child, SIGKILL), 0);
        int status = 0;
        QCOMPARE(waitpid(child, &status, 0), child);
        kills += WIFSIGNALED(status) ? 1 : 0;
        const auto given = static_cast<std::size_t>(QFile(notes).size());
        const std::size_t kept = answersIn(recordIn(state));
        QVERIFY2(given <= kept + static_cast<std::size_t>(kills),
                 qPrintable(QString("%1 given, %2 kept after %3 kills").arg(given).arg(kept).arg(kills)));
    }
    askAll(notes, state);
    QCOMPARE(answersIn(recordIn(state)), 1 + 2 * kGroups);
    QVERIFY(QFile(notes).size() <= static_cast<qint64>(1 + 2 * kGroups) + kills);
}

/// Also by who goes on after a kill in between; what there is to know of a link is in the record.
void TestRecording::timesOfConversionsAreAskedForOnce()
{
    QTemporaryDir folder;
    const QString state = folder.filePath("state.json");
    GuessingOracle inner;
    QVERIFY(RecordingOracle(inner, {}, state.toStdString()).profile({}).ok());
    const double guess = recordIn(state).network->links[0].prices.castMicroseconds;
    QVERIFY(!recordIn(state).conversions);
    QVERIFY(guess != 2);
    for (int round = 0; round < 2; ++round) {
        RecordingOracle oracle(inner, recordIn(state), state.toStdString());
        const auto network = oracle.profile({}); // what is decided before times are known is decided again
        QVERIFY(network.ok());
        QCOMPARE(network.value().links[0].prices.castMicroseconds, guess);
        const auto links = oracle.timeConversions({});
        QVERIFY(links.ok() && links.value());
        QCOMPARE(links.value()->size(), std::size_t{1});
        QCOMPARE(links.value()->front().prices.castMicroseconds, 2.0);
        QCOMPARE(links.value()->front().prices.codesMicroseconds, 5.0);
        QCOMPARE(recordIn(state).conversions->size(), std::size_t{1});
        QCOMPARE(recordIn(state).conversions->front().castMicroseconds, 2.0);
        QCOMPARE(links.value()->front().prices.widenMicroseconds, 3.0);
        QCOMPARE(recordIn(state).conversions->front().widenMicroseconds, 3.0);
        QCOMPARE(recordIn(state).conversions->front().codesMicroseconds, 5.0);
    }
    QCOMPARE(inner.asked, 1);
}

void TestRecording::onlyWhatIsNotToBeTrustedIsAskedForAgain()
{
    const auto timed = [](double milliseconds, double low, double high, bool isDisturbed = false) {
        tune::Measurement measured;
        measured.milliseconds = milliseconds;
        measured.ci95 = {low, high};
        measured.isDisturbed = isDisturbed;
        return measured;
    };
    const Labels wide{Label::Float32, Label::Float32};
    const Labels known{Label::Target, Label::Float32};
    const Labels vague{Label::Float32, Label::Target};
    const Labels disturbed{Label::Target, Label::Target};
    Record record{"basis", tune::Network(), {}, {}, {}, {}};
    record.network->groups.resize(2);
    record.alone[{0, Label::Target}] = 1e-3;
    tune::Front front;
    const auto add = [&](const Labels &labels, const tune::Measurement &measured) {
        tune::Point point;
        point.labels = labels;
        point.measured = measured;
        front.points.push_back(point);
        record.measured[labels] = record.confirmed[labels] = measured;
    };
    add(wide, timed(2, 1.9, 2.1));
    add(known, timed(1.5, 1.3, 1.7));
    add(vague, timed(1.2, 0.8, 1.6)); // a third to either side
    add(disturbed, timed(1, 0.95, 1.05, true));
    QVERIFY(tune::isTimeKnown(*front.points[1].measured) && !tune::isTimeKnown(*front.points[2].measured));
    QVERIFY(!tune::isTimeKnown(timed(1, -0.1, 1.1))); // holds zero
    QVERIFY(front.isUnreliable());

    Record again = record;
    tune::forgetUnreliable(again, front);
    QCOMPARE(again.basis, record.basis);
    QVERIFY(again.network);
    QCOMPARE(again.alone.size(), std::size_t{1});
    for (const auto *const times : {&again.measured, &again.confirmed}) {
        QCOMPARE(times->size(), std::size_t{2});
        QVERIFY(times->contains(wide) && times->contains(known));
    }
    front.areLayersDisturbed = true; // by which everything was chosen
    tune::forgetUnreliable(again, front);
    QCOMPARE(again.basis, record.basis);
    QVERIFY(!again.network && again.alone.empty() && again.measured.empty());
}

QTEST_GUILESS_MAIN(TestRecording)
#include "tst_recording.moc"

#include "app/recoverable_session.h"
#include "core/policy/policy_json.h"
#include "core/session/journal.h"
#include "core/session/session_file.h"
#include "tests/window/window_fixture.h"

#include <QDir>
#include <QProcess>
#include <QRandomGenerator>

#include <csignal>
#include <cstdio>

using namespace halftone;
using app::MainWindow;

namespace {

const QString kEditing = QStringLiteral("--edit-until-killed");

/// What the killed program does: edits, undoes and saves, and says after each step, by number, that it is done.
int editUntilKilled(const QString &sessionPath)
{
    MainWindow window;
    window.open(test::kSampleModel);
    window.jobs().setErrorsWanted(false);
    if (!test::settle(window))
        return 1;
    for (int step = 1;; ++step) {
        window.controller().apply(policy::ExcludeNames{{"step" + std::to_string(step)}});
        std::printf("%d\n", step);
        std::fflush(stdout);
        if (step % 7 == 0 && !window.files().save(sessionPath).ok())
            return 2;
        QTest::qWait(1);
    }
}

/// The highest step that a policy holds.
int lastStep(const policy::Policy &policy)
{
    return policy.excludedNames.empty() ? 0
                                        : QString::fromStdString(policy.excludedNames.back()).mid(4).toInt();
}

} // namespace

/// HALFTONE_KILLS of them (20).
class TestKill : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void atMostTheLastEditIsLostAndNoSavedFile()
    {
        const int wanted = qEnvironmentVariableIntValue("HALFTONE_KILLS");
        const int kills = wanted > 0 ? wanted : 20;
        QRandomGenerator random(1);
        int longest = 0;
        for (int i = 0; i < kills; ++i) {
            const QTemporaryDir folder;
            const QString session = folder.filePath("a.halftone");
            QProcess program;
            program.start(QCoreApplication::applicationFilePath(), {kEditing, session});
            QVERIFY(program.waitForStarted());
            QVERIFY2(program.waitForReadyRead(60000), program.readAllStandardError().constData());
            QTest::qSleep(int(random.bounded(400)));
            ::kill(static_cast<pid_t>(program.processId()), SIGKILL);
            QVERIFY(program.waitForFinished());
            const QList<QByteArray> lines = program.readAllStandardOutput().trimmed().split('\n');
            const int told = lines.last().toInt();
            longest = std::max(longest, told);

            const QStringList left = app::recoverableJournals();
            QVERIFY(left.size() == 1 || left.size() == 2); // a new one begins when a session is saved
            int kept = 0;
            for (const QString &journal : left) {
                const auto head = session::Journal::read(journal.toStdString());
                if (!head.ok() && left.size() == 2)
                    continue; // of which the first lines are not there yet
                QVERIFY2(head.ok(), head.ok() ? "" : head.error().message().c_str());
                const session::History &history = head.value().state.history;
                kept = std::max(kept, lastStep(history.entries[history.current].policy));
            }
            QVERIFY2(kept >= told && kept <= told + 1,
                     qPrintable(QStringLiteral("%1 of %2").arg(kept).arg(told)));
            if (QFile::exists(session)) {
                const auto saved = session::readSession(session.toStdString());
                QVERIFY2(saved.ok(), saved.ok() ? "" : saved.error().message().c_str());
                QCOMPARE(lastStep(saved.value().history.entries.back().policy) % 7, 0);
            }
            for (const QString &journal : left)
                app::discardJournal(journal);
        }
        qInfo("%d kills, up to %d edits before one", kills, longest);
    }
};

int main(int argc, char **argv)
{
    const bool isChild = argc > 2 && QString::fromLocal8Bit(argv[1]) == kEditing;
    if (isChild) { // in its parent's home
        QCoreApplication::setApplicationName(QStringLiteral("halftone"));
        QCoreApplication::setOrganizationName(QStringLiteral("halftone"));
        QApplication application(argc, argv);
        return editUntilKilled(QString::fromLocal8Bit(argv[2]));
    }
    const test::PrivateHome home;
    QApplication application(argc, argv);
    TestKill test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_kill.moc"

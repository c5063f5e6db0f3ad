#include "core/base/child_process.h"
#include "core/base/file_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QTest>

#include <csignal>
#include <string>

using namespace halftone;

class TestChildProcess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void endsAreExitCodesOrSignals()
    {
        QCOMPARE(ChildProcess::start({"sh", "-c", "exit 7"}, {}).value().wait(), 7);
        QCOMPARE(ChildProcess::start({"/bin/sh", "-c", "kill -TERM $$"}, {}).value().wait(), 128 + SIGTERM);
    }

    void streamsAreThoseGivenOrNothing()
    {
        int ends[2];
        QCOMPARE(::pipe2(ends, O_CLOEXEC), 0);
        const FileDescriptor ours(ends[0]);
        FileDescriptor theirs(ends[1]);
        ChildProcess child
            = ChildProcess::start({"sh", "-c", "cat; echo lost >&2; echo told"}, {-1, theirs.number()})
                  .value();
        theirs.close();
        std::string told;
        char byte = 0;
        while (::read(ours.number(), &byte, 1) == 1)
            told += byte;
        QCOMPARE(child.wait(), 0);
        QCOMPARE(told, std::string("told\n"));
    }

    /// What this program ignores and blocks, the other does not.
    void signalsAreThoseOfANewProgram()
    {
        std::signal(SIGPIPE, SIG_IGN);
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGTERM);
        QCOMPARE(::pthread_sigmask(SIG_BLOCK, &blocked, nullptr), 0);
        QCOMPARE(ChildProcess::start({"sh", "-c", "kill -PIPE $$"}, {}).value().wait(), 128 + SIGPIPE);
        QCOMPARE(ChildProcess::start({"sh", "-c", "kill -TERM $$"}, {}).value().wait(), 128 + SIGTERM);
        QCOMPARE(::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr), 0);
        std::signal(SIGPIPE, SIG_DFL);
    }

    void whatIsLeftRunningIsKilled()
    {
        QElapsedTimer clock;
        clock.start();
        {
            const ChildProcess child = ChildProcess::start({"sleep", "60"}, {}).value();
        }
        QVERIFY(clock.elapsed() < 30000);
        ChildProcess other = ChildProcess::start({"sleep", "60"}, {}).value();
        other.kill();
        QCOMPARE(other.wait(), 128 + SIGKILL);
    }

    void anAbsentProgramIsNamed()
    {
        const auto started = ChildProcess::start({"/no/such/program"}, {});
        QVERIFY(!started.ok());
        QCOMPARE(started.error().code, Errc::Unsupported);
        QCOMPARE(started.error().message(),
                 std::string(
                     "/no/such/program: No such file or directory, expected a program that can be started"));
    }
};

QTEST_APPLESS_MAIN(TestChildProcess)
#include "tst_child_process.moc"

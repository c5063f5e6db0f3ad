#include "core/base/atomic_file.h"
#include "core/base/output_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

/// A process that does something, says so and waits to be killed.
class Child
{
public:
    explicit Child(const std::function<void()> &work)
    {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0)
            qFatal("no pipe");
        m_process = ::fork();
        if (m_process == 0) {
            work();
            if (::write(ends[1], "x", 1) == 1)
                ::pause();
            ::_exit(0);
        }
        char ready = 0;
        if (::read(ends[0], &ready, 1) != 1)
            qFatal("the child says nothing");
        ::close(ends[0]);
        ::close(ends[1]);
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    ~Child() { kill(); }

    pid_t process() const { return m_process; }
    void kill()
    {
        if (m_process > 0) {
            ::kill(m_process, SIGKILL);
            ::waitpid(std::exchange(m_process, 0), nullptr, 0);
        }
    }

private:
    pid_t m_process = 0;
};

} // namespace

class TestOutputLock : public QObject
{
    Q_OBJECT

private:
    std::optional<QTemporaryDir> m_folder;
    std::string path(const char *name) const
    {
        return m_folder->filePath(QString::fromUtf8(name)).toStdString();
    }
    std::ptrdiff_t filesInFolder() const
    {
        const fs::directory_iterator all(m_folder->path().toStdString());
        return std::distance(begin(all), end(all));
    }
    static void put(const std::string &path) { std::ofstream(path) << "text"; }

private Q_SLOTS:
    void init() { m_folder.emplace(); }

    void aSecondTakerIsToldWhoHasIt()
    {
        {
            const auto first = OutputLock::take(path("model"));
            QVERIFY(first.ok());
            QVERIFY(OutputLock::take(path("another")).ok());
            QVERIFY(OutputLock::isHeld(path("model")) && !OutputLock::isHeld(path("another")));
            const auto second = OutputLock::take(path("model"));
            QVERIFY(!second.ok());
            QCOMPARE(second.error().message(),
                     path("model") + ": process " + std::to_string(::getpid())
                         + " is writing this file; wait for it or choose another name");
        }
        QVERIFY(OutputLock::take(path("model")).ok());
        QVERIFY(!OutputLock::isHeld(path("model")));
        QCOMPARE(filesInFolder(), std::ptrdiff_t{0});
    }

    void aLockOfTheDeadIsTakenOver()
    {
        const std::string output = path("model");
        Child child([&output] { new auto(OutputLock::take(output)); });
        const auto refused = OutputLock::take(output);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message().find(std::to_string(child.process())) != std::string::npos);
        child.kill();
        QCOMPARE(filesInFolder(), std::ptrdiff_t{1});
        QVERIFY(OutputLock::take(output).ok());
        QCOMPARE(filesInFolder(), std::ptrdiff_t{0});
    }

    void temporaryFilesOfTheDeadGoAndThoseOfTheLivingStay()
    {
        const std::string output = path("model");
        const auto open = [&output] { new auto(AtomicFile::create(output)); };
        Child dead(open);
        Child living(open);
        dead.kill();
        QCOMPARE(filesInFolder(), std::ptrdiff_t{2});
        {
            const auto mine = AtomicFile::create(path("other"));
            QVERIFY(mine.ok());
            QCOMPARE(filesInFolder(), std::ptrdiff_t{2}); // the living one's and mine
            QVERIFY(AtomicFile::create(path("third")).ok());
            QCOMPARE(filesInFolder(), std::ptrdiff_t{2});
        }
        living.kill();
        QVERIFY(AtomicFile::create(path("other")).ok());
        QCOMPARE(filesInFolder(), std::ptrdiff_t{0});
    }

    void aLockThatARunLeftGoesWithTheNextFile()
    {
        const std::string output = path("model");
        Child child([&output] { new auto(OutputLock::take(output)); });
        QVERIFY(AtomicFile::create(path("other")).ok());
        QCOMPARE(filesInFolder(), std::ptrdiff_t{1}); // the child's
        child.kill();
        QVERIFY(AtomicFile::create(path("other")).ok());
        QCOMPARE(filesInFolder(), std::ptrdiff_t{0});
    }

    void whoEndsAtOnceTakesItsOwnLockAwayAndNoOther()
    {
        Child holder([this] { new auto(OutputLock::take(path("another's"))); });
        Child child([this] {
            new auto(OutputLock::take(path("model")));
            if (OutputLock::take(path("another's")).ok())
                ::_exit(1);
            AtomicFile::removeTemporaries();
        });
        child.kill();
        QCOMPARE(filesInFolder(), std::ptrdiff_t{1});
        QVERIFY(OutputLock::isHeld(path("another's")));
    }

    void filesOfOthersStay()
    {
        Child living([] {});
        const std::string process = std::to_string(living.process());
        const std::vector<std::string> names{".halftone-" + process + "-0.tmp", // made, not yet locked
                                             ".halftone-x-0.tmp",
                                             ".halftone-1.tmp",
                                             ".halftone-.tmp",
                                             "halftone-1-1.tmp",
                                             ".halftone-settings"};
        for (const std::string &name : names)
            put(path(name.c_str()));
        fs::create_directory(path(".halftone-99999999-1.tmp"));
        QVERIFY(AtomicFile::create(path("other")).ok());
        QCOMPARE(filesInFolder(), static_cast<std::ptrdiff_t>(names.size()) + 1);
    }

    void whatIsKeptWhileFilesChangePlacesIsNoLeftover()
    {
        put(path("a"));
        put(path("b"));
        auto a = AtomicFile::create(path("a"));
        auto b = AtomicFile::create(path("b"));
        QVERIFY(a.ok() && b.ok() && a.value().write("new").ok() && b.value().write("new").ok());
        const std::array both{&a.value(), &b.value()};
        QVERIFY(AtomicFile::commitTogether(both).ok());
        QCOMPARE(filesInFolder(), std::ptrdiff_t{2});
    }
};

QTEST_APPLESS_MAIN(TestOutputLock)
#include "tst_output_lock.moc"

#include "core/base/atomic_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

using halftone::AtomicFile;
namespace fs = std::filesystem;

class TestAtomicFile : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::string path(const char *name) const
    {
        return m_folder.filePath(QString::fromUtf8(name)).toStdString();
    }

    static std::string contentOf(const std::string &path)
    {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    static void put(const std::string &path, const std::string &text)
    {
        std::ofstream(path, std::ios::binary) << text;
    }
    std::size_t filesInFolder() const
    {
        const fs::directory_iterator all(m_folder.path().toStdString());
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

private Q_SLOTS:
    void cleanup()
    {
        fs::permissions(m_folder.path().toStdString(), fs::perms::owner_all);
        for (const auto &entry : fs::directory_iterator(m_folder.path().toStdString()))
            fs::remove_all(entry.path());
    }

    void committedFileHoldsEveryByte()
    {
        std::string expected;
        {
            auto file = AtomicFile::create(path("a"));
            QVERIFY(file.ok());
            for (int i = 0; i < 3000; ++i) {
                const std::string part(static_cast<std::size_t>(i % 97 == 0 ? 70000 : i % 50),
                                       static_cast<char>('a' + i % 26));
                QVERIFY(file.value().write(part).ok());
                expected += part;
            }
            QVERIFY(!fs::exists(path("a")));
            QVERIFY(file.value().commit().ok());
        }
        QVERIFY(contentOf(path("a")) == expected);
        QCOMPARE(filesInFolder(), std::size_t{1});
    }

    void abandonedFileLeavesTheOldOneAndNothingElse()
    {
        put(path("a"), "old");
        {
            auto file = AtomicFile::create(path("a"));
            QVERIFY(file.ok());
            QVERIFY(file.value().write("new").ok());
            QVERIFY(file.value().prepare().ok());
        }
        QCOMPARE(contentOf(path("a")), std::string("old"));
        QCOMPARE(filesInFolder(), std::size_t{1});
    }

    void replacedFileKeepsItsPermissions()
    {
        put(path("a"), "old");
        fs::permissions(path("a"), fs::perms(0640));
        auto file = AtomicFile::create(path("a"));
        QVERIFY(file.ok() && file.value().commit().ok());
        QVERIFY((fs::status(path("a")).permissions() & fs::perms::all) == fs::perms(0640));
    }

    void newFileFollowsTheUmask()
    {
        const mode_t old = ::umask(027);
        auto file = AtomicFile::create(path("a"));
        const bool done = file.ok() && file.value().commit().ok();
        ::umask(old);
        QVERIFY(done);
        QVERIFY((fs::status(path("a")).permissions() & fs::perms::all) == fs::perms(0640));
    }

    void linkStaysALink()
    {
        put(path("real"), "old");
        fs::create_symlink("real", path("link"));
        auto file = AtomicFile::create(path("link"));
        QVERIFY(file.ok() && file.value().write("new").ok() && file.value().commit().ok());
        QVERIFY(fs::is_symlink(path("link")));
        QCOMPARE(contentOf(path("real")), std::string("new"));
    }

    void foldersPipesAndMissingFoldersAreRefused()
    {
        fs::create_directory(path("folder"));
        QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
        for (const char *name : {"folder", "pipe", "missing/a"}) {
            const auto file = AtomicFile::create(path(name));
            QVERIFY(!file.ok());
            QCOMPARE(file.error().file, path(name));
        }
        QCOMPARE(filesInFolder(), std::size_t{2});
    }

    void fullDiskIsAnErrorAndLeavesTheOldFile()
    {
        // A limit on file size stands for a full disk.
        put(path("a"), "old");
        rlimit before = {};
        ::getrlimit(RLIMIT_FSIZE, &before);
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        std::string message;
        {
            auto file = AtomicFile::create(path("a"));
            if (file.ok() && file.value().write(std::string(200000, 'x')).ok() == false) {
                const auto outcome = file.value().commit();
                message = outcome.ok() ? "committed" : outcome.error().message();
            }
        }
        ::setrlimit(RLIMIT_FSIZE, &before);
        QCOMPARE(message, path("a") + ": cannot write: File too large");
        QCOMPARE(contentOf(path("a")), std::string("old"));
        QCOMPARE(filesInFolder(), std::size_t{1});
    }

    void whatWasMadeOfAFileThatHasChangedIsNotCommitted()
    {
        put(path("source"), std::string(std::size_t{2} << 20, 'x'));
        put(path("a"), "old");
        const auto source = halftone::MappedFile::open(path("source"));
        QVERIFY(source.ok());
        fs::resize_file(path("source"), 5);
        auto file = AtomicFile::create(path("a"));
        QVERIFY(file.ok() && file.value().write("new").ok());
        QVERIFY(!file.value().commit().ok());
        QCOMPARE(contentOf(path("a")), std::string("old"));
        auto other = AtomicFile::create(path("a"), AtomicFile::Sources::Any);
        QVERIFY(other.ok() && other.value().write("new").ok() && other.value().commit().ok());
        QCOMPARE(contentOf(path("a")), std::string("new"));
    }

    void aProgramThatEndsAtOnceLeavesNoTemporaryFile()
    {
        const pid_t child = ::fork();
        if (child == 0) {
            auto file = AtomicFile::create(path("a"));
            static_cast<void>(file.value().write(std::string(200000, 'x')));
            AtomicFile::removeTemporaries();
            std::_Exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        QCOMPARE(status, 0);
        QCOMPARE(filesInFolder(), std::size_t{0});
    }

    void filesThatBelongTogetherAppearTogether()
    {
        put(path("b"), "old b");
        auto a = AtomicFile::create(path("a"));
        auto b = AtomicFile::create(path("b"));
        QVERIFY(a.ok() && b.ok() && a.value().write("new a").ok() && b.value().write("new b").ok());
        const std::array both{&a.value(), &b.value()};
        QVERIFY(AtomicFile::commitTogether(both).ok());
        QCOMPARE(contentOf(path("a")), std::string("new a"));
        QCOMPARE(contentOf(path("b")), std::string("new b"));
        QCOMPARE(filesInFolder(), std::size_t{2});
    }

    void whenOneCannotBePutInPlaceTheOthersAreTakenBack()
    {
        put(path("a"), "old a");
        {
            auto a = AtomicFile::create(path("a"));
            auto b = AtomicFile::create(path("b"));
            auto c = AtomicFile::create(path("c"));
            QVERIFY(a.ok() && b.ok() && c.ok() && a.value().write("new a").ok());
            fs::create_directory(path("c")); // in the way of the rename
            const std::array all{&a.value(), &b.value(), &c.value()};
            QVERIFY(!AtomicFile::commitTogether(all).ok());
        }
        QCOMPARE(contentOf(path("a")), std::string("old a"));
        QVERIFY(!fs::exists(path("b")));
        QCOMPARE(filesInFolder(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(TestAtomicFile)
#include "tst_atomic_file.moc"

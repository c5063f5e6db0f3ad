#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

using namespace halftone;

using OnDisk = MappedFile::OnDisk;

/// What has been read stays, whoever writes to the file: of a program that has asked for it.
class TestKeptFile : public QObject
{
    Q_OBJECT

    static constexpr std::size_t kBytes = std::size_t{3} << 20; ///< mapped

    std::unique_ptr<QTemporaryDir> m_folder;
    std::string path(const char *name) const { return m_folder->filePath(name).toStdString(); }

    std::shared_ptr<const MappedFile> openedFile(std::size_t bytes = kBytes)
    {
        std::ofstream(path("model"), std::ios::binary) << std::string(bytes, 'a');
        return MappedFile::open(path("model")).value();
    }

    /// In place, as an exporter that opens the file and writes it anew.
    void writeOver(std::size_t bytes = kBytes, char with = 'b')
    {
        QTest::qSleep(20); // of the clock that stamps files
        std::ofstream(path("model"), std::ios::binary) << std::string(bytes, with);
    }

    static bool isAll(const MappedFile &file, char letter, std::size_t bytes = kBytes)
    {
        return file.text() == std::string(bytes, letter);
    }

private Q_SLOTS:
    void initTestCase()
    {
        MappedFile::surviveCuts();
        MappedFile::keepContents();
    }
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aFileThatNobodyWritesToIsAsRead()
    {
        const auto file = openedFile();
        QVERIFY(file->onDisk() == OnDisk::AsRead);
        QVERIFY(file->check().ok());
    }

    void whatIsWrittenOverInPlaceStaysAsItWasRead_data()
    {
        QTest::addColumn<qulonglong>("before");
        QTest::addColumn<qulonglong>("after");
        QTest::newRow("same size") << qulonglong{kBytes} << qulonglong{kBytes};
        QTest::newRow("cut") << qulonglong{kBytes} << qulonglong{10};
        QTest::newRow("longer") << qulonglong{kBytes} << qulonglong{2 * kBytes};
        QTest::newRow("small, same size") << qulonglong{1000} << qulonglong{1000};
        QTest::newRow("emptied") << qulonglong{kBytes} << qulonglong{0};
    }
    void whatIsWrittenOverInPlaceStaysAsItWasRead()
    {
        QFETCH(qulonglong, before);
        QFETCH(qulonglong, after);
        const auto file = openedFile(before);
        writeOver(after);
        QVERIFY(isAll(*file, 'a', before));
        QVERIFY(file->check().ok());
        QVERIFY(MappedFile::checkAll().ok());
        QVERIFY(file->onDisk() == OnDisk::Changed);
        MappedFile::release(file->bytes()); // has no file to come back from
        QVERIFY(isAll(*file, 'a', before));
    }

    void oneByteThatIsWrittenIsSeen()
    {
        const auto file = openedFile();
        QTest::qSleep(20);
        std::fstream(path("model"), std::ios::in | std::ios::out | std::ios::binary).seekp(2'000'000) << 'b';
        QVERIFY(isAll(*file, 'a'));
        QVERIFY(file->onDisk() == OnDisk::Changed);
    }

    void readersSeeOneContentWhileItIsWrittenOver()
    {
        const auto file = openedFile();
        std::jthread reader([&file](const std::stop_token &stop) {
            while (!stop.stop_requested()) {
                if (!isAll(*file, 'a'))
                    qFatal("other bytes were read");
            }
        });
        for (const char with : {'b', 'c', 'd'})
            writeOver(kBytes, with);
    }

    void aWriterWaitsNoLongerThanTheCopyTakes()
    {
        const auto file = openedFile();
        const auto began = std::chrono::steady_clock::now();
        writeOver();
        QVERIFY(std::chrono::steady_clock::now() - began
                < std::chrono::seconds(20)); // the system's limit is 45
    }

    void aFileThatSomebodyHasOpenForWritingIsCopiedBeforehand()
    {
        std::ofstream(path("model"), std::ios::binary) << std::string(kBytes, 'a');
        std::fstream writer(path("model"), std::ios::in | std::ios::out | std::ios::binary);
        const auto file = MappedFile::open(path("model")).value();
        QVERIFY(file->onDisk() == OnDisk::AsRead);
        QTest::qSleep(20);
        writer << std::string(kBytes, 'b') << std::flush;
        QVERIFY(isAll(*file, 'a'));
        QVERIFY(file->check().ok());
        QVERIFY(file->onDisk() == OnDisk::Changed);
    }

    void anotherFileInItsPlaceIsSeenAndOneThatIsGoneIsMissing()
    {
        for (const std::size_t bytes : {kBytes, std::size_t{1000}}) {
            const auto file = openedFile(bytes);
            std::ofstream(path("new"), std::ios::binary) << std::string(bytes, 'b');
            std::filesystem::rename(path("new"), path("model"));
            QVERIFY(file->onDisk() == OnDisk::Changed);
            QVERIFY(isAll(*file, 'a', bytes));
            std::filesystem::remove(path("model"));
            QVERIFY(file->onDisk() == OnDisk::Missing);
            QVERIFY(file->check().ok());
        }
    }

    void whatOnlyGetsAnotherTimeHasNotChanged()
    {
        for (const std::size_t bytes : {kBytes, std::size_t{1000}}) {
            const auto file = openedFile(bytes);
            std::filesystem::last_write_time(
                path("model"), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
            QVERIFY(file->onDisk() == OnDisk::AsRead);
            QVERIFY(file->check().ok());
        }
    }
};

QTEST_APPLESS_MAIN(TestKeptFile)
#include "tst_kept_file.moc"

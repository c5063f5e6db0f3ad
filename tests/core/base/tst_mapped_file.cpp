#include "core/base/byte_reader.h"
#include "core/base/mapped_file.h"

#include <sys/stat.h>

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>

using halftone::ByteReader;
using halftone::MappedFile;

namespace {

/// Of this process, of files, as the system counts them.
std::int64_t mappedKilobytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kilobytes = 0;
        if (word == "RssFile:" && status >> kilobytes)
            return kilobytes;
    }
    return 0;
}

} // namespace

class TestMappedFile : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::string path(const char *name) const
    {
        return m_folder.filePath(QString::fromUtf8(name)).toStdString();
    }

private Q_SLOTS:
    void everyByteIsThereAlsoWhenTheFileIsReplacedMeanwhile()
    {
        std::ofstream(path("a")) << "first";
        const auto file = MappedFile::open(path("a"));
        QVERIFY(file.ok());
        std::ofstream(path("b")) << "second!";
        std::filesystem::rename(path("b"), path("a"));
        QCOMPARE(std::string(file.value()->text()), std::string("first"));
    }

    void aFileThatIsCutReadsAsZerosAndIsToldOf()
    {
        MappedFile::surviveCuts();
        const std::string bytes(std::size_t{4} << 20, 'x');
        std::ofstream(path("long")) << bytes;
        const auto file = MappedFile::open(path("long"));
        QVERIFY(file.ok());
        QVERIFY(MappedFile::checkAll().ok());
        std::filesystem::resize_file(path("long"), 100);
        QCOMPARE(file.value()->text().front(), 'x');
        QCOMPARE(file.value()->text().back(), '\0');
        const auto checked = MappedFile::checkAll();
        QVERIFY(!checked.ok());
        QCOMPARE(checked.error().message(),
                 path("long")
                     + ": the file was changed while it was open; run again when no program is writing it");
    }

    void aFileThatIsWrittenToIsToldOfUntilItIsClosed()
    {
        std::ofstream(path("long")) << std::string(std::size_t{2} << 20, 'x');
        {
            const auto file = MappedFile::open(path("long"));
            QVERIFY(file.ok());
            QTest::qSleep(20); // of the clock that stamps files
            std::fstream(path("long"), std::ios::in | std::ios::out) << "y";
            QVERIFY(!MappedFile::checkAll().ok());
        }
        QVERIFY(MappedFile::checkAll().ok());
    }

    void pagesThatWereReadLeaveMemoryAndComeBack()
    {
        constexpr std::size_t kBytes = std::size_t{8} << 20;
        std::ofstream(path("long")) << std::string(kBytes, 'x');
        const auto file = MappedFile::open(path("long"));
        QVERIFY(file.ok());
        const std::string_view text = file.value()->text();
        const std::int64_t before = mappedKilobytes();
        QVERIFY(std::ranges::all_of(text, [](char letter) { return letter == 'x'; }));
        const std::int64_t read = mappedKilobytes();
        QVERIFY(read - before > 7 << 10);
        MappedFile::release(file.value()->bytes().subspan(1)); // the first page only in part
        QVERIFY(read - mappedKilobytes() > 7 << 10);
        QVERIFY(std::ranges::all_of(text, [](char letter) { return letter == 'x'; }));
        QVERIFY(MappedFile::checkAll().ok());

        std::vector<std::byte> own(kBytes, std::byte{7}); // of no file
        MappedFile::release(own);
        QVERIFY(std::ranges::all_of(own, [](std::byte byte) { return byte == std::byte{7}; }));
    }

    void aSmallFileIsCopied()
    {
        std::ofstream(path("short")) << "all of it";
        const auto file = MappedFile::open(path("short"));
        QVERIFY(file.ok());
        std::filesystem::resize_file(path("short"), 0);
        QCOMPARE(std::string(file.value()->text()), std::string("all of it"));
        QVERIFY(MappedFile::checkAll().ok());
    }

    void emptyFileHasNoBytes()
    {
        const std::ofstream empty(path("empty"));
        const auto file = MappedFile::open(path("empty"));
        QVERIFY(file.ok());
        QVERIFY(file.value()->bytes().empty());
    }

    void twoNamesOfOneFileHaveOneIdentity()
    {
        std::ofstream(path("one")) << "x";
        std::ofstream(path("other")) << "x";
        std::filesystem::create_hard_link(path("one"), path("hard"));
        std::filesystem::create_symlink("one", path("soft"));
        const auto identity
            = [this](const char *name) { return MappedFile::open(path(name)).value()->identity(); };
        QVERIFY(identity("one") == identity("hard"));
        QVERIFY(identity("one") == identity("soft"));
        QVERIFY(!(identity("one") == identity("other")));
    }

    void whatIsNoRegularFileIsRefusedByItsKind()
    {
        QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
        const std::pair<std::string, std::string> cases[] = {
            {m_folder.path().toStdString(), "a folder, expected a regular file"},
            {path("pipe"), "a pipe, expected a regular file"},
            {"/dev/null", "a device, expected a regular file"},
            {path("missing"), "cannot open: No such file or directory"},
        };
        for (const auto &[name, text] : cases) {
            const auto file = MappedFile::open(name);
            QVERIFY(!file.ok());
            QCOMPARE(file.error().message(), name + ": " + text);
        }
    }

    void readerStopsAtTheEndAndNamesThePlace()
    {
        const std::array<unsigned char, 7> bytes{1, 2, 0, 0, 0, 9, 9};
        ByteReader reader(std::as_bytes(std::span(bytes)));
        QCOMPARE(reader.read<std::uint8_t>("a flag").value(), std::uint8_t{1});
        QCOMPARE(reader.read<std::int32_t>("a count").value(), 2);
        const auto tooMuch = reader.read<std::uint32_t>("the length");
        QVERIFY(!tooMuch.ok());
        QCOMPARE(tooMuch.error().message(),
                 std::string("byte 5: the file ends in the length: 2 bytes left, expected 4"));
        QVERIFY(!reader.take(std::numeric_limits<std::uint64_t>::max(), "the data").ok());
        QCOMPARE(reader.offset(), std::size_t{5});
        QCOMPARE(reader.take(2, "the data").value().size(), std::size_t{2});
        QCOMPARE(reader.left(), std::size_t{0});
    }
};

QTEST_APPLESS_MAIN(TestMappedFile)
#include "tst_mapped_file.moc"

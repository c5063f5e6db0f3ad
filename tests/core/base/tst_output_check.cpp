#include "core/base/output_check.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <vector>

using namespace halftone;
namespace fs = std::filesystem;

class TestOutputCheck : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::string path(const std::string &name) const { return m_folder.path().toStdString() + '/' + name; }
    static void put(const std::string &path) { std::ofstream(path) << "text"; }

private Q_SLOTS:
    void initTestCase()
    {
        put(path("read"));
        put(path("other"));
        fs::create_symlink("read", path("link"));
        fs::create_hard_link(path("read"), path("twin"));
        fs::create_directory(path("folder"));
        fs::create_directory_symlink("folder", path("way"));
    }

    void whatIsReadIsNotWrittenWhateverItsName_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("its name") << "read";
        QTest::newRow("another way") << "folder/../read";
        QTest::newRow("a link") << "link";
        QTest::newRow("a hard link") << "twin";
    }

    void whatIsReadIsNotWrittenWhateverItsName()
    {
        QFETCH(QString, name);
        const std::vector<NamedFile> reads{{"--inputs", path("missing")}, {"--labels", path("read")}};
        const std::vector<NamedFile> writes{{"--csv", path("other")}, {"--out", path(name.toStdString())}};
        const auto outcome = checkOutputs(reads, writes);
        QVERIFY(!outcome.ok());
        QCOMPARE(outcome.error().code, Errc::BadCall);
        QCOMPARE(outcome.error().where, std::string("--out"));
        QVERIFY(outcome.error().found.find("--labels") != std::string::npos);
    }

    void twoOutputsAreTwoFiles_data()
    {
        QTest::addColumn<QString>("first");
        QTest::addColumn<QString>("second");
        QTest::newRow("not there yet") << "new"
                                       << "folder/../new";
        QTest::newRow("by a linked folder") << "folder/new"
                                            << "way/new";
        QTest::newRow("there") << "other"
                               << "other";
    }

    void twoOutputsAreTwoFiles()
    {
        QFETCH(QString, first);
        QFETCH(QString, second);
        const std::vector<NamedFile> writes{{"--out", path(first.toStdString())},
                                            {"--report", path(second.toStdString())}};
        const auto outcome = checkOutputs({}, writes);
        QVERIFY(!outcome.ok());
        QCOMPARE(outcome.error().where, std::string("--report"));
    }

    void aNameThatIsNoneIsRefused()
    {
        for (const std::string &name : {std::string(), std::string("/"), path("folder"), path("way/")}) {
            const std::vector<NamedFile> writes{{"--out", name}};
            const auto outcome = checkOutputs({}, writes);
            QVERIFY(!outcome.ok());
            QCOMPARE(outcome.error().code, Errc::BadCall);
        }
    }

    void aFolderThatIsMissingIsToldBeforeTheWork()
    {
        const std::vector<NamedFile> writes{{"--out", path("missing/a")}};
        const auto outcome = checkOutputs({}, writes);
        QVERIFY(!outcome.ok());
        QCOMPARE(outcome.error().message(), path("missing/a") + ": cannot write: No such file or directory");
    }

    void othersAreFree()
    {
        const std::vector<NamedFile> reads{{"--inputs", path("read")}, {"--labels", path("read")}};
        const std::vector<NamedFile> writes{{"--out", path("other")}, {"--report", path("folder/read")}};
        QVERIFY(checkOutputs(reads, writes).ok());
        const std::vector<NamedFile> here{{"--out", "name-that-is-not-there-yet"}};
        QVERIFY(checkOutputs({}, here).ok());
    }
};

QTEST_APPLESS_MAIN(TestOutputCheck)
#include "tst_output_check.moc"

#include "core/base/output_lock.h"
#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QMap>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <optional>

using namespace halftone::test;
namespace fs = std::filesystem;

namespace {

QStringList in(const QString &folder, QStringList arguments)
{
    for (QString &argument : arguments)
        argument.replace("@", folder + '/');
    return arguments;
}

} // namespace

/// Which files the commands write, and which they never do.
class TestCliFiles : public QObject
{
    Q_OBJECT

private:
    std::optional<QTemporaryDir> m_folder;

    QString path(const char *name) const { return m_folder->filePath(name); }
    void copy(const QString &from, const char *name) const
    {
        fs::copy_file((kSampleFolder + from).toStdString(), path(name).toStdString());
    }
    QMap<QString, QByteArray> contents() const
    {
        QMap<QString, QByteArray> all;
        for (const QString &name : QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden)) {
            QFile file(m_folder->filePath(name));
            all[name] = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("unreadable");
        }
        return all;
    }

private Q_SLOTS:
    void init();
    void noCommandWritesOverWhatItReads_data();
    void noCommandWritesOverWhatItReads();
    void anOutputNeedsAName_data();
    void anOutputNeedsAName();
    void aMissingFolderIsToldBeforeTheWork();
    void parametersOfAnotherTypeAreRefused_data();
    void parametersOfAnotherTypeAreRefused();
    void aPairOfTwoRunsIsRefusedUnlessItIsMeant();
    void withoutGraphvizTheLayoutIsPlain();
    void aSecondWriterIsToldAtOnce();
    void whatAKilledRunLeftGoesWithTheNext();
};

void TestCliFiles::init()
{
    m_folder.emplace();
    copy("digits-symbol.json", "net-symbol.json");
    copy("digits-0000.params", "net-0000.params");
    copy("digits-test.npz", "data.npz");
    copy("all-float16.policy.json", "policy.json");
    copy("preprocess.json", "preprocess.json");
    fs::create_symlink("data.npz", path("link.npz").toStdString());
    fs::create_hard_link(path("data.npz").toStdString(), path("twin.npz").toStdString());
    fs::create_hard_link(path("net-symbol.json").toStdString(), path("same-symbol.json").toStdString());
    fs::create_directory(path("pictures").toStdString());
    copy("../help/overview.png", "pictures/a.png");
}

void TestCliFiles::noCommandWritesOverWhatItReads_data()
{
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char *name, const char *arguments) {
        QTest::newRow(name) << QString(arguments).split(' ');
    };
    row("run, its arrays", "run @net-symbol.json --inputs @data.npz --out @data.npz");
    row("run, a link to them", "run @net-symbol.json --inputs @data.npz --out @link.npz");
    row("run, a hard link to them", "run @net-symbol.json --inputs @data.npz --out @twin.npz");
    row("run, another way to them", "run @net-symbol.json --inputs @data.npz --out @pictures/../data.npz");
    row("run, the symbol", "run @net-symbol.json --inputs @data.npz --out @net-symbol.json");
    row("run, the parameters", "run @net-symbol.json --inputs @data.npz --out @net-0000.params");
    row("run, named parameters",
        "run @net-symbol.json --params @net-0000.params --inputs @data.npz --out @net-0000.params");
    row("run, its labels", "run @net-symbol.json --inputs @data.npz --labels @twin.npz --out @link.npz");
    row("run, a picture", "run @net-symbol.json --inputs @pictures --out @pictures/a.png");
    row("run, the rules for pictures", "run @net-symbol.json --inputs @pictures --out @preprocess.json");
    row("calibrate, its arrays", "calibrate @net-symbol.json --inputs @data.npz --out @link.npz");
    row("calibrate, bare arrays", "calibrate --array @data.npz --out @twin.npz");
    row("report, the model", "report @net-symbol.json --out @same-symbol.json");
    row("report, its data", "report @net-symbol.json --inputs @data.npz --out @data.npz");
    row("report, its policy", "report @net-symbol.json --policy @policy.json --out @policy.json");
    row("compare, its data", "compare @net-symbol.json --inputs @data.npz --csv @link.npz");
    row("compare, its policy",
        "compare @net-symbol.json --policy @policy.json --inputs @data.npz --csv @policy.json");
    row("compare, the other model",
        "compare @net-symbol.json --against @same-symbol.json --inputs @data.npz --csv @same-symbol.json");
    row("convert, the model by its report", "convert @net-symbol.json --out @new --report @net-symbol.json");
    row("convert, its policy by its report",
        "convert @net-symbol.json --policy @policy.json --out @new --report @policy.json");
    row("convert, the model", "convert @net-symbol.json --out @net");
    row("convert, the model by a hard link", "convert @net-symbol.json --out @same");
    row("convert, its own symbol", "convert @net-symbol.json --out @new --report @new-symbol.json");
    row("convert, its own parameters",
        "convert @net-symbol.json --out @new --report @pictures/../new-0000.params");
    row("quantize, the model", "quantize @net-symbol.json --inputs @data.npz --out @same");
    row("rewrite, the model", "rewrite @net-symbol.json --pass share --out @net");
    row("rewrite, the parameters of before",
        "rewrite @same-symbol.json --pass strip-casts --fp32-params @net-0000.params --no-params --out @net");
}

void TestCliFiles::noCommandWritesOverWhatItReads()
{
    QFETCH(QStringList, arguments);
    const auto before = contents();
    const CliOutcome outcome = callCli(in(m_folder->path(), arguments));
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.err.count('\n'), 1);
    QVERIFY2(outcome.err.startsWith("error: ") && outcome.err.contains("expected a different file"),
             outcome.err.constData());
    QCOMPARE(contents(), before);
}

void TestCliFiles::anOutputNeedsAName_data()
{
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const QString &arguments) {
        for (const char *name : {"", "/", "@pictures", "@pictures/"}) {
            const bool isPrefix = !arguments.startsWith("run") && !arguments.startsWith("calibrate")
                && !arguments.startsWith("report") && !arguments.startsWith("compare");
            if (!isPrefix || QByteArray(name) != "@pictures") // with a prefix: pictures-symbol.json beside it
                QTest::addRow("%s [%s]", qPrintable(arguments.section(' ', 0, 0)), name)
                    << (arguments.split(' ') + QStringList{name});
        }
    };
    row("run @net-symbol.json --inputs @data.npz --out");
    row("calibrate @net-symbol.json --inputs @data.npz --out");
    row("report @net-symbol.json --out");
    row("compare @net-symbol.json --inputs @data.npz --csv");
    row("convert @net-symbol.json --out");
    row("quantize @net-symbol.json --inputs @data.npz --out");
    row("rewrite @net-symbol.json --pass share --out");
}

void TestCliFiles::anOutputNeedsAName()
{
    QFETCH(QStringList, arguments);
    const auto before = contents();
    const CliOutcome outcome = callCli(in(m_folder->path(), arguments));
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.startsWith("error: ") && outcome.err.count('\n') == 1, outcome.err.constData());
    QCOMPARE(contents(), before);
}

void TestCliFiles::aMissingFolderIsToldBeforeTheWork()
{
    const CliOutcome outcome
        = callCli({"run", path("net-symbol.json"), "--inputs", path("data.npz"), "--out", path("no/o.npz")});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.err,
             "error: " + path("no/o.npz").toUtf8() + ": cannot write: No such file or directory\n");
}

void TestCliFiles::parametersOfAnotherTypeAreRefused_data()
{
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char *arguments) {
        const QStringList all = QString(arguments).split(' ');
        QTest::newRow(qPrintable(all.front())) << all;
    };
    row("info @mixed-symbol.json");
    row("run @mixed-symbol.json --inputs @data.npz --out @out.npz");
    row("compare @mixed-symbol.json --inputs @data.npz");
    row("convert @mixed-symbol.json --out @again");
    row("calibrate @mixed-symbol.json --inputs @data.npz");
}

/// MXNet 1.9.1 binds no such pair: "Incompatible attr in node conv0 at 1-th input: expected bfloat16, got float32".
void TestCliFiles::parametersOfAnotherTypeAreRefused()
{
    QFETCH(QStringList, arguments);
    QCOMPARE(callCli({"convert", path("net-symbol.json"), "--target", "bfloat16", "--cast-params", "--out",
                      path("mixed")})
                 .code,
             0);
    QCOMPARE(callCli({"info", path("mixed-symbol.json")}).code, 0);
    // Named, so that the mark that ties the files has no say.
    arguments += {"--params", "@net-0000.params"};
    const CliOutcome outcome = callCli(in(m_folder->path(), arguments));
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.lastLine().contains("net-0000.params") && outcome.lastLine().contains("bfloat16")
                 && outcome.lastLine().contains("float32"),
             outcome.err.constData());
}

void TestCliFiles::aPairOfTwoRunsIsRefusedUnlessItIsMeant()
{
    for (const char *target : {"float16", "bfloat16"})
        QCOMPARE(
            callCli({"convert", path("net-symbol.json"), "--target", target, "--out", path(target)}).code, 0);
    QVERIFY(QFile::remove(path("bfloat16-0000.params")));
    // The parameters are float32 in both, but those of a third run have other values.
    QCOMPARE(
        callCli({"quantize", path("net-symbol.json"), "--inputs", path("data.npz"), "--out", path("int8")})
            .code,
        0);
    QVERIFY(QFile::copy(path("int8-0000.params"), path("bfloat16-0000.params")));
    for (const char *command : {"info", "layout"}) {
        const CliOutcome outcome = callCli({command, path("bfloat16-symbol.json")});
        QCOMPARE(outcome.code, 1);
        QVERIFY2(outcome.lastLine().contains("this parameter file does not belong to the symbol next to it")
                     && outcome.lastLine().contains("--params"),
                 outcome.err.constData());
    }
    const CliOutcome meant
        = callCli({"info", path("bfloat16-symbol.json"), "--params", path("net-0000.params")});
    QCOMPARE(meant.code, 0);
    QCOMPARE(callCli({"info", path("bfloat16-symbol.json"), "--no-params"}).code, 0);
}

/// The end of the child that could not become that program is no order to stop.
void TestCliFiles::withoutGraphvizTheLayoutIsPlain()
{
    qputenv("HALFTONE_DOT", "/nowhere");
    const CliOutcome outcome = callCli({"layout", path("net-symbol.json"), "--no-params"});
    qunsetenv("HALFTONE_DOT");
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    QVERIFY2(outcome.out.contains("/nowhere: No such file or directory"), outcome.out.constData());
}

void TestCliFiles::aSecondWriterIsToldAtOnce()
{
    const auto lock = halftone::OutputLock::take(path("new").toStdString());
    QVERIFY(lock.ok());
    const CliOutcome outcome = callCli({"convert", path("net-symbol.json"), "--out", path("new")});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.err,
             "error: " + path("new").toUtf8() + ": process "
                 + QByteArray::number(QCoreApplication::applicationPid())
                 + " is writing this file; wait for it or choose another name\n");
    QVERIFY(!QFile::exists(path("new-symbol.json")));
    QCOMPARE(callCli({"convert", path("net-symbol.json"), "--out", path("other")}).code, 0);
}

void TestCliFiles::whatAKilledRunLeftGoesWithTheNext()
{
    QFile left(path(".halftone-99999999-3.tmp"));
    QVERIFY(left.open(QIODevice::WriteOnly));
    left.close();
    QCOMPARE(callCli({"convert", path("net-symbol.json"), "--out", path("new")}).code, 0);
    for (const QString &name : contents().keys())
        QVERIFY2(!name.startsWith('.'), qPrintable(name));
}

QTEST_GUILESS_MAIN(TestCliFiles)
#include "tst_cli_files.moc"

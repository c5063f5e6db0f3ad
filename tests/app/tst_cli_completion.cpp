#include "tests/support/call_cli.h"

#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone::test;

namespace {

QString scriptIn(const QTemporaryDir &folder, const QString &shell)
{
    const QString path = folder.filePath("completion." + shell);
    writeFile(path, callCli({"completion", shell}).out);
    return path;
}

/// What a shell prints of a script of its own; empty when it fails.
QByteArray said(const QString &shell, const QStringList &arguments)
{
    QProcess process;
    process.start(shell, arguments);
    return process.waitForFinished(20'000) && process.exitCode() == 0 ? process.readAllStandardOutput()
                                                                      : QByteArray();
}

/// What bash offers for a line whose words are `words`, at the last of them, sorted.
QStringList bashOffers(const QString &script, const QStringList &words)
{
    const QString lines = QStringLiteral("source '%1'\nCOMP_WORDS=(%2)\nCOMP_CWORD=%3\n_halftone_cli\n"
                                         "printf '%s\\n' \"${COMPREPLY[@]}\"\n")
                              .arg(script, "'" + words.join("' '") + "'")
                              .arg(words.size() - 1);
    QStringList offers = QString::fromUtf8(said("bash", {"-c", lines})).split('\n', Qt::SkipEmptyParts);
    offers.sort();
    return offers;
}

} // namespace

/// The scripts of 'completion', each run by its shell.
class TestCliCompletion : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bashCompletes_data();
    void bashCompletes();
    void everyCommandAndOptionOfTheHelpIsThere();
    void fishCompletes();
    void zshReadsTheScript();
    void onlyTheseShells();
};

void TestCliCompletion::bashCompletes_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QStringList>("offers");
    QTest::newRow("commands") << QStringList{"halftone-cli", "co"}
                              << QStringList{"compare", "completion", "convert"};
    QTest::newRow("version") << QStringList{"halftone-cli", "--v"} << QStringList{"--version"};
    QTest::newRow("options") << QStringList{"halftone-cli", "convert", "m.onnx", "--keep"}
                             << QStringList{"--keep-io-types"};
    QTest::newRow("values") << QStringList{"halftone-cli", "layout", "m.onnx", "--fold", ""}
                            << QStringList{"auto", "none"};
    QTest::newRow("values behind =") << QStringList{"halftone-cli", "layout", "--fold", "=", "n"}
                                     << QStringList{"none"};
    QTest::newRow("all behind =") << QStringList{"halftone-cli", "layout", "--fold", "="}
                                  << QStringList{"auto", "none"};
    QTest::newRow("types") << QStringList{"halftone-cli", "convert", "--target", "b"}
                           << QStringList{"bfloat16"};
    QTest::newRow("chips") << QStringList{"halftone-cli", "convert", "--hardware", "sm_8"}
                           << QStringList{"sm_80", "sm_86", "sm_89"};
    QTest::newRow("files are the shell's")
        << QStringList{"halftone-cli", "convert", "--out", ""} << QStringList{};
}

void TestCliCompletion::bashCompletes()
{
    QFETCH(QStringList, words);
    QFETCH(QStringList, offers);
    const QTemporaryDir folder;
    QCOMPARE(bashOffers(scriptIn(folder, "bash"), words), offers);
}

/// By the help texts, not by the parser.
void TestCliCompletion::everyCommandAndOptionOfTheHelpIsThere()
{
    const auto firstWords = [](const QByteArray &help, const QByteArray &begin) {
        QStringList words;
        for (const QByteArray &line : help.split('\n'))
            if (line.startsWith(begin) && line.size() > begin.size() && line[begin.size()] != ' ')
                words << QString::fromUtf8(begin.trimmed() + line.mid(begin.size()).split(' ').first());
        return words;
    };
    const QTemporaryDir folder;
    const QString script = scriptIn(folder, "bash");
    const QByteArray help = callCli({"--help"}).out;
    const QStringList commands = firstWords(help.mid(help.indexOf("Subcommands:")), "  ");
    QVERIFY(commands.size() > 15);
    for (const QString &command : commands) {
        QStringList expected = firstWords(callCli({command, "--help"}).out, "  --");
        expected << "--help";
        expected.sort();
        QCOMPARE(bashOffers(script, {"halftone-cli", command, "--"}), expected);
    }
}

void TestCliCompletion::fishCompletes()
{
    if (QStandardPaths::findExecutable("fish").isEmpty())
        QSKIP("fish is not installed");
    const QTemporaryDir folder;
    qputenv("HOME", folder.path().toLocal8Bit());
    const QString script = scriptIn(folder, "fish");
    const auto offers = [&](const QString &line) {
        return said("fish", {"-c", QStringLiteral("source '%1'; complete -C '%2'").arg(script, line)});
    };
    QVERIFY(offers("halftone-cli co").contains("convert\tConvert a model"));
    QCOMPARE(offers("halftone-cli layout --fold=n").count('\n'), 1);
    QVERIFY(offers("halftone-cli convert --keep").contains("--keep-io-types"));
}

void TestCliCompletion::zshReadsTheScript()
{
    if (QStandardPaths::findExecutable("zsh").isEmpty())
        QSKIP("zsh is not installed");
    const QTemporaryDir folder;
    const QString lines = QStringLiteral("autoload -Uz compinit && compinit -D && source '%1' && "
                                         "print ${_comps[halftone-cli]}")
                              .arg(scriptIn(folder, "zsh"));
    QCOMPARE(said("zsh", {"-f", "-c", lines}), QByteArray("_halftone_cli\n"));
}

void TestCliCompletion::onlyTheseShells()
{
    const CliOutcome outcome = callCli({"completion", "csh"});
    QCOMPARE(outcome.code, 2);
    QVERIFY(outcome.err.contains("bash"));
}

QTEST_GUILESS_MAIN(TestCliCompletion)
#include "tst_cli_completion.moc"

#include "core/layout/graphviz_program.h"
#include "core/layout/stack_layout.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace halftone;

/// Which Graphviz is run: HALFTONE_DOT's, the one that a package brings beside the program, or the one in PATH.
class TestGraphvizProgram : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cleanup() { qunsetenv("HALFTONE_DOT"); }
    void inPathWhereNothingElseIs();
    void besideTheProgram();
    void whatCannotBeRunIsPassedOver();
    void theVariableIsFinal();
    void layoutsTakeIt();
};

namespace {

/// An installation with, in lib/halftone, a file called dot.
struct Installed
{
    QTemporaryDir prefix;
    std::filesystem::path programs = (prefix.path() + "/bin").toStdString();
    QString dot = prefix.path() + "/lib/halftone/dot";

    explicit Installed(QFile::Permissions permissions)
    {
        QFile file(dot);
        if (!QDir(prefix.path()).mkpath("lib/halftone") || !QDir(prefix.path()).mkpath("bin")
            || !file.open(QIODevice::WriteOnly) || !file.setPermissions(permissions))
            qFatal("no installation");
    }
};

} // namespace

void TestGraphvizProgram::inPathWhereNothingElseIs()
{
    QCOMPARE(layout::graphvizProgram("/nowhere/bin"), std::string("dot"));
    QCOMPARE(layout::graphvizProgram(""), std::string("dot"));
    QCOMPARE(layout::graphvizProgram(), std::string("dot")); // nothing lies beside this test
}

void TestGraphvizProgram::besideTheProgram()
{
    const Installed installed(QFile::ReadOwner | QFile::ExeOwner);
    QCOMPARE(layout::graphvizProgram(installed.programs), installed.dot.toStdString());
}

void TestGraphvizProgram::whatCannotBeRunIsPassedOver()
{
    const Installed installed(QFile::ReadOwner);
    QCOMPARE(layout::graphvizProgram(installed.programs), std::string("dot"));
}

void TestGraphvizProgram::theVariableIsFinal()
{
    const Installed installed(QFile::ReadOwner | QFile::ExeOwner);
    qputenv("HALFTONE_DOT", "/nowhere/dot");
    QCOMPARE(layout::graphvizProgram(installed.programs), std::string("/nowhere/dot"));
    qputenv("HALFTONE_DOT", "");
    QCOMPARE(layout::graphvizProgram(installed.programs), installed.dot.toStdString());
}

void TestGraphvizProgram::layoutsTakeIt()
{
    qputenv("HALFTONE_DOT", "/nowhere/dot");
    QCOMPARE(layout::LayoutOptions{}.program, std::string("/nowhere/dot"));
}

QTEST_APPLESS_MAIN(TestGraphvizProgram)
#include "tst_graphviz_program.moc"

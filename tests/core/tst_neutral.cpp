#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

namespace {

const QString kRoot = QStringLiteral(HALFTONE_SOURCE_DIR "/");

/// Where a format's names are at home.
const QStringList kHomes{"core/dialect/mxnet/", "core/io/mxnet/", "core/dialect/onnx/", "core/io/onnx/"};
/// The place that knows which formats there are.
const QString kRegistry = QStringLiteral("core/dialect/registry.cpp");
/// Sources that write another program's text: a call of MXNet's Python to be pasted there.
const QString kPythonCall = QStringLiteral("widgets/oplists/mxnet_call.cpp");

bool isHome(const QString &file)
{
    return std::ranges::any_of(kHomes, [&](const QString &home) { return file.startsWith(home); });
}

/// What MXNet calls nodes, attributes and arrays, in a text of a source.
const QRegularExpression &names()
{
    static const QRegularExpression kNames(
        R"("[^"]*(amp_cast|amp_multicast|_sg_|mkldnn|arg:|aux:|_contrib_|_foreach|_while_loop|__dtype__|__shape__)[^"]*"|op\s*[!=]=\s*"|"null")");
    return kNames;
}

/// What `line` of `file` says that only a format's own rooms may say; empty: nothing.
QString offence(const QString &file, QString line)
{
    if (isHome(file))
        return {};
    static const QRegularExpression include(R"(#\s*include\s*"core/dialect/mxnet/)");
    if (file != kRegistry && include.match(line).hasMatch())
        return QStringLiteral("only %1 and the registry include a format").arg(kHomes.join(' '));
    static const QRegularExpression comment(R"(//.*)");
    const auto found = names().match(line.remove(comment));
    return found.hasMatch() ? QStringLiteral("names %1").arg(found.captured(0)) : QString();
}

/// null of JSON, which is no node.
bool isJson(const QString &file)
{
    return file == QStringLiteral("core/policy/policy_json.cpp")
        || file == QStringLiteral("core/policy/argument_scan.cpp");
}

QStringList offencesIn(const QString &file)
{
    QFile source(kRoot + file);
    if (!source.open(QIODevice::ReadOnly))
        return {QStringLiteral("%1: cannot be read").arg(file)};
    QStringList found;
    for (int line = 1; !source.atEnd(); ++line) {
        const QString why = offence(file, QString::fromUtf8(source.readLine()));
        if (!why.isEmpty() && !(isJson(file) && why.endsWith("\"null\"")))
            found << QStringLiteral("%1:%2: %3").arg(file).arg(line).arg(why);
    }
    return found;
}

} // namespace

/// The core knows no format by name (core/dialect/dialect.h).
class NeutralTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void noSourceSpellsAFormatsNames();
    void aSpeltNameIsNoticed_data();
    void aSpeltNameIsNoticed();
};

void NeutralTest::noSourceSpellsAFormatsNames()
{
    QStringList found;
    int files = 0;
    for (const char *top : {"core", "widgets", "app"}) {
        QDirIterator walk(kRoot + top, {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        for (; walk.hasNext(); ++files) {
            const QString file = QDir(kRoot).relativeFilePath(walk.next());
            if (file != kPythonCall)
                found += offencesIn(file);
        }
    }
    QVERIFY2(files > 300, "the sources were not found");
    QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
}

void NeutralTest::aSpeltNameIsNoticed_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("isAllowed");

    QTest::newRow("cast") << "core/mixed/a.cpp"
                          << R"(def->op = "amp_cast";)" << false;
    QTest::newRow("at home") << "core/dialect/mxnet/a.cpp"
                             << R"(def->op = "amp_cast";)" << true;
    QTest::newRow("reader") << "core/io/mxnet/a.cpp"
                            << R"(node.op == "null")" << true;
    QTest::newRow("variable") << "core/infer/a.cpp"
                              << R"(add("null", name))" << false;
    QTest::newRow("fused") << "core/plan/a.cpp"
                           << R"(op.starts_with("_sg_"))" << false;
    QTest::newRow("array") << "core/jobs/a.cpp"
                           << R"(name = "arg:" + variable;)" << false;
    QTest::newRow("operator") << "widgets/tables/a.cpp"
                              << R"(if (node.op == "Convolution"))" << false;
    QTest::newRow("comment") << "core/rewrite/a.cpp"
                             << R"(casts(); // as amp_cast does, "amp_cast")" << true;
    QTest::newRow("include") << "core/infer/a.cpp"
                             << R"(#include "core/dialect/mxnet/op_info.h")" << false;
    QTest::newRow("registry") << "core/dialect/registry.cpp"
                              << R"(#include "core/dialect/mxnet/mxnet_dialect.h")" << true;
    QTest::newRow("neutral") << "core/infer/a.cpp"
                             << R"(#include "core/dialect/dialect.h")" << true;
}

void NeutralTest::aSpeltNameIsNoticed()
{
    QFETCH(QString, file);
    QFETCH(QString, line);
    QFETCH(bool, isAllowed);
    QCOMPARE(offence(file, line).isEmpty(), isAllowed);
}

QTEST_GUILESS_MAIN(NeutralTest)
#include "tst_neutral.moc"

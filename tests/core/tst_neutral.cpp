#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <algorithm>
#include <iterator>

namespace {

const QString kRoot = QStringLiteral(HALFTONE_SOURCE_DIR "/");

/// Where a format's names are at home.
const QStringList kHomes{"core/dialect/mxnet/", "core/io/mxnet/",       "core/dialect/onnx/",
                         "core/io/onnx/",       "core/dialect/tflite/", "core/io/tflite/"};
/// The tables that know which formats there are.
const QStringList kTables{"core/dialect/registry.cpp", "core/io/formats.cpp"};
/// Writes ONNX models, and may therefore use its names, but no other format's.
const QString kTranslation = QStringLiteral("core/translate/");
/// Sources that write another program's text: a call of MXNet's Python to be pasted there.
const QString kPythonCall = QStringLiteral("widgets/oplists/mxnet_call.cpp");

/// Sources, by the start of their paths, that have a format's title for another reason than to ask which format a model has.
struct Exception
{
    const char *path;
    const char *why;
};
constexpr Exception kExceptions[] = {
    {"core/api/halftone/policy.h", "public names"},
    {"core/api/halftone/c.h", "public names, and comments in C's own form"},
    {"core/api/c_convert.cpp", "levels that are MXNet's"},
    {"core/runtimes/kinds.cpp", "ONNX Runtime, a program, and the format that runtimes read"},
    {"core/io/foreign_formats.cpp", "says how to get an ONNX model from another program"},
    {"core/policy/import_lists.", "onnxconverter, a program"},
    {"app/cli/policy.cpp", "onnxconverter, a program"},
    {"widgets/oplists/policy_dialogs.cpp", "onnxconverter, a program"},
    {"widgets/oplists/mxnet_call.", "a program for MXNet"},
    {"widgets/oplists/onnx_call.", "a program for onnxconverter"},
    {"widgets/oplists/python_call.cpp", "the table of both"},
    {"core/calibration/thresholds.cpp", "a method that is MXNet's"},
    {"widgets/calibration/method_choices.cpp", "a method that is MXNet's"},
    {"app/cli/calibrate.cpp", "a method that is MXNet's"},
    {"app/cli/quantize.cpp", "levels that are MXNet's"},
};

bool startsWithAny(const QString &file, const QStringList &places)
{
    return std::ranges::any_of(places, [&](const QString &place) { return file.startsWith(place); });
}

const Exception *exceptionFor(const QString &file)
{
    const auto *const found = std::ranges::find_if(
        kExceptions, [&](const Exception &one) { return file.startsWith(QLatin1String(one.path)); });
    return found == std::end(kExceptions) ? nullptr : found;
}

/// What formats call nodes, attributes and arrays, in a text of a source.
const QRegularExpression &names()
{
    static const QRegularExpression kNames(
        R"("[^"]*(amp_cast|amp_multicast|_sg_|mkldnn|arg:|aux:|_contrib_|_foreach|_while_loop|__dtype__|__shape__|com\.microsoft)[^"]*"|op\s*[!=]=\s*"|"null")");
    return kNames;
}

/// A format's own name, as a word or a part of one.
const QRegularExpression &titles()
{
    static const QRegularExpression kTitles(R"(\w*(onnx|mxnet|tflite|-symbol\.json)\w*)",
                                            QRegularExpression::CaseInsensitiveOption);
    return kTitles;
}

/// Has it a format's name, which an exception may allow?
bool hasTitle(QString line)
{
    static const QRegularExpression comment(R"(//.*)");
    return titles().match(line.remove(comment)).hasMatch();
}

/// What `line` of `file` says that only a format's own folders may say; empty: nothing.
QString offence(const QString &file, QString line)
{
    if (startsWithAny(file, kHomes) || kTables.contains(file))
        return {};
    static const QRegularExpression include(R"(#\s*include\s*"core/(dialect|io)/(mxnet|onnx|tflite)/)");
    const auto included = include.match(line);
    if (included.hasMatch() && !(file.startsWith(kTranslation) && included.captured(2) == u"onnx"))
        return QStringLiteral("only %1 and %2 include a format").arg(kHomes.join(' '), kTables.join(' '));
    static const QRegularExpression comment(R"(//.*)");
    line.remove(comment);
    if (file != kPythonCall) {
        if (const auto found = names().match(line); found.hasMatch())
            return QStringLiteral("names %1").arg(found.captured(0));
    }
    if (exceptionFor(file) != nullptr)
        return {};
    const auto title = titles().match(line);
    const bool isTranslation
        = file.startsWith(kTranslation) && !title.captured(0).contains(u"mxnet", Qt::CaseInsensitive);
    return title.hasMatch() && !isTranslation ? QStringLiteral("names %1").arg(title.captured(0)) : QString();
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

QStringList sources()
{
    QStringList files;
    for (const char *top : {"core", "widgets", "app"}) {
        QDirIterator walk(kRoot + top, {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        while (walk.hasNext())
            files << QDir(kRoot).relativeFilePath(walk.next());
    }
    return files;
}

} // namespace

/// No source outside a format's folders knows it by name (core/dialect/dialect.h, core/io/formats.h).
class NeutralTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void noSourceSpellsAFormatsNames();
    void everyExceptionIsNeeded();
    void aSpeltNameIsNoticed_data();
    void aSpeltNameIsNoticed();
};

void NeutralTest::noSourceSpellsAFormatsNames()
{
    QStringList found;
    const QStringList files = sources();
    for (const QString &file : files)
        found += offencesIn(file);
    QVERIFY2(files.size() > 300, "the sources were not found");
    QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
}

void NeutralTest::everyExceptionIsNeeded()
{
    QSet<const Exception *> needed;
    for (const QString &file : sources()) {
        QFile source(kRoot + file);
        const Exception *const exception = exceptionFor(file);
        QVERIFY(source.open(QIODevice::ReadOnly));
        while (exception != nullptr && !source.atEnd()) {
            if (hasTitle(QString::fromUtf8(source.readLine())))
                needed << exception;
        }
    }
    for (const Exception &one : kExceptions)
        QVERIFY2(needed.contains(&one), qPrintable(QStringLiteral("%1 (%2)").arg(one.path, one.why)));
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
    QTest::newRow("array") << "core/walks/a.cpp"
                           << R"(name = "arg:" + variable;)" << false;
    QTest::newRow("operator") << "widgets/tables/a.cpp"
                              << R"(if (node.op == "Convolution"))" << false;
    QTest::newRow("comment") << "core/rewrite/a.cpp"
                             << R"(casts(); // as amp_cast does, "amp_cast")" << true;
    QTest::newRow("include") << "core/infer/a.cpp"
                             << R"(#include "core/dialect/mxnet/op_info.h")" << false;
    QTest::newRow("other include") << "core/infer/a.cpp"
                                   << R"(#include "core/dialect/onnx/op_info.h")" << false;
    QTest::newRow("reader's include") << "core/session/a.cpp"
                                      << R"(#include "core/io/onnx/onnx_file.h")" << false;
    QTest::newRow("translation") << "core/translate/a.cpp"
                                 << R"(#include "core/dialect/onnx/op_info.h")" << true;
    QTest::newRow("translation from") << "core/translate/a.cpp"
                                      << R"(#include "core/dialect/mxnet/op_info.h")" << false;
    QTest::newRow("ending") << "app/a.cpp"
                            << R"(path.endsWith(u".onnx"))" << false;
    QTest::newRow("other ending") << "app/a.cpp"
                                  << R"(path.endsWith(u"-symbol.json"))" << false;
    QTest::newRow("question") << "core/session/a.cpp"
                              << "if (isOnnx(output))" << false;
    QTest::newRow("exception") << "app/cli/quantize.cpp"
                               << R"(if (levels == "mxnet"))" << true;
    QTest::newRow("no exception for names") << "app/bars/model_bar.cpp"
                                            << R"("amp_cast")" << false;
    QTest::newRow("table") << "core/io/formats.cpp"
                           << R"(#include "core/io/onnx/onnx_format.h")" << true;
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

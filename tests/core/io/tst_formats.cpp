#include "core/base/atomic_file.h"
#include "core/dialect/registry.h"
#include "core/io/formats.h"
#include "core/io/model_io.h"
#include "core/io/sniff.h"
#include "tests/support/toy_format.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace halftone;

namespace {

std::span<const std::byte> contentBytes(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

} // namespace

/// The table of formats, and what is asked of its rows.
class TestFormats : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyDialectHasFiles();
    void everyRowIsWhole();
    void theContentDecides_data();
    void theContentDecides();
    void anEmptyFileIsRefusedAtItsFirstByte();
    void theNameOfTheOutputOrTheModelDecides();
    void aModelIsWrittenInItsOwnFormatOnly();
    void textsNameAllFormats();
    void aProgramAddsItsOwn(); // last: the table keeps it
};

void TestFormats::everyDialectHasFiles()
{
    for (const dialect::Dialect *const dialect : dialect::allDialects()) {
        const io::ModelFormat *const format = io::formatOf(graph::Graph(*dialect));
        QVERIFY2(format != nullptr, std::string(dialect->name()).c_str());
        QCOMPARE(format->name, dialect->name());
        QCOMPARE(format->title, dialect->title());
    }
    QCOMPARE(io::formats().front()->name, dialect::defaultDialect().name());
    QVERIFY(io::formatOf(graph::Graph()) == nullptr);
}

void TestFormats::everyRowIsWhole()
{
    for (const io::ModelFormat *const format : io::formats()) {
        for (const std::string_view text :
             {format->name, format->title, format->model, format->files, format->infoName,
              format->placeholder, format->readHelp, format->writeHelp, format->ending})
            QVERIFY2(!text.empty(), std::string(format->name).c_str());
        QVERIFY(format->placeholder.ends_with(format->ending));
        QVERIFY(format->outputNames("folder/p").model.ends_with(format->ending));
        QCOMPARE(format->hasParameterFile, !format->parametersInfoName.empty());
        QCOMPARE(format->hasParameterFile, format->parametersBeside != nullptr);
        QCOMPARE(io::formatNamed(format->name), format);
        QCOMPARE(std::ranges::count(io::formats(), format->ending, &io::ModelFormat::ending), 1);
    }
}

void TestFormats::theContentDecides_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("format"); // empty: none
    const QByteArray onnx("\x08\x07\x12\x07pytorch");
    const QByteArray params("\x12\x01\0\0\0\0\0\0\0\0\0\0", 12);
    QTest::newRow("onnx") << onnx << "a"
                          << "onnx";
    QTest::newRow("onnx, named as a symbol") << onnx << "a-symbol.json"
                                             << "onnx";
    QTest::newRow("onnx, fields in another order") << QByteArray("\x12\x07pytorch\x08\x07") << "a.onnx"
                                                   << "onnx";
    QTest::newRow("the same under another name") << QByteArray("\x12\x07pytorch\x08\x07") << "a"
                                                 << "";
    QTest::newRow("symbol") << QByteArray(" {\"nodes\": []}") << "a"
                            << "mxnet";
    QTest::newRow("symbol, named as onnx") << QByteArray("{\"nodes\": []}") << "a.onnx"
                                           << "mxnet";
    QTest::newRow("parameters") << params << "a"
                                << "mxnet";
    QTest::newRow("parameters, named as onnx") << params << "a.onnx"
                                               << "mxnet";
    QTest::newRow("nothing") << QByteArray() << "a.onnx"
                             << "";
    QTest::newRow("a page") << QByteArray("<html>") << "a-symbol.json"
                            << "";
}

void TestFormats::theContentDecides()
{
    QFETCH(QByteArray, content);
    QFETCH(QString, path);
    QFETCH(QString, format);
    const auto sniffed
        = io::sniff(contentBytes({content.data(), std::size_t(content.size())}), path.toStdString());
    QCOMPARE(sniffed.ok() ? QString::fromUtf8(sniffed.value()->name) : QString(), format);
    QVERIFY(sniffed.ok() || sniffed.error().expected == io::expectedFiles());
}

void TestFormats::anEmptyFileIsRefusedAtItsFirstByte()
{
    const auto found = io::sniff({}, "empty.onnx");
    QVERIFY(!found.ok());
    QCOMPARE(found.error().where, std::string("byte 0"));
}

void TestFormats::theNameOfTheOutputOrTheModelDecides()
{
    const QTemporaryDir folder;
    const std::string symbol = folder.filePath("renamed.onnx").toStdString(); // in spite of its name
    QVERIFY(writeWhole(symbol, "{\"nodes\": [], \"arg_nodes\": [], \"heads\": []}").ok());
    QCOMPARE(io::outputFormat("p", symbol).name, std::string_view("mxnet"));
    QCOMPARE(io::outputFormat("p.onnx", symbol).name, std::string_view("onnx"));
    QCOMPARE(io::outputFormat("p", folder.filePath("missing.onnx").toStdString()).name,
             std::string_view("onnx"));
    QCOMPARE(io::outputFormat("p", folder.filePath("missing-symbol.json").toStdString()).name,
             std::string_view("mxnet"));
    QCOMPARE(&io::outputFormat("p", std::string("missing")), io::formats().front());
    const graph::Graph graph(*dialect::dialectNamed("mxnet"));
    QCOMPARE(io::outputFormat("p", graph).name, std::string_view("mxnet"));
    QCOMPARE(io::outputFormat("p.onnx", graph).name, std::string_view("onnx"));

    QCOMPARE(io::outputFiles("p", *io::formatNamed("onnx"), true), std::vector<std::string>{"p.onnx"});
    QCOMPARE(io::outputFiles("p.onnx", *io::formatNamed("onnx"), true), std::vector<std::string>{"p.onnx"});
    QCOMPARE(io::outputFiles("p", *io::formatNamed("mxnet"), true),
             (std::vector<std::string>{"p-symbol.json", "p-0000.params"}));
    QCOMPARE(io::outputFiles("p", *io::formatNamed("mxnet"), false),
             std::vector<std::string>{"p-symbol.json"});
}

void TestFormats::aModelIsWrittenInItsOwnFormatOnly()
{
    const QTemporaryDir folder;
    const graph::Model model{graph::Graph(*dialect::dialectNamed("onnx")), {}, false};
    const auto output = io::ModelOutput::claim(folder.filePath("p").toStdString(), *io::formatNamed("mxnet"));
    const auto written = io::saveModel(model, output.value(), {});
    QCOMPARE(written.error().code, Errc::Unsupported);
    QCOMPARE(written.error().message(),
             folder.filePath("p-symbol.json").toStdString() + ": ONNX models cannot be written as MXNet");
}

void TestFormats::textsNameAllFormats()
{
    QCOMPARE(io::expectedFiles(),
             std::string(
                 "an ONNX model, or an MXNet symbol (JSON) or parameter list, or a TensorFlow Lite model"));
    QCOMPARE(io::modelPlaceholders(), std::string("MODEL.onnx, NAME-symbol.json, MODEL.tflite"));
    QCOMPARE(io::filePatterns(), std::string("*.onnx *-symbol.json *.tflite"));
    QCOMPARE(io::parameterFileHelp(), std::string("MXNet parameter file, or 'none'"));
}

void TestFormats::aProgramAddsItsOwn()
{
    QVERIFY(io::addFormat(test::toyFormat()));
    QVERIFY(!io::addFormat(test::toyFormat()));
    QCOMPARE(io::formatOf(graph::Graph(test::toyDialect())), &test::toyFormat());
    QCOMPARE(io::sniff(contentBytes("toy 1\n")).value(), &test::toyFormat());
    QCOMPARE(io::filePatterns(), std::string("*.onnx *-symbol.json *.tflite *.toy"));
    everyRowIsWhole();
}

QTEST_APPLESS_MAIN(TestFormats)
#include "tst_formats.moc"

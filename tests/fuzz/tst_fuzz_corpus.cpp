#include "tests/fuzz/properties.h"
#include "tests/support/malformed.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QIODevice>
#include <QTest>

using namespace halftone;

namespace {

using Check = void (*)(std::span<const std::byte>);

/// Every file of a folder through a fuzz target's property; how many there were.
int replay(const QString &folder, Check check)
{
    int files = 0;
    QDirIterator at(folder, QDir::Files);
    while (at.hasNext()) {
        QFile file(at.next());
        if (!file.open(QIODevice::ReadOnly))
            return -1;
        const QByteArray bytes = file.readAll();
        check(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
        ++files;
    }
    return files;
}

} // namespace

/// The fuzz targets' properties without a fuzzer: over the kept corpora (seeds, and every finding), the
/// fixtures and the malformed files.
class TestFuzzCorpus : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void propertiesHoldOverTheCorpora_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("kind");
        const QString kept = QStringLiteral(HALFTONE_SOURCE_DIR "/tests/fuzz/corpus/");
        const QString fixtures = QStringLiteral(HALFTONE_TEST_DATA "/formats/");
        QTest::newRow("symbols, kept") << kept + QStringLiteral("symbol_json") << QStringLiteral("symbol");
        QTest::newRow("symbols, fixtures")
            << fixtures + QStringLiteral("symbol-json") << QStringLiteral("symbol");
        QTest::newRow("params, kept") << kept + QStringLiteral("params") << QStringLiteral("params");
        QTest::newRow("params, fixtures") << fixtures + QStringLiteral("params") << QStringLiteral("params");
        QTest::newRow("policies, kept") << kept + QStringLiteral("policy") << QStringLiteral("policy");
        QTest::newRow("statistics, kept")
            << kept + QStringLiteral("statistics") << QStringLiteral("statistics");
        QTest::newRow("onnx, kept") << kept + QStringLiteral("onnx") << QStringLiteral("onnx");
        QTest::newRow("tflite, kept") << kept + QStringLiteral("tflite") << QStringLiteral("tflite");
        QTest::newRow("tflite, fixtures")
            << QStringLiteral(HALFTONE_TEST_DATA "/tflite") << QStringLiteral("tflite");
        for (const char *folder : {"onnx", "onnx_ops", "onnx_calls", "qdq"})
            QTest::addRow("onnx, %s", folder)
                << QStringLiteral(HALFTONE_TEST_DATA "/") + QString::fromLatin1(folder)
                << QStringLiteral("onnx");
    }

    void propertiesHoldOverTheCorpora()
    {
        QFETCH(QString, folder);
        QFETCH(QString, kind);
        const Check check = kind == QStringLiteral("symbol") ? fuzz::checkSymbolJson
            : kind == QStringLiteral("params")               ? fuzz::checkParams
            : kind == QStringLiteral("policy")               ? fuzz::checkPolicy
            : kind == QStringLiteral("statistics")           ? fuzz::checkStatistics
            : kind == QStringLiteral("tflite")               ? fuzz::checkTflite
                                                             : fuzz::checkOnnx;
        QVERIFY(replay(folder, check) > 0);
        for (const test::MalformedCase &one : test::malformedCases(kind.toStdString()))
            check(*one.bytes);
    }
};

QTEST_APPLESS_MAIN(TestFuzzCorpus)
#include "tst_fuzz_corpus.moc"

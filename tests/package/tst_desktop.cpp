#include "core/api/halftone/version.h"
#include "core/io/formats.h"

#include <QFile>
#include <QRegularExpression>
#include <QtTest>

using namespace halftone;

/// resources/desktop agrees with the program; tests/package/run.sh has the desktop's own tools judge the files.
class TestDesktop : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void metainfoNamesThisVersion();
    void modelFilesOpenWithIt();
    void everyNameIsDefined();
    void theIconIsAsLargeAsItsFolderSays();
};

namespace {

QString contentOf(const QString &name)
{
    QFile file(QStringLiteral(HALFTONE_SOURCE_DIR "/resources/desktop/") + name);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QStringList all(const QString &text, const QString &pattern)
{
    QStringList found;
    for (auto matches = QRegularExpression(pattern).globalMatch(text); matches.hasNext();)
        found << matches.next().captured(1);
    found.sort();
    return found;
}

const QString kMetainfo = QStringLiteral("io.github.halftone_nn.Halftone.metainfo.xml");

} // namespace

void TestDesktop::metainfoNamesThisVersion()
{
    QCOMPARE(all(contentOf(kMetainfo), "<release version=\"([^\"]*)\"").last(),
             QStringLiteral(HALFTONE_VERSION));
}

void TestDesktop::modelFilesOpenWithIt()
{
    const QStringList globs = all(contentOf("halftone.xml"), "<glob pattern=\"([^\"]*)\"");
    QCOMPARE(globs, QStringList({"*.halftone", "*.onnx"}));
    const io::ModelFormat *const format = io::formatOfName("x.onnx");
    QVERIFY(format != nullptr);
    QVERIFY(globs.contains('*' + QString::fromUtf8(format->ending)));
}

void TestDesktop::everyNameIsDefined()
{
    const QStringList types = all(contentOf("halftone.xml"), "<mime-type type=\"([^\"]*)\"");
    QCOMPARE(all(contentOf(kMetainfo), "<mediatype>([^<]*)"), types);
    QStringList opened
        = all(contentOf("halftone.desktop"), "(?m)^MimeType=(.*)$").value(0).split(';', Qt::SkipEmptyParts);
    opened.sort();
    QCOMPARE(opened, types);
    QCOMPARE(all(contentOf("halftone.desktop"), "(?m)^Icon=(.*)$"), QStringList{"halftone"});
    QVERIFY(!contentOf("halftone.svg").isEmpty());
}

void TestDesktop::theIconIsAsLargeAsItsFolderSays()
{
    QFile file(QStringLiteral(HALFTONE_SOURCE_DIR "/resources/desktop/halftone.png"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray head = file.read(24); // width and height stand in the first chunk (PNG, 11.2.2)
    QVERIFY(head.startsWith("\x89PNG"));
    QCOMPARE(head.mid(16), QByteArray("\0\0\1\0\0\0\1\0", 8));
}

QTEST_GUILESS_MAIN(TestDesktop)
#include "tst_desktop.moc"

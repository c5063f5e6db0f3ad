#include "app/bundled_font.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetrics>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <QtTest>

using namespace halftone;

/// The window on a system without fonts: CMakeLists.txt gives this test a configuration of fontconfig that names no folder.
class TestBundledFont : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void withoutAPackagesFontNothingIsAdded();
    void lettersAreNoBoxes();
    void whereFontsAreNothingIsAdded();
};

namespace {

constexpr const char *kFont = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"; ///< of fonts-dejavu-core

QImage drawn(const QString &text)
{
    QImage image(60, 60, QImage::Format_Grayscale8);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.drawText(image.rect(), Qt::AlignCenter, text);
    return image;
}

} // namespace

void TestBundledFont::withoutAPackagesFontNothingIsAdded()
{
    if (!QFontDatabase::families().isEmpty())
        QSKIP("fontconfig is not used here: it still knows fonts");
    QCOMPARE(drawn("a"), drawn("b")); // boxes, or nothing
    qputenv("HALFTONE_RESOURCES", "/nowhere");
    QCOMPARE(app::addFontWhereNoneIs(), QString());
}

void TestBundledFont::lettersAreNoBoxes()
{
    if (!QFontDatabase::families().isEmpty() || !QFile::exists(kFont))
        QSKIP("needs fontconfig and fonts-dejavu-core");
    const QTemporaryDir resources;
    QVERIFY(QDir(resources.path()).mkdir("fonts"));
    QVERIFY(QFile::copy(kFont, resources.filePath("fonts/DejaVuSans.ttf")));
    qputenv("HALFTONE_RESOURCES", resources.path().toLocal8Bit());
    QCOMPARE(app::addFontWhereNoneIs(), QStringLiteral("DejaVu Sans"));
    QCOMPARE(QApplication::font().family(), QStringLiteral("DejaVu Sans"));
    QVERIFY(drawn("a") != drawn("b"));
    const QFontMetrics metrics(QApplication::font());
    QVERIFY(metrics.horizontalAdvance('i') < metrics.horizontalAdvance('M'));
}

void TestBundledFont::whereFontsAreNothingIsAdded()
{
    if (QFontDatabase::families().isEmpty())
        QSKIP("needs the font that the test before adds");
    QCOMPARE(app::addFontWhereNoneIs(), QString());
}

QTEST_MAIN(TestBundledFont)
#include "tst_bundled_font.moc"

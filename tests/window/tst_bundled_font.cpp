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

constexpr const char *kFont
    = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"; ///< of fonts-dejavu-core, in build_packages

QImage drawn(const QString &text, const QFont &font = QApplication::font())
{
    QImage image(60, 60, QImage::Format_Grayscale8);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.setFont(font);
    painter.drawText(image.rect(), Qt::AlignCenter, text);
    return image;
}

} // namespace

void TestBundledFont::withoutAPackagesFontNothingIsAdded()
{
    QCOMPARE(drawn("a"), drawn("b")); // boxes, or nothing: there is no font
    qputenv("HALFTONE_RESOURCES", "/nowhere");
    QCOMPARE(app::addFontWhereNoneIs(), QString());
}

void TestBundledFont::lettersAreNoBoxes()
{
    const QTemporaryDir resources;
    QVERIFY(QDir(resources.path()).mkdir("fonts"));
    QVERIFY(QFile::copy(kFont, resources.filePath("fonts/DejaVuSans.ttf")));
    qputenv("HALFTONE_RESOURCES", resources.path().toLocal8Bit());
    QCOMPARE(app::addFontWhereNoneIs(), QStringLiteral("DejaVu Sans"));
    QCOMPARE(QApplication::font().family(), QStringLiteral("DejaVu Sans"));
    for (const QFont &font :
         {QApplication::font(), QFontDatabase::systemFont(QFontDatabase::FixedFont), QFont("monospace")}) {
        QVERIFY2(drawn("a", font) != drawn("b", font), qPrintable(font.family()));
        const QFontMetrics metrics(font);
        QVERIFY2(metrics.horizontalAdvance('i') < metrics.horizontalAdvance('M'), qPrintable(font.family()));
    }
}

void TestBundledFont::whereFontsAreNothingIsAdded()
{
    QCOMPARE(app::addFontWhereNoneIs(), QString()); // it has been added by the test before
}

QTEST_MAIN(TestBundledFont)
#include "tst_bundled_font.moc"

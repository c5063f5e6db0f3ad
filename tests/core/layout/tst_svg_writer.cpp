#include "core/layout/svg_writer.h"

#include <QTest>
#include <QXmlStreamReader>

using namespace halftone;
using layout::SvgItem;
using layout::SvgPicture;

namespace {

SvgPicture pictureOf(const std::string &title)
{
    SvgPicture picture;
    picture.size = {200, 120};
    picture.title = "graph";
    SvgItem frame;
    frame.kind = SvgItem::Kind::Frame;
    frame.rect = {0, 0, 200, 120};
    frame.title = title;
    SvgItem node;
    node.rect = {10, 30, 160, 40};
    node.title = title;
    node.detail = "Convolution";
    node.badge = "b16";
    node.badgeText = "#000000";
    node.band = "#cc79a7";
    node.pattern = layout::SvgPattern::Dots;
    node.warns = true;
    picture.items = {frame, node};
    picture.edges = {{{90, 10}, {90, 30}}};
    picture.casts = {{{90, 20}, "#0072b2", false}};
    return picture;
}

/// All text between tags, or what is wrong with the document.
QString textOf(const std::string &svg)
{
    QXmlStreamReader reader(QByteArray::fromStdString(svg));
    QString text;
    while (!reader.atEnd()) {
        if (reader.readNext() == QXmlStreamReader::Characters)
            text += reader.text();
    }
    return reader.hasError() ? "error: " + reader.errorString() : text;
}

} // namespace

class TestSvgWriter : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anyNameGivesWellFormedXml();
    void theSamePictureGivesTheSameText();
    void bandBadgeAndDiamondHaveTheirColours();
    void longNamesAreShortenedInTheMiddle();
    void nothingIsFetchedFromOutside();
};

void TestSvgWriter::anyNameGivesWellFormedXml()
{
    for (const char *name : {"plain", "<script>&\"'", "tab\tline\nbell\a", "ünïcödé→", ""}) {
        const QString text = textOf(layout::svgOf(pictureOf(name)));
        QVERIFY2(!text.startsWith("error: "), qPrintable(text));
    }
    QVERIFY(textOf(layout::svgOf(pictureOf("a<b&c"))).contains("a<b&c"));
}

void TestSvgWriter::theSamePictureGivesTheSameText()
{
    QCOMPARE(layout::svgOf(pictureOf("x")), layout::svgOf(pictureOf("x")));
}

void TestSvgWriter::bandBadgeAndDiamondHaveTheirColours()
{
    const QString svg = QString::fromStdString(layout::svgOf(pictureOf("x")));
    QCOMPARE(svg.count("fill=\"#cc79a7\""), 2);
    QCOMPARE(svg.count("url(#dots)"), 1);
    QCOMPARE(svg.count("fill=\"#0072b2\""), 1);
    QVERIFY(textOf(svg.toStdString()).contains("b16"));
}

void TestSvgWriter::longNamesAreShortenedInTheMiddle()
{
    const QString text = textOf(layout::svgOf(pictureOf("ä" + std::string(300, 'x') + "ö")));
    QVERIFY(!text.contains(QString(300, 'x')));
    QVERIFY(text.contains(QChar(0x2026)));
    QVERIFY(text.contains(QString::fromUtf8("ä")) && text.contains(QString::fromUtf8("ö")));
}

void TestSvgWriter::nothingIsFetchedFromOutside()
{
    const QString svg = QString::fromStdString(layout::svgOf(pictureOf("x")));
    QVERIFY(!svg.contains("href"));
    QVERIFY(!svg.contains("<image"));
    QCOMPARE(svg.count("http"), 1); // the name of the language
}

QTEST_GUILESS_MAIN(TestSvgWriter)
#include "tst_svg_writer.moc"

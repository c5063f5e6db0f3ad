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
    node.pattern = BandPattern::Dots;
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
    void aTitleKeepsClearOfTheLinesThatLeadIntoItsFrame();
    void whereNoPlaceIsFreeTheLineEndsAtTheTitle();
    void textsOfEdgesAreWritten();
    void whatIsFaintHasItsTitleAlone();
    void noTextLeavesItsBox_data();
    void noTextLeavesItsBox();
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
    const std::string name = "ä" + std::string(300, 'x') + "ö";
    const std::string svg = layout::svgOf(pictureOf(name));
    QVERIFY(svg.find("<title>" + name + "</title>") != std::string::npos); // shown under the pointer
    const QString text = textOf(svg);
    QCOMPARE(text.count(QString(300, 'x')), 1);
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

void TestSvgWriter::aTitleKeepsClearOfTheLinesThatLeadIntoItsFrame()
{
    using layout::Span;
    // Worked out by hand: a row of 100, texts of 20 and 30, 4 between them and 2 to a line.
    const auto places = [](std::vector<Span> lines) {
        return layout::placeTitle({0, 100}, lines, 20, 30, 4);
    };
    QCOMPARE(places({}).title, (Span{0, 20}));
    QCOMPARE(places({}).detail, (Span{24, 54}));
    QCOMPARE(places({{50, 50}}).title, (Span{0, 20}));
    QCOMPARE(places({{50, 50}}).detail, (Span{52, 82})); // behind the line
    QCOMPARE(places({{10, 10}}).title, (Span{12, 32})); // no room before it
    QCOMPARE(places({{10, 10}}).detail, (Span{36, 66}));
    QCOMPARE(places({{57, 60}}).detail, (Span{24, 54})); // just clear of it
    QCOMPARE(places({{56, 50}, {20, 18}}).title.from, places({{20, 18}, {56, 50}}).title.from);
    for (const auto &lines : {std::vector<Span>{{50, 50}}, {{10, 10}}, {{22, 22}, {50, 50}}}) {
        QVERIFY(!places(lines).isTitleCrossed && !places(lines).isDetailCrossed);
        for (const Span &line : lines)
            QVERIFY(!places(lines).title.overlaps({line.from - 1, line.to + 1})
                    && !places(lines).detail.overlaps({line.from - 1, line.to + 1}));
    }
    QCOMPARE(layout::crossingOf({10, 0}, {30, 20}, 5, 10), (Span{15, 20}));
    QCOMPARE(layout::crossingOf({30, 20}, {10, 0}, 5, 10), (Span{15, 20}));
    QVERIFY(!layout::crossingOf({10, 0}, {30, 4}, 5, 10));
}

void TestSvgWriter::whereNoPlaceIsFreeTheLineEndsAtTheTitle()
{
    const layout::TitlePlaces places = layout::placeTitle({0, 30}, {{10, 10}, {20, 20}}, 20, 30, 4);
    QVERIFY(places.isTitleCrossed);
    QCOMPARE(places.title, (layout::Span{0, 20}));
    SvgPicture picture = pictureOf("a title that is wide");
    picture.edges = {{{90, 0}, {90, 30}}};
    const QString svg = QString::fromStdString(layout::svgOf(picture));
    const auto line = svg.indexOf("<polyline");
    const auto ground = svg.indexOf("<rect", line);
    QVERIFY(line > 0 && ground > line && svg.indexOf("a title that is wide") > ground);
}

void TestSvgWriter::textsOfEdgesAreWritten()
{
    SvgPicture picture = pictureOf("x");
    picture.labels = {{{90, 20}, "u8 · scale 0.5", "#123456"}, {{96, 24}, "f32 1×8", {}}};
    const std::string svg = layout::svgOf(picture);
    QVERIFY(textOf(svg).contains(QString::fromUtf8("u8 · scale 0.5"))
            && textOf(svg).contains(QString::fromUtf8("f32 1×8")));
    QCOMPARE(QString::fromStdString(svg).count("stroke=\"#123456\""), 1); // one of them is framed
}

void TestSvgWriter::whatIsFaintHasItsTitleAlone()
{
    SvgPicture picture = pictureOf("x");
    picture.items[1].kind = SvgItem::Kind::Folded;
    picture.items[1].badge.clear();
    picture.items[1].detail = "3 operators";
    QVERIFY(textOf(layout::svgOf(picture)).contains("3 operators"));
    picture.items[1].isFaint = true;
    QVERIFY(!textOf(layout::svgOf(picture)).contains("3 operators"));
}

void TestSvgWriter::noTextLeavesItsBox_data()
{
    QTest::addColumn<char>("character");
    QTest::addColumn<double>("advance"); // of DejaVu Sans, in em
    QTest::addColumn<double>("bold");
    QTest::newRow("W") << 'W' << 0.989 << 1.103;
    QTest::newRow("m") << 'm' << 0.974 << 1.042;
    QTest::newRow("e") << 'e' << 0.615 << 0.678;
    QTest::newRow("0") << '0' << 0.636 << 0.696;
    QTest::newRow("i") << 'i' << 0.278 << 0.343;
}

void TestSvgWriter::noTextLeavesItsBox()
{
    QFETCH(const char, character);
    QFETCH(const double, advance);
    QFETCH(const double, bold);
    SvgPicture picture = pictureOf(std::string(80, character));
    picture.items[0].detail = picture.items[1].detail = picture.items[0].title;
    picture.items.push_back(picture.items[1]);
    picture.items.back().kind = SvgItem::Kind::Folded;
    picture.items.back().badge.clear();
    QXmlStreamReader reader(QByteArray::fromStdString(layout::svgOf(picture)));
    double size = 0;
    int texts = 0;
    while (!reader.atEnd()) {
        if (!reader.readNextStartElement())
            continue;
        const QXmlStreamAttributes attributes = reader.attributes();
        if (reader.name() == u"svg")
            size = attributes.value(QStringLiteral("font-size")).toDouble();
        if (reader.name() != u"text")
            continue;
        const double x = attributes.value(QStringLiteral("x")).toDouble();
        const bool isBold = attributes.hasAttribute(QStringLiteral("font-weight"));
        const bool isCentred = attributes.hasAttribute(QStringLiteral("text-anchor"));
        const double em = attributes.hasAttribute(QStringLiteral("font-size"))
            ? attributes.value(QStringLiteral("font-size")).toDouble()
            : size;
        const QString text = reader.readElementText();
        if (isCentred) // a badge's
            continue;
        const auto own = static_cast<double>(text.count(QLatin1Char(character)));
        const double width = em * (own * (isBold ? bold : advance) + static_cast<double>(text.size()) - own);
        QVERIFY2(x + width <= (x < 10 ? 200 : 170), qPrintable(text));
        QVERIFY(text.size() > 3);
        ++texts;
    }
    QVERIFY(texts >= 5);
}

QTEST_GUILESS_MAIN(TestSvgWriter)
#include "tst_svg_writer.moc"

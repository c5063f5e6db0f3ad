#include "core/report/html_plot.h"

#include <QTest>

#include <limits>

using namespace halftone::report;

class TestHtmlPlot : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void markupInNamesIsText()
    {
        QVERIFY(linePlot({{"</svg><script>", 1}}, "dB").find("<script>") == std::string::npos);
        QVERIFY(barPlot({{"</svg><script>", 1, "float32"}}, "us", 5).find("<script>") == std::string::npos);
    }

    void everyMarkIsDrawnWithItsName()
    {
        const std::string svg = linePlot({{"first", 40}, {"second", 20}, {"third", 0}}, "SQNR in dB");
        for (const char *text : {"first: 40.0", "second: 20.0", "third: 0.0", "SQNR in dB"})
            QVERIFY2(svg.find(text) != std::string::npos, text);
        QVERIFY(svg.starts_with("<svg"));
        QVERIFY(svg.ends_with("</svg>\n"));
    }

    void whatIsNotFiniteStandsHollowAtTheBorder()
    {
        const double infinite = std::numeric_limits<double>::infinity();
        const std::string svg = linePlot(
            {{"a", infinite}, {"b", -infinite}, {"c", std::numeric_limits<double>::quiet_NaN()}, {"d", 5}},
            "dB");
        std::size_t hollow = 0;
        for (std::size_t at = 0; (at = svg.find("var(--ground)", at)) != std::string::npos; ++at)
            ++hollow;
        QCOMPARE(hollow, std::size_t{3});
        QVERIFY(svg.find("cy=\"nan") == std::string::npos && svg.find("cy=\"inf") == std::string::npos);
    }

    void longNamesAreCutBetweenCharacters()
    {
        QString name;
        for (int i = 0; i < 40; ++i)
            name += QChar(0x00e4); // two bytes each
        for (const char *before : {"", "x"}) {
            const std::string svg = barPlot({{before + name.toStdString(), 1, "float32"}}, "us", 1);
            QCOMPARE(QString::fromStdString(svg).toStdString(), svg);
            QVERIFY(svg.find("…") != std::string::npos);
        }
    }

    void nothingIsAPlotToo()
    {
        QVERIFY(linePlot({}, "dB").ends_with("</svg>\n"));
        QVERIFY(barPlot({}, "us", 5).ends_with("</svg>\n"));
    }

    void theLongestBarsComeFirstAndTheRestIsCounted()
    {
        const std::string svg
            = barPlot({{"small", 1, "float32"}, {"large", 3, "float32"}, {"middle", 2, "float32"}}, "us", 2);
        QVERIFY(svg.find("large") < svg.find("middle"));
        QVERIFY(svg.find("small") == std::string::npos);
        QVERIFY(svg.find("and 1 faster ones") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestHtmlPlot)
#include "tst_html_plot.moc"

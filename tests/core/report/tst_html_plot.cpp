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

    void pointsOfAPlaneStandWhereTheyAre()
    {
        const double infinite = std::numeric_limits<double>::infinity();
        PlanePoint fast{"fast", 1, {0.9, 1.1}, 20, true, true, true};
        PlanePoint slow{"slow", 2, {1.9, 2.1}, infinite, true, false, true};
        PlanePoint predicted{"<predicted>", 1.5, {1.5, 1.5}, 30, false, false, false};
        const std::string svg = planePlot({slow, fast, predicted}, "ms", "dB", 25);
        QVERIFY(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        QVERIFY(svg.find("<predicted>") == std::string::npos);
        QVERIFY(svg.find("cy=\"inf") == std::string::npos && svg.find("nan") == std::string::npos);
        const auto count = [&](const char *text) { return QByteArray::fromStdString(svg).count(text); };
        QCOMPARE(count("r=\"4.0\""), 3);
        QCOMPARE(count("r=\"9.0\""), 1); // the marked one
        QCOMPARE(count("fill=\"var(--ground)\""), 1); // the predicted one
        const auto place = [&](const char *name, const char *key) {
            const QString text = QString::fromStdString(svg);
            const qsizetype title = text.indexOf(QString("<title>%1").arg(name));
            const qsizetype at = text.lastIndexOf(QString(" %1=\"").arg(key), title);
            const qsizetype from = at + QString(key).size() + 3;
            return text.mid(from, text.indexOf('"', from) - from).toDouble();
        };
        QVERIFY(place("fast", "cx") < place("&lt;predicted", "cx"));
        QVERIFY(place("&lt;predicted", "cx") < place("slow", "cx"));
        QVERIFY(place("slow", "cy") <= place("&lt;predicted", "cy")); // no error is the top
        QVERIFY(place("&lt;predicted", "cy") < place("fast", "cy"));
        for (const std::vector<PlanePoint> &few : {std::vector<PlanePoint>{}, {fast}, {slow}})
            QVERIFY(planePlot(few, "ms", "dB", std::nullopt).find("nan") == std::string::npos);
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

#include "core/report/front_figures.h"

#include <QTest>

#include <cmath>

using namespace halftone::report;

namespace {

const std::string kFront = R"({"target": "bfloat16", "metric": "sqnr_db", "limit": 30,
 "points": [{"origin": "float32", "predicted": {"median_ms": 2, "sqnr_db": "inf"}, "sqnr_db": "inf", "top1": 0.8, "top1_fp32": 0.8,
   "median_ms": 2, "ci95": [2, 2], "ratio": 1, "groups": {"conv0": "float32: lowering it to bfloat16 leaves 40.0 dB for 1.000 ms"}}],
 "measured": [{"origin": "lowest", "predicted": {"median_ms": 1.1, "sqnr_db": 41}, "sqnr_db": 40, "top1": null, "top1_fp32": null,
   "median_ms": 1, "ci95": [0.9, 1.1], "ratio": 0.5, "groups": {"conv0": "bfloat16: costs 3.0 dB, saves 1.000 ms"}}],
 "groups": [], "kappa": 1.25, "lower_bound_gap": 0.01, "evaluations": 2, "passes": 3, "seconds": 4.5, "stopped_by": "done"})";

std::string without(std::string text, const std::string &part, const std::string &instead = {})
{
    return text.replace(text.find(part), part.size(), instead);
}

} // namespace

class TestFrontFigures : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatTuneWritesIsRead()
    {
        const auto front = readFront(kFront);
        QVERIFY2(front.ok(), front.ok() ? "" : front.error().message().c_str());
        QCOMPARE(front.value().points.size(), std::size_t{2});
        const FrontPoint &wide = front.value().points[0];
        QVERIFY(wide.isOffered && std::isinf(wide.sqnrDb));
        QCOMPARE(wide.top1, std::optional(0.8));
        const FrontPoint &narrow = front.value().points[1];
        QVERIFY(!narrow.isOffered && !narrow.top1);
        QCOMPARE(narrow.ci95, (std::array{0.9, 1.1}));
        QCOMPARE(narrow.predictedDb, 41.0);
        QCOMPARE(front.value().limit, std::optional(30.0));
        QCOMPARE(front.value().kappa, 1.25);
    }

    void whatDoesNotFitIsToldByItsPath()
    {
        const auto errorOf = [](const std::string &text) {
            const auto front = readFront(text);
            return front.ok() ? QString("none") : QString::fromStdString(front.error().message());
        };
        QVERIFY(errorOf("[1]") != "none");
        QVERIFY(errorOf("no JSON") != "none");
        QVERIFY(errorOf(without(kFront, "\"ratio\": 0.5, ")).contains("measured[0].ratio"));
        QVERIFY(errorOf(without(kFront, "[0.9, 1.1]", "[0.9]")).contains("measured[0].ci95"));
        QVERIFY(errorOf(without(kFront, "[0.9, 1.1]", "[0.9, true]")).contains("measured[0].ci95[1]"));
        QVERIFY(errorOf(without(kFront, "\"kappa\": 1.25, ")).contains("kappa"));
        QVERIFY(errorOf(without(kFront, "\"median_ms\": 1.1", "\"median_ms\": {}"))
                    .contains("measured[0].predicted.median_ms"));
        for (std::size_t end = 0; end < kFront.size(); end += 7)
            QVERIFY(errorOf(kFront.substr(0, end)) != "none");
    }

    void thePointOfThePolicyAtHandIsMarked()
    {
        const FrontFigures front = readFront(kFront).value();
        const auto count = [&](const std::map<std::string, std::string> &reasons) {
            return QByteArray::fromStdString(frontTable(front, reasons)).count("this one");
        };
        QCOMPARE(count({}), 0);
        QCOMPARE(count(front.points[1].reasons), 1);
        QCOMPARE(count({{"conv0", "float32: something else"}}), 0);
        const std::string plot = frontPlot(front, {});
        QVERIFY(plot.find("lowest: 1.000 ms at 40.0 dB") != std::string::npos);
        QVERIFY(plot.find("predicted: 1.100 ms at 41.0 dB") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestFrontFigures)
#include "tst_front_figures.moc"

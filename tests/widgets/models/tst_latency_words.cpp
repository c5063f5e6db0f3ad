#include "widgets/models/latency_words.h"

#include <QTest>

using namespace halftone;
using widgets::LatencyWords;

class TestLatencyWords : public QObject
{
    Q_OBJECT

private:
    static session::LatencyFigures figures(double otherMs, double ratio, double low, double high)
    {
        session::LatencyFigures latency;
        latency.versus = {otherMs, ratio, {low, high}};
        latency.fp32.medianMs = latency.fp32.minMs = 1;
        latency.mixed = latency.fp32;
        return latency;
    }

private Q_SLOTS:
    /// Medians of other runs would give another quotient than the one beside them.
    void theFiguresGiveTheQuotientBesideThem()
    {
        session::LatencyFigures latency = figures(0.8, 0.75, 0.71, 0.79);
        latency.fp32.medianMs = 0.699; // measured apart
        latency.mixed.medianMs = 0.459;
        const LatencyWords words = widgets::latencyWords(latency);
        QCOMPARE(words.fp32, QStringLiteral("0.800\u202fms"));
        QCOMPARE(words.mixed, QStringLiteral("0.600\u202fms"));
        QCOMPARE(words.ratio, QStringLiteral("\u00d70.75 \u00b10.04"));
        QVERIFY(!words.isSlower);
    }

    void slowerIsSaidWhereItIsCertain()
    {
        QVERIFY(widgets::latencyWords(figures(1, 1.42, 1.38, 1.46)).isSlower);
        QVERIFY(widgets::latencyWords(figures(1, 1.42, 1.38, 1.46)).ratio.endsWith(", slower"));
        QVERIFY(!widgets::latencyWords(figures(1, 1.02, 0.97, 1.07)).isSlower);
    }

    void aBusyMachineIsRecognised()
    {
        session::LatencyFigures latency = figures(1, 1, 0.9, 1.1);
        QVERIFY(!widgets::latencyWords(latency).isDisturbed);
        latency.mixed.medianMs = 240;
        latency.mixed.minMs = 5.07;
        QVERIFY(widgets::latencyWords(latency).isDisturbed);
        QVERIFY(widgets::latencyWords(latency).sentence().endsWith("; machine busy, not to be trusted)"));
    }

    /// Status bar and panel both say this.
    void allOfItIsOneSentence()
    {
        QCOMPARE(widgets::latencyWords(figures(0.8, 0.75, 0.71, 0.79)).sentence(),
                 QStringLiteral("0.800\u202fms \u2192 0.600\u202fms (\u00d70.75 \u00b10.04)"));
    }
};

QTEST_APPLESS_MAIN(TestLatencyWords)
#include "tst_latency_words.moc"

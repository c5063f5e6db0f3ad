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

    static LatencyWords wordsOf(const session::LatencyFigures &latency)
    {
        return widgets::latencyWords(latency, tensor::DType::BF16);
    }

private Q_SLOTS:
    /// Medians of other runs would give another quotient than the one beside them.
    void theFiguresGiveTheQuotientBesideThem()
    {
        session::LatencyFigures latency = figures(0.8, 0.75, 0.71, 0.79);
        latency.fp32.medianMs = 0.699; // measured apart
        latency.mixed.medianMs = 0.459;
        const LatencyWords words = wordsOf(latency);
        QCOMPARE(words.fp32, QStringLiteral("0.800\u202fms"));
        QCOMPARE(words.mixed, QStringLiteral("0.600\u202fms"));
        QCOMPARE(words.ratio, QStringLiteral("\u00d70.75 \u00b10.04"));
        QVERIFY(!words.isSlower);
    }

    void slowerIsSaidWhereItIsCertain()
    {
        QVERIFY(wordsOf(figures(1, 1.42, 1.38, 1.46)).isSlower);
        QVERIFY(wordsOf(figures(1, 1.42, 1.38, 1.46)).ratio.endsWith(", slower"));
        QVERIFY(wordsOf(figures(1, 1.42, 1.38, 1.46)).warns());
        QVERIFY(wordsOf(figures(1, 1.42, 1.38, 1.46))
                    .sentence()
                    .endsWith(", slower: no speed-up on this machine)"));
        QVERIFY(!wordsOf(figures(1, 1.02, 0.97, 1.07)).isSlower);
        QVERIFY(!wordsOf(figures(1, 1.02, 0.97, 1.07)).warns());
    }

    /// The median alone does not show it: one run in twenty took sixty times as long.
    void aBusyMachineIsTold()
    {
        session::LatencyFigures latency = figures(1, 0.44, 0.4, 0.48);
        latency.mixed.medianMs = 0.44;
        latency.mixed.minMs = 0.4;
        latency.mixed.p95Ms = 26;
        QVERIFY(wordsOf(latency).warns());
        QVERIFY2(wordsOf(latency).sentence().contains("machine was busy: unreliable"),
                 qPrintable(wordsOf(latency).sentence()));
        latency.mixed.p95Ms = 0.46;
        QVERIFY(!wordsOf(latency).warns());
        latency.versus.isDisturbed = true;
        QVERIFY(wordsOf(latency).warns());
    }

    void aDeviceOfItsOwnIsTold()
    {
        session::LatencyFigures latency = figures(1, 1, 0.9, 1.1);
        QVERIFY(wordsOf(latency).ofDevice().isEmpty()); // a processor has none
        latency.fp32.deviceMs = 0.036;
        latency.mixed.deviceMs = 0.018;
        latency.fp32.launches = kernels::Launches{53, 55};
        latency.mixed.launches = kernels::Launches{48, 50};
        latency.fp32.limitMs = 0.015;
        latency.mixed.limitMs = 0.0075;
        QCOMPARE(wordsOf(latency).ofDevice(),
                 QStringLiteral(
                     "GPU time 0.0360\u202fms \u2192 0.0180\u202fms \u00b7 kernels 53 \u2192 48 planned, "
                     "55 \u2192 50 launched \u00b7 limit 0.0150\u202fms \u2192 0.00750\u202fms"));
        latency.fp32.launches->measured.reset();
        QCOMPARE(wordsOf(latency).kernels, QStringLiteral("53 \u2192 48 planned"));
        latency.native = false; // only float32 was timed
        QCOMPARE(wordsOf(latency).onDevice, QStringLiteral("0.0360\u202fms"));
        QCOMPARE(wordsOf(latency).kernels, QStringLiteral("53 planned"));
    }

    void aBusyMachineIsRecognised()
    {
        session::LatencyFigures latency = figures(1, 1, 0.9, 1.1);
        QVERIFY(!wordsOf(latency).isDisturbed);
        latency.mixed.medianMs = 240;
        latency.mixed.minMs = 5.07;
        QVERIFY(wordsOf(latency).isDisturbed);
        QVERIFY(wordsOf(latency).sentence().endsWith("; machine was busy: unreliable)"));
    }

    /// Those that give the quotient, which are others than those of either network alone.
    void aMachineBusyDuringTheRunsInTurnsIsRecognised()
    {
        session::LatencyFigures latency = figures(1, 1, 0.9, 1.1);
        latency.versus.isDisturbed = true;
        QVERIFY(wordsOf(latency).isDisturbed);
        QVERIFY(wordsOf(latency).sentence().endsWith("; machine was busy: unreliable)"));
    }

    void whatIsEmulatedIsSaidToBe()
    {
        session::LatencyFigures latency = figures(0, 0, 0, 0);
        latency.native = false;
        const QString plain
            = QStringLiteral("fp32 1.00\u202fms; bfloat16 is emulated on this machine, not timed");
        QCOMPARE(wordsOf(latency).sentence(), plain);
        QVERIFY(!wordsOf(latency).warns());
        latency.fp32.medianMs = 240;
        QVERIFY(wordsOf(latency).warns());
        QVERIFY(wordsOf(latency).sentence().endsWith("; machine was busy: unreliable"));
    }

    /// Status bar and panel both say this.
    void allOfItIsOneSentence()
    {
        QCOMPARE(wordsOf(figures(0.8, 0.75, 0.71, 0.79)).sentence(),
                 QStringLiteral("0.800\u202fms \u2192 0.600\u202fms (\u00d70.75 \u00b10.04)"));
    }
};

QTEST_APPLESS_MAIN(TestLatencyWords)
#include "tst_latency_words.moc"

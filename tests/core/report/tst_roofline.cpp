#include "core/hardware/catalogue.h"
#include "core/report/roofline.h"

#include <QTest>

using namespace halftone;
using tensor::DType;

/// The least time of a step on a chip.
class RooflineTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bytesOrOperations()
    {
        const auto chip = hardware::findDescription("sm_90");
        QVERIFY(chip.ok());
        latency::LayerLatency layer;
        auto &step = layer.step;
        step.dtype = DType::F16;
        step.bytes = 3350e6; // a thousandth of what the memory gives in a second
        QCOMPARE(report::limitUs(layer, *chip.value()).value_or(0), 1000.0);
        step.multiplies = true;
        step.flops = 67000e9 * 14.8; // a second of float16 products
        QCOMPARE(report::limitUs(layer, *chip.value()).value_or(0), 1e6);
        step.dtype = DType::F32;
        QCOMPARE(report::limitUs(layer, *chip.value()).value_or(0), 14.8e6);
    }

    void limitsOfAllLayersAddUp()
    {
        const auto chip = hardware::findDescription("sm_90").value();
        latency::Latency latency;
        latency.layers.resize(3);
        latency.layers[0].step.bytes = 3350e6;
        latency.layers[2].step.bytes = 2 * 3350e6;
        report::addLimits(latency, *chip);
        QCOMPARE(latency.layers[0].limitUs.value_or(0), 1000.0);
        QVERIFY(!latency.layers[1].limitUs);
        QCOMPARE(latency.limitMs.value_or(0), 3.0);
        report::addLimits(latency, hardware::Description());
        QVERIFY(!latency.limitMs && !latency.layers[0].limitUs);
    }

    void whatIsNotSaidHasNoLimit()
    {
        const auto chip = hardware::findDescription("sm_90");
        QVERIFY(!report::limitUs({}, *chip.value()));
        latency::LayerLatency layer;
        auto &step = layer.step;
        step.bytes = 1;
        QVERIFY(!report::limitUs(layer, hardware::Description()));
    }
};

QTEST_GUILESS_MAIN(RooflineTest)
#include "tst_roofline.moc"

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
        profile::LayerLatency layer;
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

    void whatIsNotSaidHasNoLimit()
    {
        const auto chip = hardware::findDescription("sm_90");
        QVERIFY(!report::limitUs({}, *chip.value()));
        profile::LayerLatency layer;
        auto &step = layer.step;
        step.bytes = 1;
        QVERIFY(!report::limitUs(layer, hardware::Description()));
    }
};

QTEST_GUILESS_MAIN(RooflineTest)
#include "tst_roofline.moc"

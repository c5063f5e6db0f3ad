#include "core/hardware/catalogue.h"
#include "core/hardware/kept_measurement.h"
#include "core/machines/local_chips.h"
#include "core/machines/measure_machine.h"
#include "tests/support/fake_gpu.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using hardware::Number;
using hardware::Unit;

/// What is at hand is found in the table of backends and measured by its own clock.
class TestMeasureMachine : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void theGpuIsFoundWithItsOwnMemory();
    void aGpuIsMeasuredByItsOwnClock();
    void whatWasMeasuredIsKeptUnderTheDevice();
    void anotherChipIsNotMeasured();
    void onlyASteadySpeedCounts();
    void limitsTakeTheBoardsOwnMemory();

private:
    QTemporaryDir m_cache;
};

void TestMeasureMachine::initTestCase()
{
    qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
    QVERIFY(!machines::isMeasured(hardware::kThisGpu)); // nobody has looked so far
    QVERIFY(test::addFakeGpu());
}

void TestMeasureMachine::theGpuIsFoundWithItsOwnMemory()
{
    if (machines::availableBackend(hardware::kThisGpu) == "cuda")
        QSKIP("there is a real one, which comes first");
    const auto gpu = machines::findChip(hardware::kThisGpu);
    QVERIFY(gpu.ok());
    QCOMPARE(gpu.value()->name, std::string("sm_90"));
    QCOMPARE(gpu.value()->bandwidth.value_or(0), test::kFakeBandwidth);
    QCOMPARE(machines::availableBackend(hardware::kThisGpu), std::string("fake-gpu"));
    QCOMPARE(hardware::machineOf(hardware::kThisGpu), std::string(test::kFakeDevice));
    QCOMPARE(machines::availableBackend(hardware::kThis), std::string(backends::kDefaultBackend));
}

/// The fake's plans return at once: whoever took the wall clock's time would find anything but these.
void TestMeasureMachine::aGpuIsMeasuredByItsOwnClock()
{
    if (machines::availableBackend(hardware::kThisGpu) == "cuda")
        QSKIP("there is a real one, which comes first");
    const auto measured = machines::measureMachine(hardware::kThisGpu);
    QVERIFY2(measured.ok(), measured.ok() ? "" : measured.error().message().c_str());
    const hardware::Measurement &found = measured.value();
    QCOMPARE(found.machine, std::string(test::kFakeDevice));
    QCOMPARE(found.of(Unit::Conv, Number::Fp16).value_or(0), 4.0);
    QCOMPARE(found.of(Unit::Conv, Number::Bf16).value_or(0), 3.0);
    QCOMPARE(found.of(Unit::Gemm, Number::Fp16).value_or(0), 8.0);
    QCOMPARE(found.of(Unit::Gemm, Number::Bf16).value_or(0), 6.0);
    QCOMPARE(found.of(Unit::Elementwise, Number::Fp16).value_or(0), 2.0);
    QCOMPARE(found.of(Unit::Elementwise, Number::Bf16).value_or(0), 1.5);
    QVERIFY(!found.of(Unit::Conv, Number::Int8)); // no kernels for it
}

void TestMeasureMachine::whatWasMeasuredIsKeptUnderTheDevice()
{
    if (machines::availableBackend(hardware::kThisGpu) == "cuda")
        QSKIP("there is a real one, which comes first");
    QVERIFY(!machines::isMeasured(hardware::kThisGpu));
    QVERIFY(machines::ensureMeasured(hardware::kThisGpu).ok());
    QVERIFY(machines::isMeasured(hardware::kThisGpu));
    const auto gpu = machines::findChip(hardware::kThisGpu).value();
    QCOMPARE(gpu->measuredSpeed(Unit::Conv, tensor::DType::F16).value_or(0), 4.0);
    const QStringList files = QDir(m_cache.filePath("halftone")).entryList({"measured-*.json"});
    QCOMPARE(files.size(), 1); // and none of the processor's
    QVERIFY(!machines::isMeasured(hardware::kThis));
    const auto kept
        = hardware::findDescription(m_cache.filePath("halftone/" + files.front()).toStdString()).value();
    QCOMPARE(kept->measurement->machine, std::string(test::kFakeDevice));
}

void TestMeasureMachine::anotherChipIsNotMeasured()
{
    QVERIFY(machines::ensureMeasured("sm_80").ok());
    QVERIFY(!machines::isMeasured("sm_80"));
    QCOMPARE(machines::measureMachine("sm_80").error().code, Errc::Unsupported);
}

/// By definition: the reciprocal of the ratio of times, if the ends of its interval are at most a quarter apart.
void TestMeasureMachine::onlyASteadySpeedCounts()
{
    const auto speed = [](double ratio, double low, double high) {
        latency::Versus versus;
        versus.ratio = ratio;
        versus.ci95 = {low, high};
        return machines::steadySpeed(versus).value_or(0);
    };
    QCOMPARE(speed(0.5, 0.49, 0.52), 2.0);
    QCOMPARE(speed(1.25, 1.2, 1.4), 0.8);
    QCOMPARE(speed(0.8, 0.8, 1.0), 1.25); // a quarter apart
    QCOMPARE(speed(0.8, 0.79, 1.0), 0.0);
    QCOMPARE(speed(0.002, 0.001, 1.7), 0.0); // as found on a machine with ten programs more than processors
    QCOMPARE(speed(0.5, 0, 0.5), 0.0);
    QCOMPARE(speed(0, 0, 0), 0.0);
}

void TestMeasureMachine::limitsTakeTheBoardsOwnMemory()
{
    backends::BackendInfo info;
    QVERIFY(!machines::chipOf(info)); // a processor's says no architecture
    info.architecture = "sm_90";
    QCOMPARE(machines::chipOf(info)->bandwidth.value_or(0), 3350.0); // the datasheet's of an H100
    info.bandwidth = 4917;
    QCOMPARE(machines::chipOf(info)->bandwidth.value_or(0), 4917.0);
    QCOMPARE(hardware::findDescription("sm_90").value()->bandwidth.value_or(0), 3350.0);
    info.architecture = "sm_120";
    QCOMPARE(machines::chipOf(info)->bandwidth.value_or(0), 4917.0);
    QVERIFY(!machines::chipOf(info)->gigaflops); // no description of its own
}

QTEST_GUILESS_MAIN(TestMeasureMachine)
#include "tst_measure_machine.moc"

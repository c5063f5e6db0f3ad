#include "core/base/resource.h"
#include "core/hardware/catalogue.h"
#include "core/hardware/description_json.h"
#include "core/hardware/kept_measurement.h"
#include "core/hardware/operator_unit.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using hardware::Support;
using hardware::Unit;
using tensor::DType;

namespace {

using Json = nlohmann::ordered_json;

Json conv16()
{
    return Json::parse(resource("hardware/conv16.json"));
}

QString messageOf(const std::string &text)
{
    const auto read = hardware::readDescription(text);
    return read.ok() ? QString() : QString::fromStdString(read.error().message());
}

} // namespace

class TestDescriptions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsAllThatComeWithTheProgram();
    void writesWhatItReads();
    void refuses_data();
    void refuses();
    void refusesWhatIsNoJson();
    void findsByNameFileAndNearestName();
    void detectsByFlags_data();
    void detectsByFlags();
    void detectsGpusByCapability_data();
    void detectsGpusByCapability();
    void theGpuAtHandIsTheOneThatWasTold();
    void tellsUnits();
};

void TestDescriptions::readsAllThatComeWithTheProgram()
{
    QCOMPARE(hardware::builtIn().size(), std::size_t{14});
    for (const auto &chip : hardware::builtIn()) {
        QVERIFY2(!chip->sources.empty(), chip->name.c_str());
        QVERIFY2(chip->support(Unit::Conv, DType::F32) == Support::Native, chip->name.c_str());
    }
    const auto a100 = hardware::findDescription("sm_80").value();
    QCOMPARE(a100->support(Unit::Gemm, DType::BF16), Support::Native);
    QVERIFY(a100->accumulator(Unit::Gemm, DType::BF16) == DType::F32);
    QVERIFY(a100->hasFastPath(DType::F16));
    const auto avx2 = hardware::findDescription("avx2").value();
    QVERIFY(!avx2->hasFastPath(DType::F16));
    QCOMPARE(avx2->support(Unit::Elementwise, DType::F16), Support::Storage);
    QVERIFY(avx2->accumulator(Unit::Conv, DType::F16) == DType::Unknown);
    QCOMPARE(avx2->support(Unit::Conv, DType::F64), Support::No);
}

void TestDescriptions::writesWhatItReads()
{
    for (const auto &chip : hardware::builtIn()) {
        const auto again = hardware::readDescription(hardware::writeDescription(*chip));
        QVERIFY2(again.ok(), chip->name.c_str());
        QVERIFY2(again.value() == *chip, chip->name.c_str());
    }
}

void TestDescriptions::refuses_data()
{
    QTest::addColumn<QString>("patch");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *patch, const char *message) {
        QTest::newRow(message) << QString(patch) << QString(message);
    };
    row(R"({"classes": {"conv": {"fp16": {"support": "perhaps"}}}})",
        "classes.conv.fp16.support: \"perhaps\", expected native, storage, emulated or no");
    row(R"({"classes": {"conv": {"fp16": {"rate": -1}}}})",
        "classes.conv.fp16.rate: -1, expected a number above 0");
    row(R"({"classes": {"conv": {"fp16": {"rate": "fast"}}}})",
        "classes.conv.fp16.rate: \"fast\", expected a number above 0");
    row(R"({"classes": {"conv": {"fp16": {"accumulate": []}}}})",
        "classes.conv.fp16.accumulate: an empty list, expected accumulator types, best first");
    row(R"({"classes": {"conv": {"fp16": {"accumulate": ["float32", "int64"]}}}})",
        "classes.conv.fp16.accumulate[1]: \"int64\", expected float32, float16, bfloat16 or int32, each "
        "once");
    row(R"({"classes": {"conv": {"fp17": {"support": "no"}}}})",
        "classes.conv.fp17: an unknown key (did you mean fp16?)");
    row(R"({"classes": {"gemm": null}})", "classes.gemm: missing, expected a value");
    row(R"({"classes": {"gemm": {"fp32": {"support": "storage"}}}})",
        "classes.gemm.fp32.support: \"storage\", expected native: operators that are not lowered compute in "
        "float32");
    row(R"({"name": null})", "name: missing, expected a value");
    row(R"({"name": 3})", "name: 3, expected a text");
    row(R"({"kind": "toaster"})", "kind: \"toaster\", expected cpu, gpu or npu");
    row(R"({"detect": {}})", "detect: neither cpu_flags nor cuda, expected one of them, or null");
    row(R"({"detect": {"cpu_flags": "avx2"}})", "detect.cpu_flags: \"avx2\", expected a list of texts");
    row(R"({"memory_gb_s": 0})", "memory_gb_s: 0, expected a number above 0");
    row(R"({"casts": {"fused_in_products": "yes"}})",
        "casts.fused_in_products: \"yes\", expected true or false");
    row(R"({"sources": [{"fact": "so it is"}]})", "sources[0].document: missing, expected a value");
    row(R"({"colour": "green"})", "colour: an unknown key");
}

void TestDescriptions::refuses()
{
    QFETCH(const QString, patch);
    QFETCH(const QString, message);
    Json json = conv16();
    json.merge_patch(Json::parse(patch.toStdString()));
    if (patch.contains("\"detect\": {}"))
        json["detect"] = Json::object();
    QCOMPARE(messageOf(json.dump()), message);
}

void TestDescriptions::refusesWhatIsNoJson()
{
    QCOMPARE(messageOf("{\"name\": "), QString("byte 9: invalid JSON"));
    QCOMPARE(messageOf("[]"), QString("the description: a list, expected an object"));
    QVERIFY(messageOf(std::string(hardware::kLongestDescription + 1, ' '))
                .startsWith("the description: 1048577 bytes"));
    std::string twice = conv16().dump();
    twice.insert(1, "\"name\": \"other\", ");
    QCOMPARE(messageOf(twice), QString("name: duplicate key"));
    QVERIFY(!messageOf(std::string(100'000, '[')).isEmpty());
}

void TestDescriptions::findsByNameFileAndNearestName()
{
    const auto unknown = hardware::findDescription("sm_81");
    QVERIFY(!unknown.ok());
    QCOMPARE(unknown.error().code, Errc::BadCall);
    QVERIFY(unknown.error().found.find("sm_80") != std::string::npos);

    const QTemporaryDir folder;
    const QString path = folder.filePath("own.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    Json json = conv16();
    json["name"] = "own";
    file.write(json.dump().c_str());
    file.close();
    QCOMPARE(hardware::findDescription(path.toStdString()).value()->name, std::string("own"));

    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{}");
    file.close();
    const auto broken = hardware::findDescription(path.toStdString());
    QVERIFY(!broken.ok());
    QCOMPARE(broken.error().code, Errc::BadInput);
    QCOMPARE(broken.error().file, path.toStdString());
    QCOMPARE(broken.error().where, std::string("name"));
    QCOMPARE(hardware::findDescription(folder.filePath("none.json").toStdString()).error().code,
             Errc::BadInput);
}

void TestDescriptions::detectsByFlags_data()
{
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<QString>("name");
    QTest::newRow("old") << QStringList{"sse4_2"} << QString();
    QTest::newRow("haswell") << QStringList{"avx2", "fma"} << QString("avx2");
    QTest::newRow("cooper lake") << QStringList{"avx2", "fma", "avx512_bf16", "avx512_vnni"}
                                 << QString("avx512-bf16-vnni");
    QTest::newRow("sapphire rapids") << QStringList{"avx2",        "fma",      "avx512_bf16", "avx512_vnni",
                                                    "avx512_fp16", "amx_tile", "amx_bf16",    "amx_int8"}
                                     << QString("amx");
    QTest::newRow("neoverse n1") << QStringList{"asimdhp", "asimddp"} << QString("armv8.2-fp16");
    QTest::newRow("neoverse v1") << QStringList{"asimdhp", "asimddp", "bf16", "i8mm"}
                                 << QString("armv8.6-bf16-i8mm");
}

void TestDescriptions::detectsByFlags()
{
    QFETCH(const QStringList, flags);
    QFETCH(const QString, name);
    std::set<std::string, std::less<>> set;
    for (const QString &flag : flags)
        set.insert(flag.toStdString());
    const auto found = hardware::describedBy(hardware::builtIn(), set);
    QCOMPARE(found ? QString::fromStdString(found->name) : QString(), name);
}

void TestDescriptions::detectsGpusByCapability_data()
{
    QTest::addColumn<QString>("capability");
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("name");
    const auto row = [](const char *device, const char *capability, const char *architecture, bool isKnown) {
        QTest::newRow(device) << capability << architecture << QString(isKnown ? architecture : "");
    };
    row("V100", "7.0", "sm_70", true);
    row("T4", "7.5", "sm_75", true);
    row("A100", "8.0", "sm_80", true);
    row("A10, A40, GeForce 30", "8.6", "sm_86", true);
    row("Orin", "8.7", "sm_87", false);
    row("L4, L40", "8.9", "sm_89", true);
    row("H100, H200", "9.0", "sm_90", true);
    row("B200", "10.0", "sm_100", true);
    row("GeForce 50", "12.0", "sm_120", false);
}

void TestDescriptions::detectsGpusByCapability()
{
    QFETCH(const QString, capability);
    QFETCH(const QString, architecture);
    QFETCH(const QString, name);
    const auto found = hardware::describedBy(hardware::builtIn(), architecture.toStdString());
    QCOMPARE(found ? QString::fromStdString(found->name) : QString(), name);
    if (found)
        QCOMPARE(QString::fromStdString(found->detect.cuda), capability);
    QVERIFY(!hardware::describedBy(hardware::builtIn(), "sm_")); // a processor's has no capability
    QVERIFY(!hardware::describedBy(hardware::builtIn(), ""));
}

/// Before one is told there is none; one that no description is of is named; measurements are kept under the device's name.
void TestDescriptions::theGpuAtHandIsTheOneThatWasTold()
{
    const QTemporaryDir cache;
    qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
    const auto reset = qScopeGuard([] { qunsetenv("XDG_CACHE_HOME"); });
    const auto none = hardware::findDescription(hardware::kThisGpu);
    QVERIFY(!none.ok());
    QCOMPARE(none.error().code, Errc::Unsupported);
    QVERIFY(hardware::machineOf(hardware::kThisGpu).empty());

    hardware::tellGpu({"Some Board", "sm_120", 1792.0});
    const auto unknown = hardware::findDescription(hardware::kThisGpu);
    QVERIFY(!unknown.ok());
    QCOMPARE(unknown.error().found, std::string("no description matches the GPU Some Board (sm_120)"));

    const std::string device = "NVIDIA H200 (sm_90)";
    hardware::tellGpu({device, "sm_90", 4917.0});
    const auto h200 = hardware::findDescription(hardware::kThisGpu).value();
    QCOMPARE(h200->name, std::string("sm_90"));
    QCOMPARE(h200->bandwidth.value_or(0), 4917.0);
    QCOMPARE(hardware::findDescription("sm_90").value()->bandwidth.value_or(0), 3350.0);
    QVERIFY(!h200->measurement);

    hardware::Measurement found{device, "2026-01-01", {}};
    found.of(Unit::Gemm, hardware::Number::Fp16) = 12.5;
    hardware::keepMeasurement(*h200, found);
    QCOMPARE(hardware::machineOf(hardware::kThisGpu), device);
    QVERIFY(hardware::findDescription(hardware::kThisGpu).value()->measurement == found);
    QVERIFY(!hardware::keptMeasurement("NVIDIA H100 (sm_90)"));
    const QStringList files = QDir(cache.filePath("halftone")).entryList({"measured-*.json"});
    QCOMPARE(files.size(), 1);
    const auto kept = hardware::findDescription(cache.filePath("halftone/" + files.front()).toStdString());
    QVERIFY(kept.value()->measurement == found);

    hardware::tellGpu({"NVIDIA H100 (sm_90)", "sm_90", std::nullopt});
    QCOMPARE(hardware::thisGpu()->bandwidth.value_or(0),
             3350.0); // the description's, where the driver does not say
    QVERIFY(!hardware::findDescription(hardware::kThisGpu).value()->measurement);
}

void TestDescriptions::tellsUnits()
{
    using hardware::unitOf;
    QVERIFY(unitOf(ops::Conv{}) == Unit::Conv);
    QVERIFY(unitOf(ops::ConvTranspose{}) == Unit::Conv);
    QVERIFY(unitOf(ops::Gemm{}) == Unit::Gemm);
    QVERIFY(unitOf(ops::Recurrence{}) == Unit::Gemm);
    QVERIFY(unitOf(ops::Attention{}) == Unit::Gemm);
    QVERIFY(unitOf(ops::Activation{}) == Unit::Elementwise);
    QVERIFY(unitOf(ops::Binary{ops::BinaryKind::Greater}) == Unit::Elementwise);
    QVERIFY(unitOf(ops::Binary{ops::BinaryKind::Power}) == Unit::Softmax);
    QVERIFY(unitOf(ops::Unary{ops::UnaryKind::Exp}) == Unit::Softmax);
    QVERIFY(unitOf(ops::LeakyRelu{ops::LeakyRelu::Kind::Gelu}) == Unit::Elementwise);
    QVERIFY(unitOf(ops::Pool{}) == Unit::Reduction);
    QVERIFY(unitOf(ops::TopK{}) == Unit::Reduction);
    QVERIFY(unitOf(ops::CumSum{}) == Unit::Reduction);
    QVERIFY(unitOf(ops::BatchNormalization{}) == Unit::Normalization);
    QVERIFY(unitOf(ops::Softmax{}) == Unit::Softmax);
    QVERIFY(unitOf(ops::Transpose{}) == Unit::Movement);
    QVERIFY(unitOf(ops::Concat{}) == Unit::Movement);
    QVERIFY(!unitOf(ops::Cast{}));
    QVERIFY(!unitOf(ops::ControlFlow{}));
    QVERIFY(!unitOf(ops::Opaque{}));
}

QTEST_APPLESS_MAIN(TestDescriptions)
#include "tst_descriptions.moc"

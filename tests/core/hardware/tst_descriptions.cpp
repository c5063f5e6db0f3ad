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
    void detectsGpusByCapability_data();
    void detectsGpusByCapability();
    void whatIsNoCapabilityHasNoDescription();
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

void TestDescriptions::detectsGpusByCapability_data()
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("like"); // the description that support and rates come from
    QTest::newRow("V100") << "sm_70"
                          << "sm_70";
    QTest::newRow("Xavier") << "sm_72"
                            << "sm_70";
    QTest::newRow("T4") << "sm_75"
                        << "sm_75";
    QTest::newRow("A100") << "sm_80"
                          << "sm_80";
    QTest::newRow("A10, A40, GeForce 30") << "sm_86"
                                          << "sm_86";
    QTest::newRow("Orin") << "sm_87"
                          << "sm_86";
    QTest::newRow("L4, L40") << "sm_89"
                             << "sm_89";
    QTest::newRow("H100, H200") << "sm_90"
                                << "sm_90";
    QTest::newRow("B200") << "sm_100"
                          << "sm_100";
    QTest::newRow("B300") << "sm_103"
                          << "sm_100";
    QTest::newRow("GeForce 50") << "sm_120"
                                << "sm_100";
    QTest::newRow("P100") << "sm_60" << QString();
}

void TestDescriptions::detectsGpusByCapability()
{
    QFETCH(const QString, architecture);
    QFETCH(const QString, like);
    const auto found = hardware::describedBy(hardware::builtIn(), architecture.toStdString());
    QVERIFY(found);
    QCOMPARE(QString::fromStdString(found->name), architecture);
    QString digits = QString::fromStdString(found->detect.cuda);
    QCOMPARE(QStringLiteral("sm_") + digits.remove(QLatin1Char('.')), architecture);
    QVERIFY(hardware::readDescription(hardware::writeDescription(*found)).ok());
    if (like.isEmpty()) {
        QVERIFY(!found->hasFastPath(DType::F16) && !found->hasFastPath(DType::I8));
        QVERIFY(found->note.find("is older than all described ones") != std::string::npos);
        return;
    }
    const auto described = hardware::findDescription(like.toStdString()).value();
    QVERIFY(found->abilities == described->abilities);
    if (like == architecture) {
        QVERIFY(*found == *described);
    } else { // peak and bandwidth are another chip's
        QVERIFY(!found->gigaflops && !found->bandwidth);
        QVERIFY2(found->note.find("nearest one below, " + described->detect.cuda) != std::string::npos,
                 found->note.c_str());
    }
}

void TestDescriptions::whatIsNoCapabilityHasNoDescription()
{
    for (const char *name : {"sm_", "", "gfx90a", "sm_x", "sm_5", "90"})
        QVERIFY2(!hardware::describedBy(hardware::builtIn(), name), name);
    QCOMPARE(hardware::describedBy(hardware::builtIn(), "sm_90a")->name, std::string("sm_90"));
}

/// Before one is told there is none; one without a description of its own has the nearest one's; measurements are kept under the device's name.
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
    const auto nearest = hardware::findDescription(hardware::kThisGpu);
    QVERIFY(nearest.ok());
    QCOMPARE(nearest.value()->name, std::string("sm_120"));
    QCOMPARE(nearest.value()->bandwidth.value_or(0), 1792.0);
    QVERIFY(!nearest.value()->note.empty());
    hardware::tellGpu({"Some Board", "gfx90a", std::nullopt});
    const auto unknown = hardware::findDescription(hardware::kThisGpu);
    QVERIFY(!unknown.ok());
    QCOMPARE(unknown.error().found, std::string("the GPU Some Board reports no compute capability"));

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

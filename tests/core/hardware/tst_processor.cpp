#include "core/base/mapped_file.h"
#include "core/hardware/catalogue.h"
#include "core/hardware/description_json.h"
#include "core/hardware/processor.h"

#include <QDir>
#include <QTest>

using namespace halftone;
using hardware::Number;
using hardware::Support;
using hardware::Unit;
using tensor::DType;

namespace {

const QString kFolder = QStringLiteral(HALFTONE_TEST_DATA "/cpuinfo/");

hardware::Processor processorIn(const QString &name)
{
    const auto file = MappedFile::open((kFolder + name + QStringLiteral(".txt")).toStdString());
    if (!file.ok())
        qFatal("%s", file.error().message().c_str());
    return hardware::readProcessor(file.value()->text());
}

hardware::Description describe(const hardware::Processor &processor)
{
    return hardware::describe(processor, hardware::builtIn());
}

hardware::Description describe(const hardware::Flags &flags)
{
    return describe(hardware::Processor{{}, flags});
}

/// "native x2 float16", "no": of one unit and type.
QString abilityOf(const hardware::Description &chip, Unit unit, Number number)
{
    const hardware::Ability &ability = chip.ability(unit, number);
    QString text = QString::fromUtf8(hardware::nameOf(ability.support).data());
    if (ability.support == Support::No)
        return text;
    QStringList sums;
    for (const DType type : ability.accumulate)
        sums << QString::fromUtf8(tensor::nameOf(type).data());
    return QStringLiteral("%1 x%2 %3").arg(text).arg(ability.rate).arg(sums.join(QLatin1Char('/')));
}

QString fastOf(const hardware::Description &chip)
{
    QStringList names;
    for (const Number number : chip.fastNumbers())
        names << QString::fromUtf8(hardware::nameOf(number).data());
    return names.join(QLatin1Char(' '));
}

} // namespace

/// Every processor is described, by its flags, and a measurement decides between its types.
class TestProcessor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void realProcessorsGetTheirUnits_data();
    void realProcessorsGetTheirUnits();
    void everyFixtureIsInTheTable();
    void flagsAreThoseOfAllProcessors();
    void aDescriptionOfItsOwnGivesTheName();
    void anySetOfFlagsIsDescribed();
    void aNewUnitOfTheSameTypeGoesFirst();
    void aMeasurementDecides_data();
    void aMeasurementDecides();
    void whatWasNotMeasuredStays();
    void typesAreOrderedBySpeed();
};

/// By instruction: what it multiplies and adds, against FMA of the same width; accumulators are the instruction's.
void TestProcessor::realProcessorsGetTheirUnits_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("fp16"); // of products
    QTest::addColumn<QString>("bf16");
    QTest::addColumn<QString>("int8");
    QTest::addColumn<QString>("elementwise"); // in float16
    const auto row = [](const char *file, const char *name, const QString &fp16, const QString &bf16,
                        const QString &int8, const QString &elementwise) {
        QTest::newRow(file) << QString(name) << fp16 << bf16 << int8 << elementwise;
    };
    const QString none = QStringLiteral("no");
    const QString storage = QStringLiteral("storage x1 float32");
    const QString emulated = QStringLiteral("emulated x1 float32");
    const QString slowInt8 = QStringLiteral("emulated x1 int32");
    const QString avx2Int8 = QStringLiteral("emulated x1.3 int32");
    const QString vnni = QStringLiteral("native x4 int32");
    const QString avx512Bf16 = QStringLiteral("native x2 float32");
    const QString fp16 = QStringLiteral("native x2 float16");
    const QString fhm = QStringLiteral("native x2 float16/float32");
    const QString amxBf16 = QStringLiteral("native x16 float32");
    const QString amxInt8 = QStringLiteral("native x32 int32");
    const QString armBf16 = QStringLiteral("native x4 float32");
    const QString i8mm = QStringLiteral("native x8 int32");
    row("nehalem", "x86-64", none, none, slowInt8, emulated);
    row("sandy-bridge", "avx", none, none, slowInt8, emulated);
    row("ivy-bridge", "avx", none, none, slowInt8, storage);
    row("haswell", "avx2", none, none, avx2Int8, storage);
    row("zen2", "avx2", none, none, avx2Int8, storage);
    row("zen3", "avx2", none, none, avx2Int8, storage);
    row("skylake-sp", "avx2", none, none, avx2Int8, storage);
    row("cascade-lake", "avx512-vnni", none, none, vnni, storage);
    row("ice-lake-sp", "avx512-vnni", none, none, vnni, storage);
    row("alder-lake", "avx2-vnni", none, none, vnni, storage);
    row("cooper-lake", "avx512-bf16-vnni", none, avx512Bf16, vnni, storage);
    row("zen4", "avx512-bf16-vnni", none, avx512Bf16, vnni, storage);
    row("zen5", "avx512-bf16-vnni", none, avx512Bf16, vnni, storage);
    row("sapphire-rapids", "amx", fp16, amxBf16, amxInt8, fp16);
    row("sapphire-rapids-without-amx", "avx512-fp16-bf16-vnni", fp16, avx512Bf16, vnni, fp16);
    row("cortex-a72", "armv8", none, none, slowInt8, storage);
    row("neoverse-n1", "armv8.2-fp16", fp16, none, vnni, fp16);
    row("neoverse-v1", "armv8.6-bf16-i8mm", fhm, armBf16, i8mm, fp16);
    row("neoverse-v2", "armv8.6-bf16-i8mm", fhm, armBf16, i8mm, fp16);
    row("ampere-one", "armv8.6-bf16-i8mm", fhm, armBf16, i8mm, fp16);
    row("apple-m1", "armv8-fp16fml-dotprod", fhm, none, vnni, fp16);
    row("apple-m2", "armv8.6-bf16-i8mm", fhm, armBf16, i8mm, fp16);
    row("a64fx", "armv8-fp16", fp16, none, slowInt8, fp16);
    row("kunpeng-920", "armv8-fp16fml-dotprod", fhm, none, vnni, fp16);
    row("power9", "float32-cpu", none, none, slowInt8, emulated);
    row("riscv64", "float32-cpu", none, none, slowInt8, emulated);
}

void TestProcessor::realProcessorsGetTheirUnits()
{
    QFETCH(const QString, name);
    QFETCH(const QString, fp16);
    QFETCH(const QString, bf16);
    QFETCH(const QString, int8);
    QFETCH(const QString, elementwise);
    const hardware::Processor processor = processorIn(QString::fromUtf8(QTest::currentDataTag()));
    const hardware::Description chip = describe(processor);
    QCOMPARE(QString::fromStdString(chip.name), name);
    QCOMPARE(chip.kind, std::string("cpu"));
    for (const Unit unit : {Unit::Conv, Unit::Gemm}) {
        QCOMPARE(abilityOf(chip, unit, Number::Fp16), fp16);
        QCOMPARE(abilityOf(chip, unit, Number::Bf16), bf16);
        QCOMPARE(abilityOf(chip, unit, Number::Int8), int8);
        QCOMPARE(abilityOf(chip, unit, Number::Fp8), QStringLiteral("no"));
    }
    QCOMPARE(abilityOf(chip, Unit::Elementwise, Number::Fp16), elementwise);
    QCOMPARE(chip.fusesCasts, bf16.startsWith(QStringLiteral("native")));
    QVERIFY(!chip.sources.empty());
    for (const std::string &flag : chip.detect.cpuFlags)
        QVERIFY2(processor.flags.contains(flag), flag.c_str());
    const auto again = hardware::readDescription(hardware::writeDescription(chip));
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    QVERIFY(again.value() == chip);
}

void TestProcessor::everyFixtureIsInTheTable()
{
    const QStringList files = QDir(kFolder).entryList({QStringLiteral("*.txt")});
    QCOMPARE(files.size(), 26);
}

void TestProcessor::flagsAreThoseOfAllProcessors()
{
    const hardware::Processor mixed
        = hardware::readProcessor("processor\t: 0\nFeatures\t: fp asimd asimdhp asimddp\n\nprocessor\t: "
                                  "1\nFeatures\t: fp asimd asimddp\r\n");
    QVERIFY(mixed.flags == (hardware::Flags{"fp", "asimd", "asimddp"}));
    QVERIFY(mixed.model.empty());
    const hardware::Processor zen = processorIn(QStringLiteral("zen4"));
    QCOMPARE(zen.model, std::string("AMD EPYC 9654 96-Core Processor"));
    QVERIFY(zen.flags.contains("avx512_bf16"));
    // Other lines of newer kernels that begin alike.
    QVERIFY(hardware::readProcessor("vmx flags : ept\nflags : avx2\n").flags == hardware::Flags{"avx2"});
    for (const char *text : {"", "\n\n", "flags", "flags:", ":", "flags\t:\nflags\t:\n"})
        QVERIFY(hardware::readProcessor(text).flags.empty());
}

void TestProcessor::aDescriptionOfItsOwnGivesTheName()
{
    const hardware::Description amx = describe(processorIn(QStringLiteral("sapphire-rapids")));
    QVERIFY(amx == *hardware::findDescription("amx").value());
    const hardware::Description cascade = describe(processorIn(QStringLiteral("cascade-lake")));
    QCOMPARE(cascade.title,
             std::string("x86-64 with AVX-512 and VNNI (Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz)"));
    QVERIFY(!cascade.note.empty());
    QCOMPARE(describe(processorIn(QStringLiteral("apple-m1"))).title,
             std::string("Arm 64-bit with FP16, FHM and dot product"));
    QCOMPARE(describe(processorIn(QStringLiteral("sapphire-rapids-without-amx"))).title.substr(0, 42),
             std::string("x86-64 with AVX-512, FP16, BF16 and VNNI ("));
    // Without any files it is the same in all but the name.
    for (const QString &name :
         {QStringLiteral("zen4"), QStringLiteral("neoverse-v1"), QStringLiteral("sapphire-rapids")}) {
        const hardware::Processor processor = processorIn(name);
        QVERIFY(hardware::describe(processor, {}).abilities == describe(processor).abilities);
    }
}

/// Flags that no processor has together, too: each says something, and nothing that is native is without an accumulator.
void TestProcessor::anySetOfFlagsIsDescribed()
{
    const std::vector<std::string> flags{
        "sse2",     "avx",      "avx2",     "fma",      "f16c",  "avx512f", "avx512_fp16", "avx512_bf16",
        "avx_vnni", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimdhp", "asimddp",     "bf16"};
    for (std::size_t set = 0; set < std::size_t{1} << flags.size(); set += 29) { // a sample of 2,260
        hardware::Flags some;
        for (std::size_t k = 0; k < flags.size(); ++k) {
            if ((set >> k & 1U) != 0)
                some.insert(flags[k]);
        }
        const hardware::Description chip = describe(some);
        QVERIFY(!chip.name.empty() && !chip.title.empty());
        for (const Unit unit : hardware::kAllUnits) {
            QCOMPARE(chip.support(unit, DType::F32), Support::Native);
            for (const Number number : hardware::kAllNumbers) {
                const hardware::Ability &one = chip.ability(unit, number);
                QCOMPARE(one.accumulate.empty(), one.support == Support::No);
                QVERIFY(one.support == Support::No || one.rate > 0);
            }
        }
    }
}

void TestProcessor::aNewUnitOfTheSameTypeGoesFirst()
{
    hardware::Processor granite = processorIn(QStringLiteral("sapphire-rapids"));
    granite.flags.insert("amx_fp16"); // which Granite Rapids adds
    const hardware::Description chip = describe(granite);
    QCOMPARE(abilityOf(chip, Unit::Gemm, Number::Fp16), QStringLiteral("native x16 float32"));
    QCOMPARE(abilityOf(chip, Unit::Elementwise, Number::Fp16), QStringLiteral("native x2 float16"));
    QCOMPARE(chip.name, std::string("avx512-amx-fp16-amx-bf16-amx-int8"));
    // A kernel or hypervisor without AMX lists none of its parts; a part without tiles is not used.
    hardware::Flags torn{"sse2", "avx2", "fma", "f16c", "avx512f", "amx_int8"};
    QCOMPARE(abilityOf(describe(torn), Unit::Gemm, Number::Int8), QStringLiteral("emulated x1.3 int32"));
}

/// support: of convolutions in bfloat16 by the flags. measured: their speed against float32.
void TestProcessor::aMeasurementDecides_data()
{
    QTest::addColumn<QString>("support");
    QTest::addColumn<double>("measured");
    QTest::addColumn<QString>("decided");
    const auto row = [](const char *support, double measured, const char *decided) {
        QTest::addRow("%s, x%g", support, measured) << QString(support) << measured << QString(decided);
    };
    row("native", 1.9, "native");
    row("native", 1.0, "native");
    row("native", 0.96, "native"); // noise
    row("native", 0.9, "emulated");
    row("native", 0.3, "emulated");
    row("emulated", 1.04, "emulated"); // noise
    row("emulated", 1.3, "native");
    row("emulated", 0.5, "emulated");
    row("storage", 1.5, "native");
    row("storage", 0.9, "storage");
    row("no", 1.04, "no");
    row("no", 2.5, "native");
    row("no", 0.2, "no");
}

void TestProcessor::aMeasurementDecides()
{
    QFETCH(const QString, support);
    QFETCH(const double, measured);
    QFETCH(const QString, decided);
    hardware::Description chip = describe(hardware::Flags{"sse2"});
    hardware::Ability &conv
        = chip.abilities[static_cast<std::size_t>(Unit::Conv)][static_cast<std::size_t>(Number::Bf16)];
    conv.support = *hardware::supportNamed(support.toStdString());
    conv.rate = 2;
    if (conv.support != Support::No)
        conv.accumulate = {DType::BF16};
    hardware::Measurement found{"a test's", "2026-01-01", {}};
    found.of(Unit::Conv, Number::Bf16) = measured;
    const hardware::Description after = hardware::decidedBy(chip, found);
    QCOMPARE(QString::fromUtf8(hardware::nameOf(after.ability(Unit::Conv, Number::Bf16).support).data()),
             decided);
    QCOMPARE(after.measuredSpeed(Unit::Conv, DType::BF16).value_or(0), measured);
    QCOMPARE(after.note.find("by measurement: conv bf16 counts as") != std::string::npos, support != decided);
    if (support == decided) {
        QVERIFY(after.abilities == chip.abilities);
    } else {
        QCOMPARE(after.ability(Unit::Conv, Number::Bf16).rate, measured);
        QVERIFY(after.accumulator(Unit::Conv, DType::BF16)
                == (support == QStringLiteral("no") ? DType::F32 : DType::BF16));
    }
    QVERIFY(hardware::readDescription(hardware::writeDescription(after)).ok());
}

void TestProcessor::whatWasNotMeasuredStays()
{
    const hardware::Description chip = describe(processorIn(QStringLiteral("zen4")));
    hardware::Measurement found{"a test's", "2026-01-01", {}};
    QVERIFY(hardware::decidedBy(chip, found).abilities == chip.abilities);
    // What only stores a type gains by memory, and stays what it is; so does a fast one where another is slow.
    found.of(Unit::Elementwise, Number::Bf16) = 1.9;
    found.of(Unit::Conv, Number::Bf16) = 0.7;
    found.of(Unit::Gemm, Number::Bf16) = 1.8;
    const hardware::Description after = hardware::decidedBy(chip, found);
    QCOMPARE(after.support(Unit::Elementwise, DType::BF16), Support::Storage);
    QCOMPARE(after.support(Unit::Conv, DType::BF16), Support::Emulated);
    QCOMPARE(after.support(Unit::Gemm, DType::BF16), Support::Native);
    QCOMPARE(after.support(Unit::Conv, DType::I8), Support::Native);
    QVERIFY(after.hasFastPath(DType::BF16));
    const auto again = hardware::readDescription(hardware::writeDescription(after));
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    QVERIFY(again.value() == after);
}

void TestProcessor::typesAreOrderedBySpeed()
{
    const hardware::Description amx = describe(processorIn(QStringLiteral("sapphire-rapids")));
    QCOMPARE(fastOf(amx), QStringLiteral("int8 bf16 fp16"));
    QCOMPARE(fastOf(describe(processorIn(QStringLiteral("haswell")))), QString());
    hardware::Measurement found{"a test's", "2026-01-01", {}};
    found.of(Unit::Conv, Number::Int8) = 3.1;
    found.of(Unit::Gemm, Number::Int8) = 0.8;
    found.of(Unit::Conv, Number::Bf16) = 5.5;
    found.of(Unit::Conv, Number::Fp16) = 0.6;
    found.of(Unit::Gemm, Number::Fp16) = 0.7;
    QCOMPARE(fastOf(hardware::decidedBy(amx, found)), QStringLiteral("bf16 int8"));
    // A processor whose flags promise nothing, on which int8 was found to be faster.
    hardware::Measurement old{"a test's", "2026-01-01", {}};
    old.of(Unit::Gemm, Number::Int8) = 1.6;
    QCOMPARE(fastOf(hardware::decidedBy(describe(processorIn(QStringLiteral("haswell"))), old)),
             QStringLiteral("int8"));
}

QTEST_APPLESS_MAIN(TestProcessor)
#include "tst_processor.moc"

#include "core/backends/onednn/float16_kernels.h"

#include <QTest>

using namespace halftone::backends::onednn;
using dnnl::cpu_isa;
using Type = dnnl::memory::data_type;

/// Which processors compute in float16, and that what they compute is held to the emulation. Where a processor has it, all tests of float16
/// values run by its kernels.
class TestFloat16Kernels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void instructionsOfferIt_data()
    {
        QTest::addColumn<int>("isa");
        QTest::addColumn<bool>("offers");
        const auto row = [](const char *name, cpu_isa isa, bool offers) {
            QTest::newRow(name) << static_cast<int>(isa) << offers;
        };
        row("haswell", cpu_isa::avx2, false);
        row("skylake", cpu_isa::avx512_core, false);
        row("zen 5, cooper lake", cpu_isa::avx512_core_bf16, false);
        row("with FP16 alone", cpu_isa::avx512_core_fp16, true);
        row("sapphire rapids", cpu_isa::avx512_core_amx, true);
        row("granite rapids", cpu_isa::avx512_core_amx_fp16, true);
    }
    void instructionsOfferIt()
    {
        QFETCH(const int, isa);
        QFETCH(const bool, offers);
        QCOMPARE(offersFloat16(static_cast<cpu_isa>(isa)), offers);
    }

    /// The comparison itself, on the type that more processors have.
    void kernelsAreHeldToRoundedSums()
    {
        const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
        const auto bfloat16 = static_cast<unsigned>(cpu_isa::avx512_core_bf16);
        if ((isa & bfloat16) == bfloat16)
            QVERIFY(matchesEmulation(Type::bf16));
    }

    void aProcessorWithoutKernelsHasNone()
    {
        if (offersFloat16(dnnl::get_effective_cpu_isa()))
            QVERIFY2(hasNativeFloat16(),
                     "this processor's kernels differ from the emulation: they are not used");
        else
            QVERIFY(!hasNativeFloat16());
    }
};

QTEST_APPLESS_MAIN(TestFloat16Kernels)
#include "tst_float16_kernels.moc"

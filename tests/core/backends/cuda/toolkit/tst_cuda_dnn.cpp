#include "core/backends/cuda/toolkit/dnn.h"
#include "tests/core/backends/cuda/chips.h"

#include <dlfcn.h>

#include <QTest>

using namespace halftone;
using namespace halftone::backends::cuda;
using tensor::DType;

/// cuDNN itself, without a GPU: since 9.8 it plans for a device that is only described. So it says of every graph that it is given
/// whether it is well formed and whether an engine takes it, for each chip.
class CudaDnnTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void convolutionsHavePlans_data();
    void convolutionsHavePlans();
    void otherForms();
    void productsBehindWhichIsMore_data() { convolutionsHavePlans_data(); }
    void productsBehindWhichIsMore();
    void attentionHasPlans_data();
    void attentionHasPlans();
    void whatItDoesNotTakeIsRefused();
};

namespace {

/// A convolution of pictures whose channels come last.
ProductDesc convolution(DType type, std::int64_t channels, std::int64_t extent, std::int64_t filters,
                        std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1)
{
    const std::int64_t pad = kernel / 2;
    const std::int64_t result = (extent + 2 * pad - kernel) / stride + 1;
    const DType sums = type == DType::I8 ? DType::I32 : type;
    ProductDesc desc;
    desc.isConvolution = true;
    desc.a = viewOf({type, {8, channels, extent, extent}}, Order::ChannelsLast);
    desc.b = viewOf({type, {filters, channels / groups, kernel, kernel}}, Order::ChannelsLast);
    desc.c = viewOf({sums, {8, filters, result, result}}, Order::ChannelsLast);
    desc.stride = {stride, stride};
    desc.dilate = {1, 1};
    desc.padBegin = desc.padEnd = {pad, pad};
    desc.groups = groups;
    return desc;
}

/// Any spatial axes, a kernel of 3 that keeps extents.
ProductDesc window(DType type, tensor::Shape data, tensor::Shape weight, tensor::Shape result)
{
    ProductDesc desc;
    desc.isConvolution = true;
    const std::size_t axes = data.rank() - 2;
    desc.a = viewOf({type, std::move(data)}, Order::ChannelsLast);
    desc.b = viewOf({type, std::move(weight)}, Order::ChannelsLast);
    desc.c = viewOf({type == DType::I8 ? DType::I32 : type, std::move(result)}, Order::ChannelsLast);
    desc.stride = desc.dilate = desc.padBegin = desc.padEnd = Dims(axes, 1);
    return desc;
}

/// What is computed behind the sums.
struct Behind
{
    const char *name;
    bool hasBias;
    bool hasResidual;
    Activation activation;
    double ceiling; ///< 0: none
};
constexpr Behind kBehind[] = {{"nothing", false, false, Activation::None, 0},
                              {"bias", true, false, Activation::None, 0},
                              {"bias, ReLU", true, false, Activation::Relu, 0},
                              {"bias, ReLU cut at 6", true, false, Activation::Relu, 6},
                              {"bias, residual", true, true, Activation::None, 0},
                              {"bias, residual, ReLU", true, true, Activation::Relu, 0}};

ProductDesc with(ProductDesc desc, const Behind &behind)
{
    desc.hasBias = behind.hasBias;
    if (behind.hasResidual)
        desc.residual = desc.c;
    desc.activation = behind.activation;
    if (behind.ceiling > 0)
        desc.ceiling = behind.ceiling;
    return desc;
}

/// Why there is no plan; empty where there is one.
QString refusal(ProductMaker &maker, const ProductDesc &desc)
{
    const auto product = maker.prepare(desc, nullptr);
    return product.ok() ? QString() : QString::fromStdString(product.error().found);
}

} // namespace

void CudaDnnTest::initTestCase()
{
    if (const auto dnn = loadDnn(test::describedChip(test::kChips[0])); !dnn.ok())
        QSKIP(("no cuDNN here: " + dnn.error().found).c_str());
}

void CudaDnnTest::convolutionsHavePlans_data()
{
    QTest::addColumn<int>("chip");
    for (int k = 0; k < 6; ++k)
        QTest::addRow("sm_%d", test::kChips[k].arch) << k;
}

/// What ResNet-50 and MobileNet v2 are made of, with all that a plan puts behind a convolution.
void CudaDnnTest::convolutionsHavePlans()
{
    QFETCH(int, chip);
    const auto dnn = loadDnn(test::describedChip(test::kChips[chip]));
    for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
        if (type == DType::BF16 && test::kChips[chip].arch < 80)
            continue; // it has none
        for (const ProductDesc &bare :
             {convolution(type, 64, 56, 64, 3, 1), convolution(type, 3, 224, 64, 7, 2),
              convolution(type, 256, 14, 256, 1, 1), convolution(type, 96, 28, 96, 3, 1, 96)}) {
            for (const Behind &behind : kBehind) {
                if (type == DType::I8 && behind.hasBias)
                    continue;
                const QString wrong = refusal(*dnn.value(), with(bare, behind));
                QVERIFY2(wrong.isEmpty(),
                         qPrintable(QStringLiteral("%1, %2 channels, %3: %4")
                                        .arg(QString::fromStdString(std::string(tensor::nameOf(type))))
                                        .arg(bare.a.dims[1])
                                        .arg(behind.name, wrong)));
            }
        }
    }
}

/// Layouts and windows beyond those, on one chip.
void CudaDnnTest::otherForms()
{
    const auto dnn = loadDnn(test::describedChip(test::kChips[4]));
    const auto check = [&dnn](const char *name, const ProductDesc &desc) {
        const QString wrong = refusal(*dnn.value(), desc);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString(name) + ": " + wrong));
    };
    for (const DType type : {DType::F32, DType::F16, DType::I8}) {
        ProductDesc desc = convolution(type, 64, 56, 64, 3, 1);
        desc.padEnd = {0, 0};
        desc.c = viewOf({desc.c.dtype, {8, 64, 55, 55}}, Order::ChannelsLast);
        check("other padding at the end", desc);
        desc = convolution(type, 64, 56, 64, 3, 1);
        desc.dilate = desc.padBegin = desc.padEnd = {2, 2};
        check("dilated", desc);
        check("odd channels", convolution(type, 5, 56, 7, 3, 1));
        check("groups", convolution(type, 64, 56, 128, 3, 1, 4));
        desc = window(type, {8, 64, 56}, {64, 64, 3}, {8, 64, 56});
        desc.hasBias = type != DType::I8;
        check("one spatial axis", desc);
        check("three spatial axes", window(type, {2, 16, 8, 8, 8}, {32, 16, 3, 3, 3}, {2, 32, 8, 8, 8}));
    }
}

namespace {

/// The driver's stub of the toolkit: cuDNN compiles attention for a chip, and loads it then, by a driver that is there at least by name.
bool hasDriverOrStub()
{
    for (const char *path : {"libcuda.so.1", "/usr/local/cuda/lib64/stubs/libcuda.so"})
        if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nullptr)
            return true;
    return false;
}

/// Heads of 64 within rows of `columns`, from a column on.
View heads(DType type, std::int64_t columns, std::int64_t column)
{
    return {type, {2, 12, 128, 64}, {128 * columns, 64, columns, 1}, column};
}

} // namespace

/// BERT's layer with GELU by erf, which cuBLASLt does not do; what that does is left to it.
void CudaDnnTest::productsBehindWhichIsMore()
{
    QFETCH(int, chip);
    if (!hasDriverOrStub())
        QSKIP("neither a driver nor the toolkit's stub of one");
    const auto dnn = loadDnn(test::describedChip(test::kChips[chip]));
    for (const DType type : {DType::F16, DType::BF16}) {
        if (type == DType::BF16 && test::kChips[chip].arch != 90)
            continue; // each is compiled, which takes seconds
        ProductDesc desc;
        desc.a = viewOf({type, {128, 768}});
        desc.b = {type, {768, 3072}, {1, 768}, 0}; // a weight (outputs, inputs)
        desc.c = viewOf({type, {128, 3072}});
        desc.hasBias = true;
        QVERIFY(!refusal(*dnn.value(), desc).isEmpty());
        desc.activation = Activation::GeluErf;
        const QString wrong = refusal(*dnn.value(), desc);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
}

void CudaDnnTest::attentionHasPlans_data()
{
    QTest::addColumn<int>("chip");
    for (const int chip :
         {1, 4, 5}) // sm_86 and sm_89 have too little shared memory for it, sm_75 no such kernels
        QTest::addRow("sm_%d", test::kChips[chip].arch) << chip;
}

/// BERT's, with rows apart and side by side, and the masks that there are.
void CudaDnnTest::attentionHasPlans()
{
    QFETCH(int, chip);
    if (!hasDriverOrStub())
        QSKIP("neither a driver nor the toolkit's stub of one");
    const auto dnn = loadDnn(test::describedChip(test::kChips[chip]));
    const Dims square{2, 12, 128, 128};
    for (const DType type : {DType::F16, DType::BF16}) {
        const View rows = heads(type, 768, 0);
        const AttentionDesc apart{.queries = rows, .keys = rows, .values = rows, .result = rows};
        AttentionDesc together = apart;
        together.queries = heads(type, 3 * 768, 0);
        together.keys = heads(type, 3 * 768, 768);
        together.values = heads(type, 3 * 768, 2 * 768);
        AttentionDesc ofKeys = apart;
        ofKeys.mask = View{type, square, {128, 0, 0, 1}, 0};
        AttentionDesc ofPlaces = apart;
        ofPlaces.mask = View{DType::F32, square, {0, 0, 128, 1}, 0};
        for (const AttentionDesc &desc : {apart, together, ofKeys, ofPlaces}) {
            const auto plan = dnn.value()->prepareAttention(desc, nullptr);
            QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().found.c_str());
        }
        AttentionDesc wide = apart;
        wide.queries.dtype = wide.keys.dtype = wide.values.dtype = wide.result.dtype = DType::F32;
        QVERIFY(!dnn.value()->prepareAttention(wide, nullptr).ok());
        AttentionDesc unaligned = apart;
        unaligned.keys.offset = 1;
        QVERIFY(!dnn.value()->prepareAttention(unaligned, nullptr).ok());
    }
}

/// What no engine takes is refused, so that it is taken apart; sums in half precision are never given.
void CudaDnnTest::whatItDoesNotTakeIsRefused()
{
    const auto dnn = loadDnn(test::describedChip(test::kChips[0]));
    QVERIFY(!refusal(*dnn.value(), convolution(DType::BF16, 64, 56, 64, 3, 1))
                 .isEmpty()); // sm_75 has no bfloat16
    ProductDesc desc = convolution(DType::F16, 64, 56, 64, 3, 1);
    desc.c = viewOf({DType::F16, {8, 64, 50, 50}}, Order::ChannelsLast); // not what the window says
    QVERIFY(refusal(*dnn.value(), desc).contains("cuDNN: "));
    desc = convolution(DType::I8, 64, 56, 64, 3, 1);
    desc.hasBias = true;
    QVERIFY(!refusal(*dnn.value(), desc).isEmpty());
}

QTEST_GUILESS_MAIN(CudaDnnTest)
#include "tst_cuda_dnn.moc"

#include "core/backends/narrow_sums.h"
#include "core/backends/reference/reference_backend.h"
#include "core/tensor/bfloat16.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <cmath>

using namespace halftone;
using kernels::Operation;
using kernels::TensorDesc;
using tensor::DType;
using tensor::Shape;

namespace {

float rounded(float value, DType type)
{
    return type == DType::F16 ? tensor::floatFromFloat16(tensor::float16FromFloat(value))
                              : tensor::floatFromBfloat16(tensor::bfloat16FromFloat(value));
}

std::vector<std::byte> stored(const std::vector<float> &values, DType type)
{
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    tensor::narrow(values.data(), values.size(), type, bytes.data());
    return bytes;
}

/// One row of `depth` times a column of ones.
Operation rowTimesOnes(std::int64_t depth, DType type)
{
    return {ops::MatMul{}, "dot", {{type, Shape{1, depth}}, {type, Shape{depth, 1}}}, {{type, Shape{1, 1}}}};
}

float product(const kernels::Backend &backend, const std::vector<float> &row, DType type)
{
    auto kernel = backend.prepare(rowTimesOnes(static_cast<std::int64_t>(row.size()), type));
    if (!kernel.ok())
        qFatal("%s", kernel.error().message().c_str());
    const auto left = stored(row, type);
    const auto right = stored(std::vector<float>(row.size(), 1.0F), type);
    std::vector<std::byte> out(sizeof(std::uint16_t));
    const std::byte *const inputs[] = {left.data(), right.data()};
    std::byte *const outputs[] = {out.data()};
    if (!kernel.value()->run(inputs, outputs).ok())
        qFatal("run");
    float value = 0;
    tensor::widen(type, out.data(), 1, &value);
    return value;
}

} // namespace

class TestNarrowSums : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stopsWhereTheTypeHasNoIntegers();
    void overflowsWhereTheSumDoes();
    void addsInOrder();
    void leavesTheRest();
};

/// Ones counted one by one: float16 has all integers up to 2048 and rounds 2049 to even, bfloat16 stops at 256.
void TestNarrowSums::stopsWhereTheTypeHasNoIntegers()
{
    const std::vector<float> ones(4000, 1.0F);
    QCOMPARE(product(*backends::narrowSums(DType::F16, 1), ones, DType::F16), 2048.0F);
    QCOMPARE(product(*backends::narrowSums(DType::BF16, 1), ones, DType::BF16), 256.0F);
    QCOMPARE(product(*backends::reference::referenceBackend(), ones, DType::F16), 4000.0F);
}

/// 40,000 + 40,000 - 40,000 is infinite on the way; in float32 it is not.
void TestNarrowSums::overflowsWhereTheSumDoes()
{
    const std::vector<float> row{40'000, 40'000, -40'000};
    QVERIFY(std::isinf(product(*backends::narrowSums(DType::F16, 1), row, DType::F16)));
    QCOMPARE(product(*backends::reference::referenceBackend(), row, DType::F16), 40'000.0F);
}

void TestNarrowSums::addsInOrder()
{
    for (const DType type : {DType::F16, DType::BF16}) {
        std::vector<float> row;
        float want = 0;
        for (int k = 0; k < 999; ++k) {
            row.push_back(rounded(std::sin(static_cast<float>(k)) * 3, type));
            want = rounded(want + row.back(), type);
        }
        QCOMPARE(product(*backends::narrowSums(type, 2), row, type), want);
    }
}

void TestNarrowSums::leavesTheRest()
{
    const auto backend = backends::narrowSums(DType::F16, 1);
    QCOMPARE(backend->prepare(rowTimesOnes(4, DType::F32)).error().code, Errc::Unsupported);
    const Operation relu{
        ops::Unary{ops::UnaryKind::Relu}, "relu", {{DType::F16, Shape{4}}}, {{DType::F16, Shape{4}}}};
    QCOMPARE(backend->prepare(relu).error().code, Errc::Unsupported);
}

QTEST_APPLESS_MAIN(TestNarrowSums)
#include "tst_narrow_sums.moc"

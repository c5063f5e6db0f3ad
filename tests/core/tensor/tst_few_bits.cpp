#include "core/tensor/elements.h"
#include "core/tensor/packed.h"

#include <QTest>

#include <array>
#include <cmath>
#include <limits>

using namespace halftone::tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The codes 0 to 7 of OCP's Microscaling Formats specification, 1.0, section 5.3.3; those from 8 on are their negatives.
constexpr std::array<double, 8> kFloat4{0, 0.5, 1, 1.5, 2, 3, 4, 6};

std::vector<std::byte> bytesOf(const std::vector<int> &values)
{
    std::vector<std::byte> bytes;
    for (const int value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

template <class Real>
std::vector<int> narrowed(const std::vector<double> &values, DType type)
{
    const std::vector<Real> given(values.begin(), values.end());
    std::vector<std::byte> elements(values.size());
    narrow(given.data(), given.size(), type, elements.data());
    std::vector<int> codes;
    for (const std::byte element : elements)
        codes.push_back(std::to_integer<int>(element));
    return codes;
}

std::vector<double> widened(DType type, const std::vector<int> &elements)
{
    std::vector<double> values(elements.size());
    widen(type, bytesOf(elements).data(), elements.size(), values.data());
    return values;
}

/// The code of the nearest magnitude, of two equally near ones the even one.
int nearestFloat4(double value)
{
    std::size_t best = 0;
    for (std::size_t code = 1; code < kFloat4.size(); ++code) {
        const double distance = std::abs(std::abs(value) - kFloat4[code]);
        const double least = std::abs(std::abs(value) - kFloat4[best]);
        if (distance < least || (distance == least && code % 2 == 0))
            best = code;
    }
    return static_cast<int>(best) + (std::signbit(value) ? 8 : 0);
}

Tensor tensorOf(DType type, const std::vector<int> &elements)
{
    return Tensor::owning(type, Shape{static_cast<std::int64_t>(elements.size())}, bytesOf(elements));
}

Tensor unpackedOf(DType type, std::int64_t count, const std::vector<int> &stored)
{
    const auto bytes = std::make_shared<const std::vector<std::byte>>(bytesOf(stored));
    return unpacked(type, Shape{count}, *bytes, bytes);
}

bool areBytes(const Tensor &tensor, const std::vector<int> &expected)
{
    return std::ranges::equal(tensor.bytes(), bytesOf(expected));
}

} // namespace

class FewBitsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void float4HasTheValuesOfItsCodes()
    {
        for (int code = 0; code < 16; ++code) {
            const double magnitude = kFloat4.at(static_cast<std::size_t>(code % 8));
            const double value = widened(DType::F4E2M1, {code})[0];
            QCOMPARE(value, code < 8 ? magnitude : -magnitude);
            QCOMPARE(std::signbit(value), code >= 8);
        }
        QCOMPARE(rangeOf(DType::F4E2M1).largest, 6.0);
        QVERIFY(isFloat(DType::F4E2M1) && !isForAnalysis(DType::F4E2M1));
    }

    void float4IsTheNearestValueAndSaturates()
    {
        std::vector<double> values;
        for (int k = -1000; k <= 1000; ++k)
            values.push_back(k / 128.0); // all middles among them
        for (const double value : {0.0, -0.0, 1e-7, -1e-7, 1e6, -1e6, kInfinity, -kInfinity})
            values.push_back(value);
        std::vector<int> expected;
        for (const double value : values)
            expected.push_back(std::isinf(value) ? (value > 0 ? 7 : 15) : nearestFloat4(value));
        QCOMPARE(narrowed<double>(values, DType::F4E2M1), expected);
        QCOMPARE(narrowed<float>(values, DType::F4E2M1), expected);
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(narrowed<float>({nan}, DType::F4E2M1), std::vector{8}); // as ml_dtypes has it, -0
    }

    /// OCP's Microscaling Formats, 1.0, section 5.4.1: 2^(code - 127), and 255 is NaN.
    void powersOfTwo()
    {
        for (int code = 0; code < 255; ++code) {
            const double value = std::ldexp(1.0, code - 127);
            QCOMPARE(widened(DType::F8E8M0, {code})[0], value);
            QCOMPARE(narrowed<double>({value}, DType::F8E8M0), std::vector{code});
        }
        QVERIFY(std::isnan(widened(DType::F8E8M0, {255})[0]));
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(narrowed<double>({1.4, 1.5, 1.6, 3, 0, kInfinity, -1, nan}, DType::F8E8M0),
                 (std::vector{127, 128, 128, 128, 0, 254, 255, 255}));
    }

    /// ONNX's Cast: to integers cut towards zero; bits that do not fit are left out.
    void integersKeepTheirLowBits_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<std::vector<int>>("expected"); // of -9, -8.9, -1, 0, 1.9, 3, 7, 8, 15, 16
        const auto row = [](DType type, std::vector<int> expected) {
            for (int &value : expected)
                value &= 255;
            QTest::newRow(nameOf(type).data()) << static_cast<int>(type) << expected;
        };
        row(DType::I4, {7, -8, -1, 0, 1, 3, 7, -8, -1, 0});
        row(DType::U4, {7, 8, 15, 0, 1, 3, 7, 8, 15, 0});
        row(DType::I2, {-1, 0, -1, 0, 1, -1, -1, 0, -1, 0});
        row(DType::U2, {3, 0, 3, 0, 1, 3, 3, 0, 3, 0});
    }
    void integersKeepTheirLowBits()
    {
        QFETCH(int, type);
        QFETCH(std::vector<int>, expected);
        const std::vector<double> values{-9, -8.9, -1, 0, 1.9, 3, 7, 8, 15, 16};
        const auto to = static_cast<DType>(type);
        QCOMPARE(narrowed<float>(values, to), expected);
        QCOMPARE(narrowed<double>(values, to), expected);
        std::vector<std::int64_t> whole(values.begin(), values.end());
        std::vector<std::byte> elements(values.size());
        convert(DType::I64, reinterpret_cast<const std::byte *>(whole.data()), whole.size(), to,
                elements.data());
        QVERIFY(std::ranges::equal(elements, bytesOf(expected)));
    }

    void integersAreReadAsTheyAre()
    {
        QCOMPARE(widened(DType::I4, {7, 0xF8, 0xFF}), (std::vector<double>{7, -8, -1}));
        QCOMPARE(widened(DType::U4, {0, 15}), (std::vector<double>{0, 15}));
        QCOMPARE(integers(DType::I2, bytesOf({0xFE, 1}).data(), 2), (std::vector<std::int64_t>{-2, 1}));
        std::vector<std::byte> floats(3);
        convert(DType::I4, bytesOf({0xFA, 3, 7}).data(), 3, DType::F4E2M1, floats.data());
        QVERIFY(std::ranges::equal(floats, bytesOf({15, 5, 7}))); // -6, 3, and 7, which is 6
        convert(DType::F4E2M1, bytesOf({15, 3, 1}).data(), 3, DType::I4, floats.data());
        QVERIFY(std::ranges::equal(floats, bytesOf({0xFA, 1, 0}))); // -6, 1.5, 0.5
    }

    /// TensorProto's raw_data: the first element in the lowest bits of the first byte.
    void elementsAreUnpackedAndPacked()
    {
        const Tensor signedOnes = unpackedOf(DType::I4, 3, {0xF7, 0x08});
        QVERIFY(areBytes(signedOnes, {7, 0xFF, 0xF8}));
        QVERIFY(areBytes(unpackedOf(DType::U4, 3, {0xF7, 0x08}), {7, 15, 8}));
        QVERIFY(areBytes(unpackedOf(DType::F4E2M1, 2, {0xA5}), {5, 10}));
        QVERIFY(areBytes(unpackedOf(DType::I2, 5, {0xE4, 0x02}), {0, 1, 0xFE, 0xFF, 0xFE}));
        QVERIFY(areBytes(unpackedOf(DType::U2, 5, {0xE4, 0x02}), {0, 1, 2, 3, 2}));
        QVERIFY(areBytes(tensorOf(DType::I4, {7, 0xFF, 0xF8}).stored(), {0xF7, 0x08}));
        QVERIFY(areBytes(tensorOf(DType::U2, {0, 1, 2, 3, 2}).stored(), {0xE4, 0x02}));
        QCOMPARE(tensorOf(DType::I4, {1, 2, 3}).storedBytes(), std::size_t{2});
        QCOMPARE(tensorOf(DType::I8, {1, 2, 3}).storedBytes(), std::size_t{3});
        QVERIFY(areBytes(tensorOf(DType::I8, {1, 2, 3}).stored(), {1, 2, 3}));
    }

    void bitsThatAreLeftOverStay()
    {
        const Tensor read = unpackedOf(DType::U4, 1, {0xA3});
        QVERIFY(areBytes(read, {3}));
        QVERIFY(areBytes(read.stored(), {0xA3}));
        QCOMPARE(unpackedOf(DType::U4, 0, {}).stored().byteCount(), std::size_t{0});
    }

    void longTensorsAreUnpackedByPieces()
    {
        constexpr std::size_t kCount = 3 * 1024 * 1024 + 1;
        std::vector<int> stored(kCount / 2 + 1);
        for (std::size_t k = 0; k < stored.size(); ++k)
            stored[k] = static_cast<int>(k % 251);
        const Tensor tensor = unpackedOf(DType::U4, kCount, stored);
        std::size_t at = 0;
        const bool isAll = tensor.inPieces([&](std::span<const std::byte> piece) {
            for (const std::byte element : piece) {
                if (std::to_integer<int>(element)
                    != (at % 2 == 0 ? stored[at / 2] & 15 : stored[at / 2] >> 4))
                    return false;
                ++at;
            }
            return true;
        });
        QVERIFY(isAll);
        QCOMPARE(at, kCount);
    }
};

QTEST_APPLESS_MAIN(FewBitsTest)

#include "tst_few_bits.moc"

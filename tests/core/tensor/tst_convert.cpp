#include "core/tensor/bfloat16.h"
#include "core/tensor/convert.h"
#include "core/tensor/float16.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

using namespace halftone::tensor;

namespace {

constexpr int kPatterns = 1 << 16;

/// The value of a 16-bit pattern by IEEE 754's definition, in double, where every one is exact.
template <class Format>
double valueOf(std::uint32_t bits)
{
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const int exponent = static_cast<int>((bits & 0x7FFFU) >> Format::kMantissaBits);
    const double fraction = std::ldexp(bits & (Format::kSmallestNormal - 1), -Format::kMantissaBits);
    if ((bits & Format::kInfinity) == Format::kInfinity)
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    const int power = std::max(exponent, 1) - Format::kBias;
    return sign * std::ldexp((exponent == 0 ? 0.0 : 1.0) + fraction, power);
}

/// Rounds by searching the neighbours in the table of all values: nothing of the arithmetic under test.
template <class Format>
std::uint16_t nearest(double value)
{
    if (std::isnan(value))
        return static_cast<std::uint16_t>(Format::kInfinity | Format::kQuietBit);
    const double magnitude = std::fabs(value);
    std::uint32_t low = 0;
    std::uint32_t high = Format::kInfinity;
    while (high - low > 1) {
        const std::uint32_t middle = (low + high) / 2;
        (valueOf<Format>(middle) <= magnitude ? low : high) = middle;
    }
    // Infinity rounds as the next number after the largest would.
    const double above
        = high == Format::kInfinity ? std::ldexp(1.0, Format::kBias + 1) : valueOf<Format>(high);
    const double below = valueOf<Format>(low);
    const bool isUp = magnitude - below > above - magnitude
        || (magnitude - below == above - magnitude && (low & 1U) != 0);
    return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000U : 0U) | (isUp ? high : low));
}

bool same(std::uint16_t got, std::uint16_t expected, std::uint32_t infinity)
{
    const bool isNan = (expected & 0x7FFFU) > infinity;
    return isNan ? (got & 0x7FFFU) > infinity : got == expected;
}

template <class T>
Tensor tensorOf(DType type, const std::vector<T> &values, std::size_t misalignment = 0)
{
    auto owner = std::make_shared<std::vector<std::byte>>(misalignment + values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(owner->data() + misalignment, values.data(), values.size() * sizeof(T));
    return {type, Shape{static_cast<std::int64_t>(values.size())},
            std::span<const std::byte>(*owner).subspan(misalignment), owner};
}

static_assert(float16FromFloat(1.0F) == 0x3C00 && floatFromFloat16(0xC000) == -2.0F);
static_assert(bfloat16FromFloat(1.0F) == 0x3F80 && narrowDouble<Float16>(65520.0) == 0x7C00);

} // namespace

class TestConvert : public QObject
{
    Q_OBJECT

private:
    template <class Format>
    void checkPatterns(float (*widen)(std::uint16_t), std::uint16_t (*narrow)(float))
    {
        for (int i = 0; i < kPatterns; ++i) {
            const auto bits = static_cast<std::uint16_t>(i);
            const double value = valueOf<Format>(bits);
            const float wide = widen(bits);
            QVERIFY(std::isnan(value)
                        ? std::isnan(wide)
                        : std::bit_cast<std::uint64_t>(double{wide}) == std::bit_cast<std::uint64_t>(value));
            QVERIFY2(same(narrow(wide), bits, Format::kInfinity), qPrintable(QString::number(i, 16)));
            QVERIFY(same(narrowDouble<Format>(value), bits, Format::kInfinity));
        }
    }

    /// Every value's boundary with the next one, and the floats on both sides of it.
    template <class Format>
    void checkBoundaries(std::uint16_t (*narrow)(float))
    {
        for (std::uint32_t bits = 0; bits < Format::kInfinity; ++bits) {
            const double next = bits + 1 == Format::kInfinity ? std::ldexp(1.0, Format::kBias + 1)
                                                              : valueOf<Format>(bits + 1);
            const double middle = (valueOf<Format>(bits) + next) / 2;
            for (const double toward : {-1e300, 1e300}) {
                const float beside = std::nextafter(static_cast<float>(middle), static_cast<float>(toward));
                QCOMPARE(narrow(beside), nearest<Format>(beside));
                const double close = std::nextafter(middle, toward);
                QCOMPARE(narrowDouble<Format>(close), nearest<Format>(close));
            }
            QCOMPARE(narrow(static_cast<float>(middle)), nearest<Format>(static_cast<float>(middle)));
            QCOMPARE(narrowDouble<Format>(-middle), nearest<Format>(-middle));
        }
    }

    template <class Format>
    void checkSamples(std::uint16_t (*narrow)(float))
    {
        constexpr std::uint32_t kStep
            = 257; // 2^24 patterns spread over all 2^32, none twice in a row in its low bits
        for (std::uint64_t bits = 0; bits <= std::numeric_limits<std::uint32_t>::max(); bits += kStep) {
            const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            if (!same(narrow(value), nearest<Format>(value), Format::kInfinity))
                QFAIL(qPrintable(QString::number(bits, 16)));
        }
    }

private Q_SLOTS:
    void everyFloat16PatternSurvivesTheWayThroughFloat()
    {
        checkPatterns<Float16>(floatFromFloat16, float16FromFloat);
    }
    void everyBfloat16PatternSurvivesTheWayThroughFloat()
    {
        checkPatterns<BFloat16>(floatFromBfloat16, bfloat16FromFloat);
    }
    void float16RoundsToEvenAtEveryBoundary() { checkBoundaries<Float16>(float16FromFloat); }
    void bfloat16RoundsToEvenAtEveryBoundary() { checkBoundaries<BFloat16>(bfloat16FromFloat); }
    void sampledFloatsRoundToTheNearestFloat16() { checkSamples<Float16>(float16FromFloat); }
    void sampledFloatsRoundToTheNearestBfloat16() { checkSamples<BFloat16>(bfloat16FromFloat); }

    void doubleIsRoundedOnceAndNotByWayOfFloat()
    {
        // 1 + 2^-11 + 2^-40 lies just above a tie; rounded to float first it would be the tie and go down to
        // even.
        const double value = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
        QCOMPARE(narrowDouble<Float16>(value), std::uint16_t{0x3C01});
        const auto cast = castTo(tensorOf(DType::F64, std::vector<double>{value}), DType::F16);
        QCOMPARE(cast.value().values<std::uint16_t>(), std::vector<std::uint16_t>{0x3C01});
    }

    void nanStaysAQuietNan()
    {
        const auto signalling = std::bit_cast<float>(0x7F800001U);
        QVERIFY((float16FromFloat(signalling) & 0x7E00) == 0x7E00);
        QVERIFY((bfloat16FromFloat(signalling) & 0x7FC0) == 0x7FC0);
        QVERIFY((bfloat16FromFloat(std::bit_cast<float>(0xFFFFFFFFU)) & 0xFFC0) == 0xFFC0);
    }

    void arraysOfAnyLengthAndAlignmentConvertAsSingleValuesDo()
    {
        std::mt19937 random(1);
        for (const std::size_t size : {0U, 1U, 15U, 1023U, 1024U, 1025U, 70001U}) {
            std::vector<float> values(size);
            for (float &value : values)
                value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
            const Tensor source = tensorOf(DType::F32, values, 1 + size % 3);
            const auto halves = castTo(source, DType::F16).value();
            const auto brains = castTo(source, DType::BF16).value();
            QVERIFY(halves.shape() == source.shape() && brains.shape() == source.shape());
            std::vector<std::uint16_t> expectedHalves(size);
            std::transform(values.begin(), values.end(), expectedHalves.begin(), float16FromFloat);
            QVERIFY(halves.values<std::uint16_t>() == expectedHalves);
            std::vector<std::uint16_t> expectedBrains(size);
            std::transform(values.begin(), values.end(), expectedBrains.begin(), bfloat16FromFloat);
            QVERIFY(brains.values<std::uint16_t>() == expectedBrains);
        }
    }

    void reportCountsWhatWasLost()
    {
        const float infinity = std::numeric_limits<float>::infinity();
        const std::vector<float> values{0,       -0.0F, 1,       65504,    65520,     -70000, 1e-8F,
                                        -1e-30F, 1e-5F, 6.2e-5F, infinity, -infinity, NAN};
        CastReport report;
        QVERIFY(castTo(tensorOf(DType::F32, values), DType::F16, &report).ok());
        QVERIFY((report == CastReport{2, 2, 1, 1}));
        const std::vector<double> doubles{1e300, 1e-300, 1e-40, 3, NAN};
        QVERIFY(castTo(tensorOf(DType::F64, doubles), DType::F32, &report).ok());
        QVERIFY((report == CastReport{1, 1, 1, 1}));
        QVERIFY(castTo(tensorOf(DType::F64, doubles), DType::BF16, &report).ok());
        QVERIFY((report == CastReport{1, 1, 1, 1}));
        QVERIFY(castTo(tensorOf(DType::F32, values), DType::F32, &report).ok());
        QVERIFY(report == CastReport());
    }

    void aCastThatIsMadeWhenItIsReadIsTheSame()
    {
        std::mt19937 random(2);
        std::vector<float> values((1U << 21) / sizeof(std::uint16_t) + 777);
        for (float &value : values)
            value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        const Tensor source = tensorOf(DType::F32, values, 1);
        for (const DType type : {DType::F16, DType::BF16, DType::F64}) {
            CastReport atOnce;
            CastReport told;
            const Tensor made = castTo(source, type, &atOnce).value();
            const Tensor later = castLater(source, type, &told).value();
            QVERIFY(!made.isDeferred() && later.isDeferred());
            QVERIFY(told == atOnce);
            QCOMPARE(later.byteCount(), made.byteCount());
            QCOMPARE(later.elementCount(), values.size());
            for (int time = 0; time < 2; ++time) { // before they are kept, and then
                std::vector<std::byte> pieces;
                QVERIFY(later.inPieces([&pieces](std::span<const std::byte> piece) {
                    pieces.insert(pieces.end(), piece.begin(), piece.end());
                    return true;
                }));
                QVERIFY(std::ranges::equal(pieces, made.bytes()));
                QVERIFY(std::ranges::equal(later.bytes(), made.bytes()));
            }
            QVERIFY(later.bytes().data() == later.bytes().data());
            QVERIFY(!later.inPieces([](std::span<const std::byte>) { return false; }));
        }
    }

    void whatIsClampedEndsWhereTheTypeDoes()
    {
        const float infinity = std::numeric_limits<float>::infinity();
        for (const std::size_t repeats : {std::size_t{1}, std::size_t{200000}}) { // at once, and later
            std::vector<float> values;
            for (std::size_t k = 0; k < repeats; ++k)
                values.insert(values.end(), {1, 65504, 65520, -70000, infinity, 1e-30F});
            const auto halves = clampedTo(tensorOf(DType::F32, values), DType::F16).values<std::uint16_t>();
            for (std::size_t k = 0; k < halves.size(); k += 6)
                QVERIFY(std::ranges::equal(
                    std::span(halves).subspan(k, 6),
                    std::vector<std::uint16_t>{0x3C00, 0x7BFF, 0x7BFF, 0xFBFF, 0x7C00, 0}));
        }
    }

    void integersAndBoolBecomeTheirValues()
    {
        const auto floats
            = [](const Tensor &source) { return castTo(source, DType::F32).value().values<float>(); };
        QCOMPARE(floats(tensorOf(DType::I8, std::vector<std::int8_t>{-128, 127})),
                 (std::vector<float>{-128, 127}));
        QCOMPARE(floats(tensorOf(DType::Bool, std::vector<std::uint8_t>{0, 1, 7})),
                 (std::vector<float>{0, 1, 1}));
        QCOMPARE(floats(tensorOf(DType::U64, std::vector<std::uint64_t>{std::uint64_t{1} << 63})),
                 (std::vector<float>{0x1p63F}));
        CastReport report;
        const auto halves
            = castTo(tensorOf(DType::I32, std::vector<std::int32_t>{2049, 100000}), DType::F16, &report)
                  .value();
        QCOMPARE(halves.values<std::uint16_t>(), (std::vector<std::uint16_t>{0x6800, 0x7C00}));
        QCOMPARE(report.overflowed, std::uint64_t{1});
    }

    void sixteenBitTypesConvertIntoOneAnother()
    {
        const auto brains
            = castTo(tensorOf(DType::F16, std::vector<std::uint16_t>{0x3C01, 0x0001}), DType::BF16).value();
        QCOMPARE(brains.values<std::uint16_t>(), (std::vector<std::uint16_t>{0x3F80, 0x3380}));
        const auto wide = castTo(brains, DType::F64).value();
        QCOMPARE(wide.values<double>(), (std::vector<double>{1.0, 0x1p-24}));
    }

    void theSameTypeSharesTheBytes()
    {
        const Tensor source = tensorOf(DType::F32, std::vector<float>{1, 2});
        QVERIFY(castTo(source, DType::F32).value().bytes().data() == source.bytes().data());
    }

    void castToAnIntegerIsRefused()
    {
        const auto cast = castTo(tensorOf(DType::F32, std::vector<float>{1}), DType::I8);
        QVERIFY(!cast.ok());
        QVERIFY(cast.error().code == halftone::Errc::Unsupported);
    }

    void aMatrixIsTransposed_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("columns");
        QTest::newRow("small") << 40 << 33;
        QTest::newRow("one row") << 1 << 7;
        QTest::newRow("none") << 0 << 5;
        QTest::newRow("large, made when it is read") << 701 << 1203;
    }

    void aMatrixIsTransposed()
    {
        QFETCH(int, rows);
        QFETCH(int, columns);
        const auto height = static_cast<std::size_t>(rows);
        const auto width = static_cast<std::size_t>(columns);
        std::vector<std::uint16_t> values(height * width);
        std::iota(values.begin(), values.end(), std::uint16_t{0}); // again from 0 behind the last
        const auto bytes = std::as_bytes(std::span(values));
        const Tensor matrix = Tensor::owning(DType::F16, {rows, columns}, {bytes.begin(), bytes.end()});
        const Tensor turned = halftone::tensor::transposed(matrix);
        QVERIFY((turned.shape() == halftone::tensor::Shape{columns, rows}));
        const auto got = turned.values<std::uint16_t>();
        std::vector<std::uint16_t> expected;
        for (std::size_t column = 0; column < width; ++column)
            for (std::size_t row = 0; row < height; ++row)
                expected.push_back(values[row * width + column]);
        QCOMPARE(got, expected);
    }
};

QTEST_APPLESS_MAIN(TestConvert)
#include "tst_convert.moc"

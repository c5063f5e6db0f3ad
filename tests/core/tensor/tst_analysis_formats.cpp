#include "core/base/json.h"
#include "core/tensor/convert.h"
#include "core/tensor/elements.h"

#include <QFile>
#include <QTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

using namespace halftone::tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
Tensor tensorOf(DType type, const std::vector<T> &values)
{
    const auto *const bytes = reinterpret_cast<const std::byte *>(values.data());
    return Tensor::owning(type, Shape{static_cast<std::int64_t>(values.size())},
                          std::vector<std::byte>(bytes, bytes + values.size() * sizeof(T)));
}

/// The codes of `values` in `type`, which must be the same by way of float32 where that is exact, and of float64.
template <class Code>
std::vector<Code> codesOf(DType type, const std::vector<double> &values)
{
    const std::vector<float> floats(values.begin(), values.end());
    const auto codes = castTo(tensorOf(DType::F64, values), type).value().template values<Code>();
    const auto ofFloats = castTo(tensorOf(DType::F32, floats), type).value().template values<Code>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (double{floats[i]} == values[i] && codes[i] != ofFloats[i])
            QTest::qFail(qPrintable(QString::number(values[i], 'g', 17)), __FILE__, __LINE__);
    }
    return codes;
}

template <class Code>
std::vector<double> valuesOf(DType type, const std::vector<Code> &codes)
{
    const auto wide = castTo(tensorOf(type, codes), DType::F64).value().template values<double>();
    const auto floats = castTo(tensorOf(type, codes), DType::F32).value().template values<float>();
    for (std::size_t i = 0; i < wide.size(); ++i) {
        if (!std::isnan(wide[i]) && wide[i] != double{floats[i]})
            QTest::qFail(qPrintable(QString::number(codes[i], 16)), __FILE__, __LINE__);
    }
    return wide;
}

template <class Code>
std::vector<Code> allCodes(std::size_t count)
{
    std::vector<Code> codes(count);
    for (std::size_t i = 0; i < count; ++i)
        codes[i] = static_cast<Code>(i);
    return codes;
}

double numberIn(const halftone::SortedJson &text)
{
    return std::strtod(text.get<std::string>().c_str(), nullptr);
}

/// A posit of `bits` bits and 2 bits of exponent by the formula of the Posit Standard (2022), section 3.3: with s the sign, r the value of the
/// regime, e and f of exponent and fraction, p = ((1 - 3s) + f) · 2^((1 - 2s) · (4r + e + s)).
double positValue(std::uint32_t code, int bits)
{
    const auto bit = [&](int from) { return from < bits ? (code >> (bits - 1 - from)) & 1U : 0U; };
    if ((code & ((1U << (bits - 1)) - 1)) == 0)
        return bit(0) == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    const int s = static_cast<int>(bit(0));
    int k = 1;
    while (1 + k < bits && bit(1 + k) == bit(1))
        ++k;
    const int r = bit(1) == 0 ? -k : k - 1;
    int next = 1 + k + 1;
    const int e = static_cast<int>(2 * bit(next) + bit(next + 1));
    double f = 0;
    double worth = 0.5;
    for (next += 2; next < bits; ++next, worth /= 2)
        f += bit(next) * worth;
    return ((1 - 3 * s) + f) * std::ldexp(1.0, (1 - 2 * s) * (4 * r + e + s));
}

/// By the standard's words: between two codes the posit with one more bit decides.
std::uint16_t nearestPosit(double value)
{
    if (!std::isfinite(value))
        return 0x8000;
    if (value == 0)
        return 0;
    const double magnitude = std::abs(value);
    std::uint32_t low = 1;
    std::uint32_t high = 0x7FFF;
    if (magnitude <= positValue(low, 16))
        high = low;
    if (magnitude >= positValue(high, 16))
        low = high;
    while (high - low > 1) {
        const std::uint32_t middle = (low + high) / 2;
        (positValue(middle, 16) <= magnitude ? low : high) = middle;
    }
    const double divides = positValue(2 * low + 1, 17);
    const bool isUp = low != high && (magnitude > divides || (magnitude == divides && low % 2 != 0));
    const std::uint32_t code = isUp ? high : low;
    return static_cast<std::uint16_t>(value < 0 ? 0x10000U - code : code);
}

} // namespace

class TestAnalysisFormats : public QObject
{
    Q_OBJECT

private:
    halftone::SortedJson m_float8;

private Q_SLOTS:
    void initTestCase()
    {
        QFile file(QStringLiteral(HALFTONE_TEST_DATA "/number_formats/float8.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        m_float8 = halftone::SortedJson::parse(file.readAll().toStdString());
    }

    void everyFloat8CodeHasTheRecordedValue_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("e4m3fn") << QStringLiteral("float8_e4m3fn");
        QTest::newRow("e5m2") << QStringLiteral("float8_e5m2");
    }
    void everyFloat8CodeHasTheRecordedValue()
    {
        QFETCH(QString, name);
        const auto &table = m_float8.at(name.toStdString());
        const DType type = dtypeNamed(name.toStdString()).value();
        const auto values = valuesOf(type, allCodes<std::uint8_t>(256));
        const auto back = codesOf<std::uint8_t>(type, values);
        for (std::size_t code = 0; code < 256; ++code) {
            const double expected = numberIn(table.at("values").at(code));
            QCOMPARE(std::isnan(values[code]), std::isnan(expected));
            if (std::isnan(expected)) {
                QVERIFY(std::isnan(heldIn(type, expected)));
                continue;
            }
            QCOMPARE(std::bit_cast<std::uint64_t>(values[code]), std::bit_cast<std::uint64_t>(expected));
            QCOMPARE(back[code], static_cast<std::uint8_t>(code));
        }
    }

    void float8RoundsToEvenAtEveryBoundaryAsRecorded_data() { everyFloat8CodeHasTheRecordedValue_data(); }
    void float8RoundsToEvenAtEveryBoundaryAsRecorded()
    {
        QFETCH(QString, name);
        const auto &table = m_float8.at(name.toStdString());
        const DType type = dtypeNamed(name.toStdString()).value();
        const auto &rows = table.at("between");
        QVERIFY(rows.size() >= 124);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto low = static_cast<float>(numberIn(table.at("values").at(i)));
            const auto high = static_cast<float>(
                numberIn(i + 1 == rows.size() ? table.at("beyond") : table.at("values").at(i + 1)));
            const float middle = (low + high) / 2;
            std::vector<double> near{std::nextafter(middle, low), middle, std::nextafter(middle, high)};
            for (std::size_t k = 0; k < 3; ++k)
                near.push_back(-near[k]);
            QCOMPARE(codesOf<std::uint8_t>(type, near), rows.at(i).get<std::vector<std::uint8_t>>());
            // Doubles that are nearer to the tie than any float32 are not rounded twice.
            const auto close = codesOf<std::uint8_t>(
                type,
                {std::nextafter(double{middle}, -kInfinity), std::nextafter(double{middle}, kInfinity)});
            QCOMPARE(close[0], rows.at(i).at(0).get<std::uint8_t>());
            QCOMPARE(close[1], rows.at(i).at(2).get<std::uint8_t>());
        }
    }

    void whatIsTooLargeEndsAsTheFormatHasIt()
    {
        const auto at = [](DType type, double value) { return heldIn(type, value); };
        QVERIFY(std::isnan(at(DType::F8E4M3FN, 1e6)) && std::isnan(at(DType::F8E4M3FN, -kInfinity)));
        QCOMPARE(at(DType::F8E5M2, 1e6), kInfinity);
        QCOMPARE(at(DType::F8E5M2, -kInfinity), -kInfinity);
        QCOMPARE(at(DType::TF32, 1e39), kInfinity);
        QCOMPARE(at(DType::Posit16, 1e39), 0x1p56);
        QCOMPARE(at(DType::Posit16, -1e-39), -0x1p-56);
        QVERIFY(std::isnan(at(DType::Posit16, kInfinity)));
    }

    void tf32KeepsTenBitsOfTheMantissa()
    {
        // Every positive code as a float32: the 13 low bits of its mantissa are zero.
        std::vector<float> floats;
        for (std::uint32_t code = 0; code < 0xFFU << 10; ++code)
            floats.push_back(std::bit_cast<float>(code << 13));
        const auto kept = castTo(tensorOf(DType::F32, floats), DType::TF32).value();
        QVERIFY(kept.values<float>() == floats);
        QVERIFY(castTo(kept, DType::F32).value().values<float>() == floats);
        std::vector<double> ties;
        std::vector<std::uint32_t> expected;
        for (std::size_t i = 0; i < floats.size(); ++i) {
            const double low = floats[i];
            const double high = i + 1 < floats.size() ? double{floats[i + 1]} : 0x1p128;
            const double middle = (low + high) / 2;
            const auto code = static_cast<std::uint32_t>(i);
            for (const auto &[value, rounded] :
                 {std::pair(std::nextafter(middle, 0.0), code), std::pair(middle, code + code % 2),
                  std::pair(std::nextafter(middle, kInfinity), code + 1)}) {
                ties.push_back(value);
                expected.push_back(rounded << 13);
            }
        }
        QVERIFY(codesOf<std::uint32_t>(DType::TF32, ties) == expected);
    }

    void everyPositHasTheValueOfTheStandardsFormula()
    {
        const auto values = valuesOf(DType::Posit16, allCodes<std::uint16_t>(1 << 16));
        for (std::uint32_t code = 0; code < 1 << 16; ++code) {
            const double expected = positValue(code, 16);
            QVERIFY2(values[code] == expected || (std::isnan(values[code]) && std::isnan(expected)),
                     qPrintable(QString::number(code, 16)));
        }
        QVERIFY(codesOf<std::uint16_t>(DType::Posit16, values) == allCodes<std::uint16_t>(1 << 16));
    }

    void aPositWithOneMoreBitDividesEveryTwo()
    {
        std::vector<double> near;
        std::vector<std::uint16_t> expected;
        for (std::uint32_t code = 1; code < 0x7FFF; ++code) {
            const double divides = positValue(2 * code + 1, 17);
            for (const auto &[value, rounded] :
                 {std::pair(std::nextafter(divides, 0.0), code), std::pair(divides, code + code % 2),
                  std::pair(std::nextafter(divides, kInfinity), code + 1)}) {
                near.push_back(value);
                expected.push_back(static_cast<std::uint16_t>(rounded));
                near.push_back(-value);
                expected.push_back(static_cast<std::uint16_t>(0x10000U - rounded));
            }
        }
        QVERIFY(codesOf<std::uint16_t>(DType::Posit16, near) == expected);
    }

    void anyNumberBecomesTheNearestPosit()
    {
        std::mt19937_64 random(1);
        std::vector<double> values{0.0, -0.0, 0x1p-1074, -0x1p-60, 0x1p1023};
        for (int i = 0; i < 100000; ++i) {
            const std::uint64_t bits = random();
            const std::uint64_t exponent = 1023 - 64 + (bits >> 52) % 128;
            values.push_back(std::bit_cast<double>((bits & 0x800FFFFFFFFFFFFFU) | (exponent << 52)));
        }
        const auto codes = codesOf<std::uint16_t>(DType::Posit16, values);
        for (std::size_t i = 0; i < values.size(); ++i)
            QVERIFY2(codes[i] == nearestPosit(values[i]), qPrintable(QString::number(values[i], 'g', 17)));
    }

    void lossesAreCounted()
    {
        CastReport report;
        const std::vector<float> values{0, 449, 500, -1e9F, 1e-3F, 0x1p-9F, 1, NAN};
        QVERIFY(castTo(tensorOf(DType::F32, values), DType::F8E4M3FN, &report).ok());
        QVERIFY((report == CastReport{2, 0, 2, 1})); // 1e-3 becomes 2^-9
        QVERIFY(castTo(tensorOf(DType::F32, values), DType::Posit16, &report).ok());
        QCOMPARE(report.overflowed, std::uint64_t{0});
        const auto ends = clampedTo(tensorOf(DType::F32, values), DType::F8E4M3FN);
        QCOMPARE(castTo(ends, DType::F32).value().values<float>()[3], -448.0F);
    }

    void namesAndSizesAreThoseOfTheTable()
    {
        for (const DType type : {DType::F8E4M3FN, DType::F8E5M2, DType::TF32, DType::Posit16}) {
            QVERIFY(isForAnalysis(type) && isFloat(type) && !isHalf(type) && fitsFloat32(type));
            QCOMPARE(dtypeNamed(nameOf(type)), std::optional(type));
            const FloatRange &range = rangeOf(type);
            QCOMPARE(heldIn(type, range.largest), range.largest);
            QCOMPARE(heldIn(type, range.leastNormal), range.leastNormal);
            const double step = std::ldexp(1.0, 1 - range.significantBits);
            QCOMPARE(heldIn(type, 1 + step), 1 + step);
            QCOMPARE(heldIn(type, 1 + step / 2), 1.0);
        }
        QVERIFY(!isForAnalysis(DType::Bool) && !isForAnalysis(DType::F16));
    }
};

QTEST_APPLESS_MAIN(TestAnalysisFormats)
#include "tst_analysis_formats.moc"

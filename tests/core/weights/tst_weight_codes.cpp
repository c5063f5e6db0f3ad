#include "core/io/arrays/npz.h"
#include "core/weights/coded_matrix.h"
#include "core/weights/matrix_codes.h"

#include <QTest>

#include <array>
#include <cmath>
#include <map>

using namespace halftone;
using tensor::DType;
using tensor::WeightFormat;
using weights::CodeLayout;
using weights::EncodeSettings;
using weights::WeightMatrix;

namespace {

/// Of tests/support/make_weight_goldens.py.
const std::map<std::string, tensor::Tensor> &goldens()
{
    static const auto kGoldens = [] {
        auto arrays = io::readNpz(HALFTONE_TEST_DATA "/weights/goldens.npz");
        if (!arrays.ok())
            qFatal("%s", arrays.error().message().c_str());
        std::map<std::string, tensor::Tensor> byName;
        for (io::NamedTensor &array : arrays.value())
            byName.emplace(array.name, std::move(array.tensor));
        return byName;
    }();
    return kGoldens;
}

WeightMatrix matrixNamed(const std::string &name)
{
    const tensor::Tensor &values = goldens().at(name);
    return {values, values.shape()[0], values.shape()[1], false};
}

WeightFormat formatNamed(const std::string &name)
{
    const auto format = tensor::weightFormatNamed(name);
    if (!format)
        qFatal("no format %s", name.c_str());
    return *format;
}

/// [K, N] as [N, K].
WeightMatrix turned(const WeightMatrix &matrix)
{
    const std::vector<float> values = matrix.values.values<float>();
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    auto *const to = reinterpret_cast<float *>(bytes.data());
    for (std::int64_t k = 0; k < matrix.inputs; ++k)
        for (std::int64_t n = 0; n < matrix.outputs; ++n)
            to[n * matrix.inputs + k] = values[static_cast<std::size_t>(k * matrix.outputs + n)];
    return {tensor::Tensor::owning(DType::F32, {matrix.outputs, matrix.inputs}, std::move(bytes)),
            matrix.inputs, matrix.outputs, true};
}

std::vector<float> rounded(const WeightMatrix &matrix, const EncodeSettings &settings)
{
    return weights::roundedMatrix(matrix, settings).values<float>();
}

/// What packed codes of a format of integers stand for: [K, N].
std::vector<float> unpackedValues(const weights::WeightCodes &codes, const WeightMatrix &matrix,
                                  const WeightFormat &format)
{
    const auto blocks = static_cast<std::size_t>(weights::blocksOf(format, matrix.inputs));
    const auto bits = static_cast<std::size_t>(format.bits);
    const auto block = static_cast<std::size_t>(format.block);
    const auto outputs = static_cast<std::size_t>(matrix.outputs);
    const auto codeAt = [bits](std::span<const std::byte> bytes, std::size_t at) {
        const unsigned byte = std::to_integer<unsigned>(bytes[at * bits / 8]);
        return byte >> (at * bits % 8) & ((1U << bits) - 1);
    };
    const std::vector<float> scales = codes.scales.values<float>();
    std::vector<float> values(static_cast<std::size_t>(matrix.inputs) * outputs);
    for (std::size_t n = 0; n < outputs; ++n)
        for (std::size_t k = 0; k < static_cast<std::size_t>(matrix.inputs); ++k) {
            const unsigned code = codeAt(codes.codes.bytes(), (n * blocks * block) + k);
            unsigned zero = 1U << (bits - 1);
            if (format.hasZeroPoints()) {
                const std::size_t row = codes.zeroPoints.byteCount() / outputs;
                zero = codeAt(codes.zeroPoints.bytes().subspan(n * row, row), k / block);
            }
            values[k * outputs + n]
                = (static_cast<float>(code) - static_cast<float>(zero)) * scales[n * blocks + k / block];
        }
    return values;
}

} // namespace

class TestWeightCodes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void valuesAreThoseOfTheDefinition_data()
    {
        QTest::addColumn<QString>("key");
        for (const auto &[key, values] : goldens())
            if (key.ends_with("|value"))
                QTest::newRow(key.c_str()) << QString::fromStdString(key);
    }
    void valuesAreThoseOfTheDefinition()
    {
        QFETCH(QString, key);
        const std::string text = key.toStdString();
        const std::size_t first = text.find('|');
        const WeightMatrix matrix = matrixNamed(text.substr(0, first));
        EncodeSettings settings;
        settings.format = formatNamed(text.substr(first + 1, text.rfind('|') - first - 1));
        const std::vector<float> expected = goldens().at(text).values<float>();
        QCOMPARE(rounded(matrix, settings), expected);
        settings.threads = 1;
        QCOMPARE(rounded(matrix, settings), expected);
        const WeightMatrix other = turned(matrix);
        const WeightMatrix back{weights::roundedMatrix(other, settings), matrix.outputs, matrix.inputs,
                                false};
        QCOMPARE(turned(back).values.values<float>(), expected);
    }

    /// The least squared error of the ranges that are tried, block by block.
    void searchFindsTheLeastError_data()
    {
        QTest::addColumn<QString>("key");
        for (const auto &[key, values] : goldens())
            if (key.ends_with("|least"))
                QTest::newRow(key.c_str()) << QString::fromStdString(key);
    }
    void searchFindsTheLeastError()
    {
        QFETCH(QString, key);
        const std::string text = key.toStdString();
        const std::size_t first = text.find('|');
        const WeightMatrix matrix = turned(matrixNamed(text.substr(0, first)));
        EncodeSettings settings;
        settings.format = formatNamed(text.substr(first + 1, text.rfind('|') - first - 1));
        settings.searches = true;
        const std::vector<float> weights = matrix.values.values<float>();
        const std::vector<float> values = rounded(matrix, settings);
        const std::vector<double> least = goldens().at(text).values<double>();
        const auto inputs = static_cast<std::size_t>(matrix.inputs);
        const std::size_t blocks = (inputs + 31) / 32;
        for (std::size_t b = 0; b < least.size(); ++b) {
            double error = 0;
            for (std::size_t k = b % blocks * 32; k < std::min(inputs, (b % blocks + 1) * 32); ++k) {
                const double difference
                    = double{weights[b / blocks * inputs + k]} - double{values[b / blocks * inputs + k]};
                error += difference * difference;
            }
            QVERIFY2(std::abs(error - least[b]) <= 1e-12 * least[b], std::to_string(b).c_str());
        }
    }

    void packedCodesMeanTheSame_data()
    {
        QTest::addColumn<QString>("format");
        for (const char *const name : {"int4/32", "uint4/32", "int8/16", "uint8/32", "int2/32", "uint2/16"})
            QTest::newRow(name) << QString(name);
    }
    void packedCodesMeanTheSame()
    {
        QFETCH(QString, format);
        const WeightMatrix matrix = matrixNamed("odd");
        EncodeSettings settings;
        settings.format = formatNamed(format.toStdString());
        settings.layout = CodeLayout::Packed;
        const auto codes = weights::encodeMatrix(matrix, settings);
        QCOMPARE(codes.codes.dtype(), DType::U8);
        QCOMPARE(unpackedValues(codes, matrix, settings.format), rounded(matrix, settings));
    }

    /// ONNX's DequantizeLinear: a code less its zero point, times the scale of its block.
    void codesByInputsMeanTheSame()
    {
        const WeightMatrix matrix = matrixNamed("odd");
        EncodeSettings settings;
        settings.format = formatNamed("uint4/32");
        const auto codes = weights::encodeMatrix(matrix, settings);
        QCOMPARE(codes.codes.dtype(), DType::U4);
        QCOMPARE(codes.codes.shape(), (tensor::Shape{100, 7}));
        QCOMPARE(codes.scales.shape(), (tensor::Shape{4, 7}));
        const auto elements = codes.codes.bytes();
        const auto zeros = codes.zeroPoints.bytes();
        const std::vector<float> scales = codes.scales.values<float>();
        std::vector<float> values;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const std::size_t at = i / 7 / 32 * 7 + i % 7;
            values.push_back(
                static_cast<float>(std::to_integer<int>(elements[i]) - std::to_integer<int>(zeros[at]))
                * scales[at]);
        }
        QCOMPARE(values, rounded(matrix, settings));
    }

    void partsAreThoseOfTheWhole()
    {
        const WeightMatrix matrix = matrixNamed("normal");
        EncodeSettings settings;
        settings.format = formatNamed("uint4/32");
        settings.layout = CodeLayout::Packed;
        settings.scaleType = DType::F16;
        const auto whole = weights::encodeMatrix(matrix, settings);
        const auto coded = std::make_shared<const weights::CodedMatrix>(
            matrix, settings, std::make_shared<weights::LastCodes>());
        using Part = weights::CodedMatrix::Part;
        for (const auto &[part, tensor] :
             {std::pair(Part::Codes, &whole.codes), std::pair(Part::Scales, &whole.scales),
              std::pair(Part::ZeroPoints, &whole.zeroPoints)}) {
            const tensor::Tensor made = coded->tensorOf(part);
            QVERIFY(made.isDeferred());
            QCOMPARE(made.dtype(), tensor->dtype());
            QCOMPARE(made.shape(), tensor->shape());
            QVERIFY(std::ranges::equal(made.bytes(), tensor->bytes()));
        }
        QCOMPARE(coded->storedBytes(), std::size_t{96 * 12 / 2 + 36 * 2 + 12 * 2});
        double signal = 0;
        double noise = 0;
        const std::vector<float> weights = matrix.values.values<float>();
        const std::vector<float> values = rounded(matrix, settings);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            signal += std::pow(double{weights[i]}, 2);
            noise += std::pow(double{weights[i]} - double{values[i]}, 2);
        }
        QVERIFY(std::abs(coded->sqnrDb() - 10 * std::log10(signal / noise)) < 1e-9);
    }

    void namesOfFormats()
    {
        for (const char *const name : {"int4/32", "uint4/128", "int8/channel", "uint2/16", "fp8_e4m3/channel",
                                       "fp8_e5m2/channel", "mxfp8", "mxfp4", "nvfp4", "nf4/64"})
            QCOMPARE(tensor::nameOf(formatNamed(name)), std::string(name));
        for (const char *const name : {"int4", "int4/48", "int4/512", "fp8_e4m3/32", "mxfp4/32", "int3/32",
                                       "", "/", "int4/", "int4/32 "})
            QVERIFY2(!tensor::weightFormatNamed(name), name);
    }
};

QTEST_GUILESS_MAIN(TestWeightCodes)
#include "tst_weight_codes.moc"

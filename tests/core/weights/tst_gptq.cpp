#include "core/weights/gptq.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace halftone;
using tensor::DType;
using weights::BlockScale;
using weights::EncodeSettings;
using weights::WeightMatrix;

namespace {

using Rows = std::vector<std::vector<double>>;

constexpr std::size_t kInputs = 160; // more than a panel, and no whole number of blocks of 64
constexpr std::size_t kOutputs = 9;
constexpr std::size_t kDead = 5; ///< an input that is always 0

/// Values of which neighbours are alike, so that errors can be made good.
Rows samples()
{
    std::mt19937 engine(7);
    std::normal_distribution<double> normal;
    Rows rows(400, std::vector<double>(kInputs));
    for (std::vector<double> &row : rows) {
        double before = 0;
        for (double &value : row)
            value = before = 0.8 * before + normal(engine);
        row[kDead] = 0;
    }
    return rows;
}

Rows productsOf(const Rows &rows)
{
    Rows sums(kInputs, std::vector<double>(kInputs));
    for (const std::vector<double> &row : rows)
        for (std::size_t i = 0; i < kInputs; ++i)
            for (std::size_t j = 0; j < kInputs; ++j)
                sums[i][j] += row[i] * row[j];
    return sums;
}

/// By Gauss and Jordan.
Rows inverseOf(Rows matrix)
{
    Rows inverse(kInputs, std::vector<double>(kInputs));
    for (std::size_t k = 0; k < kInputs; ++k)
        inverse[k][k] = 1;
    for (std::size_t k = 0; k < kInputs; ++k) {
        const double pivot = matrix[k][k];
        for (std::size_t j = 0; j < kInputs; ++j) {
            matrix[k][j] /= pivot;
            inverse[k][j] /= pivot;
        }
        for (std::size_t i = 0; i < kInputs; ++i) {
            const double factor = i == k ? 0 : matrix[i][k];
            for (std::size_t j = 0; j < kInputs; ++j) {
                matrix[i][j] -= factor * matrix[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    return inverse;
}

WeightMatrix matrix()
{
    std::mt19937 engine(3);
    std::normal_distribution<float> normal;
    std::vector<float> values(kOutputs * kInputs);
    for (float &value : values)
        value = normal(engine) * 0.1F;
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return {tensor::Tensor::owning(DType::F32, {kOutputs, kInputs}, std::move(bytes)), kInputs, kOutputs,
            true};
}

weights::Gptq gptq(const Rows &products, unsigned threads)
{
    std::vector<double> flat;
    for (const std::vector<double> &row : products)
        flat.insert(flat.end(), row.begin(), row.end());
    auto made = weights::Gptq::create(std::move(flat), kInputs, threads);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

std::vector<float> encoded(const char *format, const weights::Gptq *by, unsigned threads)
{
    EncodeSettings settings;
    settings.format = *tensor::weightFormatNamed(format);
    settings.searches = true;
    settings.threads = threads;
    if (by != nullptr)
        settings.encode = [by](const weights::BlockCoder &coder, const weights::OutputPanel &panel) {
            by->encode(coder, panel);
        };
    return weights::roundedMatrix(matrix(), settings).values<float>();
}

/// The paper's algorithm as it stands: one input after the other, the inverse of what is left after each (its equations 2 and 3).
std::vector<float> byDefinition(const char *format, Rows products)
{
    double mean = 0;
    for (std::size_t k = 0; k < kInputs; ++k)
        mean += products[k][k] / kInputs;
    for (std::size_t k = 0; k < kInputs; ++k)
        products[k][k] = products[k][k] == 0 ? 1 : products[k][k] + 0.01 * mean;
    const tensor::WeightFormat coding = *tensor::weightFormatNamed(format);
    const weights::BlockCoder coder(coding, true, 1);
    const auto block = static_cast<std::size_t>(coding.block);
    Rows inverse = inverseOf(products);
    std::vector<float> values = matrix().values.values<float>();
    std::vector<float> rounded(values.size());
    std::vector<BlockScale> scales(kOutputs);
    for (std::size_t n = 0; n < kOutputs; ++n)
        values[n * kInputs + kDead] = 0;
    for (std::size_t i = 0; i < kInputs; ++i) {
        for (std::size_t n = 0; n < kOutputs; ++n) {
            float *const row = values.data() + n * kInputs;
            if (i % block == 0) {
                std::vector<float> filled(row + i, row + std::min(i + block, kInputs));
                filled.resize(block);
                scales[n] = coder.scaleOf(filled);
            }
            std::uint8_t code = 0;
            coder.codesOf(std::span(row + i, 1), scales[n], &code);
            coder.decode(std::span(&code, 1), scales[n], &rounded[n * kInputs + i]);
            const double error = (double{row[i]} - double{rounded[n * kInputs + i]}) / inverse[i][i];
            for (std::size_t j = i + 1; j < kInputs; ++j)
                row[j] = static_cast<float>(double{row[j]} - error * inverse[i][j]);
        }
        const Rows before = inverse;
        for (std::size_t a = i + 1; a < kInputs; ++a)
            for (std::size_t b = i + 1; b < kInputs; ++b)
                inverse[a][b] -= before[a][i] * before[i][b] / before[i][i];
    }
    return rounded;
}

/// tr((Ŵ - W)·H·(Ŵ - W)ᵀ): the squared error at the layer's outputs.
double errorOf(const std::vector<float> &values, const Rows &products)
{
    const std::vector<float> weights = matrix().values.values<float>();
    double error = 0;
    for (std::size_t n = 0; n < kOutputs; ++n)
        for (std::size_t i = 0; i < kInputs; ++i)
            for (std::size_t j = 0; j < kInputs; ++j)
                error += double{values[n * kInputs + i] - weights[n * kInputs + i]} * products[i][j]
                    * double{values[n * kInputs + j] - weights[n * kInputs + j]};
    return error;
}

} // namespace

class TestGptq : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void codesAreThoseOfTheDefinition_data()
    {
        QTest::addColumn<QString>("format");
        for (const char *const name : {"uint4/32", "int4/64", "uint2/16", "int8/32", "uint4/256"})
            QTest::newRow(name) << QString(name);
    }
    /// But for a few that lie so near the middle of two codes that float32 decides.
    void codesAreThoseOfTheDefinition()
    {
        QFETCH(QString, format);
        const std::string name = format.toStdString();
        const Rows products = productsOf(samples());
        const weights::Gptq made = gptq(products, 1);
        const std::vector<float> values = encoded(name.c_str(), &made, 1);
        const std::vector<float> expected = byDefinition(name.c_str(), products);
        std::size_t others = 0;
        for (std::size_t k = 0; k < values.size(); ++k)
            others += std::abs(values[k] - expected[k]) > 1e-5F * std::abs(expected[k]) ? 1 : 0;
        QVERIFY2(others <= values.size() / 50, std::to_string(others).c_str());
        QVERIFY(std::abs(errorOf(values, products) / errorOf(expected, products) - 1) < 0.02);
        QVERIFY(errorOf(values, products) < 0.8 * errorOf(encoded(name.c_str(), nullptr, 1), products));
    }

    void threadsDoNotMatter()
    {
        const Rows products = productsOf(samples());
        const weights::Gptq one = gptq(products, 1);
        const weights::Gptq several = gptq(products, 3);
        QCOMPARE(encoded("uint4/32", &several, 3), encoded("uint4/32", &one, 1));
    }

    void inputsThatAreAlwaysZeroGetZeros()
    {
        const Rows products = productsOf(samples());
        const weights::Gptq made = gptq(products, 1);
        const std::vector<float> values = encoded("uint4/32", &made, 1);
        for (std::size_t n = 0; n < kOutputs; ++n)
            QCOMPARE(values[n * kInputs + kDead], 0.0F);
    }

    void productsWithoutAnInverseAreRefused()
    {
        std::vector<double> products(4, std::numeric_limits<double>::quiet_NaN());
        QVERIFY(!weights::Gptq::create(std::move(products), 2, 1).ok());
    }
};

QTEST_GUILESS_MAIN(TestGptq)
#include "tst_gptq.moc"

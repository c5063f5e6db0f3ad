#include "core/backends/onednn/loops/code_conv.h"
#include "core/backends/onednn/loops/pair_conv.h"
#include "core/backends/onednn/loops/winograd.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/tensor/bfloat16.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace halftone;
using backends::onednn::CodeConv;
using backends::onednn::CodeMaxima;
using backends::onednn::WinogradConv;

namespace {

/// Numbers of [0, 1), the same each time.
class Draw
{
public:
    double operator()()
    {
        m_state = m_state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<double>(m_state >> 40) / 16777216.0;
    }

private:
    std::uint64_t m_state = 42;
};

template <class T>
std::span<const std::byte> bytesOf(const std::vector<T> &values)
{
    return std::as_bytes(std::span(values));
}

/// Elements in one of the two layouts.
std::size_t placeOf(bool isBlocked, const std::int64_t (&extent)[2], std::int64_t channels, std::int64_t n,
                    std::int64_t c, std::int64_t y, std::int64_t x)
{
    const std::int64_t pixels = extent[0] * extent[1];
    const std::int64_t at = y * extent[1] + x;
    return static_cast<std::size_t>(!isBlocked
                                        ? (n * pixels + at) * channels + c
                                        : ((n * (channels / 16) + c / 16) * pixels + at) * 16 + c % 16);
}

} // namespace

/// Convolutions by kernels of our own, against their definition.
class OwnConvolutionsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void tilesGiveTheDefinitionsSums_data();
    void tilesGiveTheDefinitionsSums();
    void codesAreExact_data();
    void codesAreExact();
    void maximaLeaveThePaddingOut_data();
    void maximaLeaveThePaddingOut();
};

void OwnConvolutionsTest::tilesGiveTheDefinitionsSums_data()
{
    QTest::addColumn<int>("tile");
    QTest::addColumn<bool>("isHalf");
    QTest::addColumn<bool>("isBlocked");
    QTest::addColumn<bool>("hasAddend");
    QTest::addColumn<int>("outputs");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("pad");
    for (const int tile : {2, 4}) {
        const QByteArray name = QByteArray::number(tile);
        QTest::addRow("%s, float32", name.constData()) << tile << false << false << false << 64 << 9 << 1;
        QTest::addRow("%s, blocked, a sum", name.constData())
            << tile << false << true << true << 32 << 7 << 1;
        QTest::addRow("%s, bfloat16, a sum", name.constData())
            << tile << true << false << true << 16 << 8 << 1;
        QTest::addRow("%s, no padding", name.constData()) << tile << false << false << false << 48 << 11 << 0;
        QTest::addRow("%s, one row", name.constData()) << tile << true << true << false << 16 << 1 << 1;
    }
}

void OwnConvolutionsTest::tilesGiveTheDefinitionsSums()
{
    if (!backends::onednn::hasWideVectors())
        QSKIP("needs AVX-512 with VNNI and BF16");
    QFETCH(const int, tile);
    QFETCH(const bool, isHalf);
    QFETCH(const bool, isBlocked);
    QFETCH(const bool, hasAddend);
    QFETCH(const int, outputs);
    QFETCH(const int, height);
    QFETCH(const int, pad);
    WinogradConv conv;
    conv.pictures = 2;
    conv.channels = 32;
    conv.outputs = outputs;
    conv.from[0] = height;
    conv.from[1] = height + 5;
    for (std::size_t k = 0; k < 2; ++k) {
        conv.to[k] = conv.from[k] + 2 * pad - 2;
        conv.pad[k] = pad;
    }
    conv.tile = tile;
    conv.isBlocked = isBlocked;
    conv.type = isHalf ? tensor::DType::BF16 : tensor::DType::F32;
    conv.hasBias = true;
    conv.hasAddend = hasAddend;
    conv.low = 0;
    conv.high = 3;
    Draw draw;
    // Of 7 bits, so that bfloat16 holds them.
    const auto drawn = [&](std::int64_t count, double scale) {
        std::vector<float> values(static_cast<std::size_t>(count));
        for (float &value : values)
            value = static_cast<float>((std::floor(draw() * 127) - 63) * scale);
        return values;
    };
    const std::int64_t pixels = conv.pictures * conv.to[0] * conv.to[1];
    const auto data = drawn(conv.pictures * conv.from[0] * conv.from[1] * conv.channels, 1.0 / 64);
    const auto filters = drawn(conv.outputs * conv.channels * 9, 1.0 / 512);
    const auto bias = drawn(conv.outputs, 1.0 / 64);
    const auto addend = drawn(pixels * conv.outputs, 1.0 / 64);
    const auto stored = [&](const std::vector<float> &values) {
        std::vector<std::byte> bytes(bytesOf(values).begin(), bytesOf(values).end());
        if (isHalf)
            for (std::size_t k = 0; k < values.size(); ++k) {
                const std::uint16_t bits = tensor::bfloat16FromFloat(values[k]);
                std::memcpy(bytes.data() + 2 * k, &bits, sizeof bits);
            }
        return bytes;
    };
    const auto dataBytes = stored(data);
    const auto addendBytes = stored(addend);
    const tensor::Tensor weights(tensor::DType::F32, tensor::Shape{conv.outputs, conv.channels, 3, 3},
                                 bytesOf(filters), nullptr);
    const auto packed = backends::onednn::winogradWeights(conv, weights);
    QVERIFY(packed.ok());
    const auto kernel = backends::onednn::winogradKernel(conv, 2);
    std::vector<const std::byte *> inputs{dataBytes.data(), packed.value()->memory.get(),
                                          bytesOf(bias).data()};
    if (hasAddend)
        inputs.push_back(addendBytes.data());
    alignas(64) std::vector<std::byte> result(static_cast<std::size_t>(pixels * conv.outputs) * 4);
    std::byte *const output = result.data();
    QVERIFY(kernel->run(inputs, {&output, 1}).ok());
    for (std::int64_t n = 0; n < conv.pictures; ++n)
        for (std::int64_t k = 0; k < conv.outputs; ++k)
            for (std::int64_t y = 0; y < conv.to[0]; ++y)
                for (std::int64_t x = 0; x < conv.to[1]; ++x) {
                    double sum = double{bias[static_cast<std::size_t>(k)]};
                    for (std::int64_t c = 0; c < conv.channels; ++c)
                        for (std::int64_t tap = 0; tap < 9; ++tap) {
                            const std::int64_t fromY = y + tap / 3 - pad;
                            const std::int64_t fromX = x + tap % 3 - pad;
                            if (fromY < 0 || fromX < 0 || fromY >= conv.from[0] || fromX >= conv.from[1])
                                continue;
                            sum += double{data[placeOf(isBlocked, conv.from, conv.channels, n, c, fromY,
                                                       fromX)]}
                                * double{
                                    filters[static_cast<std::size_t>((k * conv.channels + c) * 9 + tap)]};
                        }
                    const std::size_t at = placeOf(isBlocked, conv.to, conv.outputs, n, k, y, x);
                    if (hasAddend)
                        sum += double{addend[at]};
                    const double expected = std::clamp(sum, 0.0, 3.0);
                    float actual = 0;
                    if (isHalf) {
                        std::uint16_t bits = 0;
                        std::memcpy(&bits, result.data() + 2 * at, sizeof bits);
                        actual = tensor::floatFromBfloat16(bits);
                    } else {
                        std::memcpy(&actual, result.data() + 4 * at, sizeof actual);
                    }
                    const double allowed = isHalf ? std::abs(expected) / 250 + 1e-5 : 1e-5;
                    if (std::abs(double{actual} - expected) > allowed)
                        QFAIL(qPrintable(QStringLiteral("%1 %2 %3 %4: %5, expected %6")
                                             .arg(n)
                                             .arg(k)
                                             .arg(y)
                                             .arg(x)
                                             .arg(double{actual})
                                             .arg(expected)));
                }
}

void OwnConvolutionsTest::codesAreExact_data()
{
    QTest::addColumn<bool>("isPaired");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("outputs");
    QTest::addColumn<int>("kernel");
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("pad");
    QTest::addColumn<bool>("isSigned");
    QTest::addColumn<bool>("givesSigned");
    QTest::addColumn<bool>("fromPlanes");
    QTest::addColumn<bool>("adds");
    QTest::newRow("the same from planes")
        << false << 3 << 64 << 3 << 2 << 1 << true << false << true << false;
    QTest::newRow("planes, rows of seven")
        << false << 3 << 32 << 7 << 2 << 3 << false << true << true << false;
    for (const bool isPaired : {false, true}) {
        const QByteArray how = isPaired ? ", in pairs" : "";
        QTest::newRow("a picture's first layer" + how)
            << isPaired << 3 << 64 << 3 << 2 << 1 << true << false << false << false;
        QTest::newRow("seven rows of one channel" + how)
            << isPaired << 1 << 24 << 7 << 2 << 3 << false << true << false << false;
        QTest::newRow("no copy" + how)
            << isPaired << 16 << 100 << 1 << 1 << 0 << false << false << false << true;
        QTest::newRow("padding" + how)
            << isPaired << 12 << 48 << 3 << 1 << 1 << false << true << false << true;
        QTest::newRow("six channels" + how)
            << isPaired << 6 << 16 << 2 << 1 << 0 << true << true << false << false;
        QTest::newRow("few pixels" + how)
            << isPaired << 20 << 33 << 8 << 4 << 1 << false << false << false << false;
    }
}

void OwnConvolutionsTest::codesAreExact()
{
    QFETCH(const bool, isPaired);
    if (isPaired ? !backends::onednn::hasPairProducts() : !backends::onednn::hasWideVectors())
        QSKIP(isPaired ? "needs AVX2" : "needs AVX-512 with VNNI and BF16");
    QFETCH(const int, channels);
    QFETCH(const int, outputs);
    QFETCH(const int, kernel);
    QFETCH(const int, stride);
    QFETCH(const int, pad);
    QFETCH(const bool, isSigned);
    QFETCH(const bool, givesSigned);
    QFETCH(const bool, fromPlanes);
    QFETCH(const bool, adds);
    CodeConv conv;
    conv.pictures = 2;
    conv.channels = channels;
    conv.outputs = outputs;
    conv.from[0] = 10;
    conv.from[1] = 15;
    for (std::size_t k = 0; k < 2; ++k) {
        conv.kernel[k] = kernel;
        conv.stride[k] = stride;
        conv.pad[k] = pad;
        conv.to[k] = (conv.from[k] + 2 * pad - kernel) / stride + 1;
    }
    conv.isSigned = isSigned;
    conv.givesSigned = givesSigned;
    conv.rowWidth = outputs + 5; // a part of a wider tensor
    // Powers of two, so that no product is rounded and ties are met.
    for (int k = 0; k < outputs; ++k) {
        conv.factors.push_back(k % 2 == 0 ? 0x1p-12 : 0x1p-10);
        conv.bias.push_back(k % 5 * 0.125);
    }
    conv.low = givesSigned ? -2 : 0;
    conv.high = 14;
    conv.codes = 8;
    conv.planeCodes = fromPlanes ? 2 : 0;
    conv.addendStep = adds ? 0.25 : 0;
    conv.hasSignedAddend = adds && givesSigned;
    Draw draw;
    std::vector<std::uint8_t> data(
        static_cast<std::size_t>(conv.pictures * conv.from[0] * conv.from[1] * channels));
    for (auto &code : data)
        code = static_cast<std::uint8_t>(draw() * 256);
    std::vector<std::int8_t> weights(static_cast<std::size_t>(outputs * channels * kernel * kernel));
    for (auto &code : weights)
        code = static_cast<std::int8_t>(std::floor(draw() * 256) - 128);
    const auto packed = isPaired ? backends::onednn::packPairWeights(conv, weights)
                                 : backends::onednn::packCodeWeights(conv, weights);
    QVERIFY(packed.ok());
    const std::int64_t pixels = conv.pictures * conv.to[0] * conv.to[1];
    constexpr std::byte kUntouched{0x5A};
    std::vector<std::byte> result(static_cast<std::size_t>(pixels * conv.rowWidth), kUntouched);
    std::vector<std::byte> padded(isPaired ? backends::onednn::pairBytes(conv) : conv.paddedBytes());
    std::vector<std::byte *> places{result.data()};
    if (!padded.empty())
        places.push_back(padded.data());
    // What the planes hold is halves of codes and quarters more, that are rounded away.
    const std::int64_t plane = conv.from[0] * conv.from[1];
    std::vector<float> planes(data.size());
    for (std::size_t k = 0; k < data.size(); ++k) {
        const auto at = static_cast<std::int64_t>(k);
        const std::int64_t n = at / (channels * plane);
        const std::uint8_t code
            = data[static_cast<std::size_t>((n * plane + at % plane) * channels + at / plane % channels)];
        planes[k]
            = static_cast<float>((isSigned ? int{static_cast<std::int8_t>(code)} : int{code}) / 2.0 + 0.1);
    }
    std::vector<std::uint8_t> addend(static_cast<std::size_t>(pixels * outputs));
    for (auto &code : addend)
        code = static_cast<std::uint8_t>(draw() * 256);
    std::vector<const std::byte *> inputs{fromPlanes ? bytesOf(planes).data() : bytesOf(data).data(),
                                          packed.value()->memory.get()};
    if (adds)
        inputs.push_back(bytesOf(addend).data());
    const auto run
        = isPaired ? backends::onednn::pairConvKernel(conv, 2) : backends::onednn::codeConvKernel(conv, 2);
    QVERIFY(run->run(inputs, places).ok());
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const std::int64_t n = pixel / (conv.to[0] * conv.to[1]);
        const std::int64_t y = pixel / conv.to[1] % conv.to[0];
        const std::int64_t x = pixel % conv.to[1];
        for (std::int64_t k = 0; k < outputs; ++k) {
            std::int64_t sum = 0;
            for (std::int64_t tap = 0; tap < kernel * kernel; ++tap) {
                const std::int64_t fromY = y * stride + tap / kernel - pad;
                const std::int64_t fromX = x * stride + tap % kernel - pad;
                if (fromY < 0 || fromX < 0 || fromY >= conv.from[0] || fromX >= conv.from[1])
                    continue;
                for (std::int64_t c = 0; c < channels; ++c) {
                    const std::uint8_t code = data[static_cast<std::size_t>(
                        ((n * conv.from[0] + fromY) * conv.from[1] + fromX) * channels + c)];
                    sum += (isSigned ? std::int64_t{static_cast<std::int8_t>(code)} : std::int64_t{code})
                        * weights[static_cast<std::size_t>((k * channels + c) * kernel * kernel + tap)];
                }
            }
            const auto at = static_cast<std::size_t>(k);
            const std::uint8_t added = addend[static_cast<std::size_t>(pixel * outputs + k)];
            const double more
                = conv.addendStep * (givesSigned ? int{static_cast<std::int8_t>(added)} : int{added});
            const double real = std::clamp(static_cast<double>(sum) * conv.factors[at] + conv.bias[at] + more,
                                           conv.low, conv.high);
            const double code = std::clamp(std::nearbyint(real * conv.codes), givesSigned ? -128.0 : 0.0,
                                           givesSigned ? 127.0 : 255.0);
            const std::byte found = result[static_cast<std::size_t>(pixel * conv.rowWidth + k)];
            const int actual
                = givesSigned ? int{static_cast<std::int8_t>(found)} : std::to_integer<int>(found);
            QCOMPARE(actual, static_cast<int>(code));
        }
        for (std::int64_t k = outputs; k < conv.rowWidth; ++k)
            QCOMPARE(result[static_cast<std::size_t>(pixel * conv.rowWidth + k)], kUntouched);
    }
}

void OwnConvolutionsTest::maximaLeaveThePaddingOut_data()
{
    QTest::addColumn<int>("channels");
    QTest::addColumn<bool>("isSigned");
    QTest::newRow("fewer than a vector") << 24 << true;
    QTest::newRow("a vector and some") << 70 << false;
}

void OwnConvolutionsTest::maximaLeaveThePaddingOut()
{
    if (!backends::onednn::hasWideVectors())
        QSKIP("needs AVX-512 with VNNI and BF16");
    QFETCH(const int, channels);
    QFETCH(const bool, isSigned);
    CodeMaxima maxima;
    maxima.pictures = 2;
    maxima.channels = channels;
    maxima.isSigned = isSigned;
    for (std::size_t k = 0; k < 2; ++k) {
        maxima.from[k] = 7 + static_cast<std::int64_t>(k);
        maxima.kernel[k] = 3;
        maxima.stride[k] = 2;
        maxima.pad[k] = 1;
        maxima.to[k] = 4;
    }
    Draw draw;
    std::vector<std::uint8_t> data(static_cast<std::size_t>(2 * 7 * 8 * channels));
    for (auto &code : data)
        code = static_cast<std::uint8_t>(draw() * (isSigned ? 100 : 256) + (isSigned ? 128 : 0)); // below 0
    std::vector<std::byte> result(static_cast<std::size_t>(2 * 4 * 4 * channels));
    const std::byte *const input = bytesOf(data).data();
    std::byte *const output = result.data();
    QVERIFY(backends::onednn::codeMaximaKernel(maxima, 2)->run({&input, 1}, {&output, 1}).ok());
    const auto valueOf = [isSigned](std::uint8_t code) {
        return isSigned ? int{static_cast<std::int8_t>(code)} : int{code};
    };
    for (int pixel = 0; pixel < 2 * 4 * 4; ++pixel)
        for (int c = 0; c < channels; ++c) {
            int most = -1000;
            for (int y = pixel / 4 % 4 * 2 - 1; y < pixel / 4 % 4 * 2 + 2; ++y)
                for (int x = pixel % 4 * 2 - 1; x < pixel % 4 * 2 + 2; ++x)
                    if (y >= 0 && x >= 0 && y < 7 && x < 8)
                        most = std::max(most,
                                        valueOf(data[static_cast<std::size_t>(
                                            ((pixel / 16 * 7 + y) * 8 + x) * channels + c)]));
            QCOMPARE(valueOf(std::to_integer<std::uint8_t>(
                         result[static_cast<std::size_t>(pixel * channels + c)])),
                     most);
        }
}

QTEST_APPLESS_MAIN(OwnConvolutionsTest)
#include "tst_own_convolutions.moc"

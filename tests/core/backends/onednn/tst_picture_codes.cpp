#include "core/backends/onednn/loops/picture_codes.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace halftone;
using backends::onednn::PicturePlanes;

namespace {

/// round(factor · x), ties to even, saturated: word by word as the definition says it.
int codeOf(float value, double factor, int least, int most)
{
    if (std::isnan(value))
        return least;
    const double scaled = std::nearbyint(double{value * static_cast<float>(factor)});
    return static_cast<int>(std::min(std::max(scaled, double(least)), double(most)));
}

} // namespace

class PictureCodesTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aPixelsChannelsLieTogether_data();
    void aPixelsChannelsLieTogether();
};

void PictureCodesTest::aPixelsChannelsLieTogether_data()
{
    QTest::addColumn<int>("pictures");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("pixels");
    QTest::newRow("one pixel") << 1 << 3 << 1;
    QTest::newRow("fewer than a word") << 2 << 1 << 3;
    QTest::newRow("two channels") << 1 << 2 << 517;
    QTest::newRow("a run and one") << 3 << 3 << 513;
    QTest::newRow("four channels") << 2 << 4 << 1500;
}

void PictureCodesTest::aPixelsChannelsLieTogether()
{
    QFETCH(const int, pictures);
    QFETCH(const int, channels);
    QFETCH(const int, pixels);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> values;
    for (int k = 0; k < pictures * channels * pixels; ++k)
        values.push_back(static_cast<float>(k % 1201 - 600) / 4); // ties among them, and what saturates
    values[0] = std::numeric_limits<float>::quiet_NaN();
    if (values.size() > 2) {
        values[1] = kInfinity;
        values[2] = -kInfinity;
    }
    for (const tensor::DType type : {tensor::DType::I8, tensor::DType::U8}) {
        const bool isSigned = type == tensor::DType::I8;
        for (const double factor : {1.0, 2.0, 0.37}) {
            const auto kernel = backends::onednn::pictureCodesKernel(
                PicturePlanes{pictures, channels, pixels}, factor, type);
            std::vector<std::byte> codes(values.size() + 1, std::byte{0x5A}); // the last one is nobody's
            const std::byte *const from = reinterpret_cast<const std::byte *>(values.data());
            std::byte *const to = codes.data();
            QVERIFY(kernel->run({&from, 1}, {&to, 1}).ok());
            QCOMPARE(codes.back(), std::byte{0x5A});
            for (std::size_t k = 0; k < values.size(); ++k) {
                const std::size_t pixel = k % static_cast<std::size_t>(pixels);
                const std::size_t plane = k / static_cast<std::size_t>(pixels);
                const std::size_t picture = plane / static_cast<std::size_t>(channels);
                const std::size_t at = (picture * static_cast<std::size_t>(pixels) + pixel)
                        * static_cast<std::size_t>(channels)
                    + plane % static_cast<std::size_t>(channels);
                const int code = isSigned ? static_cast<int>(static_cast<std::int8_t>(codes[at]))
                                          : static_cast<int>(codes[at]);
                QCOMPARE(code, codeOf(values[k], factor, isSigned ? -128 : 0, isSigned ? 127 : 255));
            }
        }
    }
}

QTEST_APPLESS_MAIN(PictureCodesTest)
#include "tst_picture_codes.moc"

#include "core/io/pictures/png_size.h"

#include <zlib.h>

#include <QTest>

#include <span>
#include <string>

using namespace halftone;

namespace {

std::string number(std::uint32_t value)
{
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8)
        text += static_cast<char>(value >> shift & 0xFF);
    return text;
}

std::string chunk(const std::string &name, const std::string &content)
{
    const std::string summed = name + content;
    const auto sum = crc32_z(0, reinterpret_cast<const Bytef *>(summed.data()), summed.size());
    return number(static_cast<std::uint32_t>(content.size())) + summed
        + number(static_cast<std::uint32_t>(sum));
}

/// Grey, its rows unpack to so many zeros; with a comment, so that it is long enough to be looked at.
std::string png(std::uint32_t width, std::uint32_t height, std::size_t unpacked)
{
    const std::string rows(unpacked, '\0');
    std::string packed(compressBound(static_cast<uLong>(unpacked)), '\0');
    uLongf size = static_cast<uLongf>(packed.size());
    compress(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(rows.data()),
             static_cast<uLong>(unpacked));
    packed.resize(size);
    const std::string header = number(width) + number(height) + std::string("\x08\0\0\0\0", 5);
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("tEXt", std::string(300000, 'x'))
        + chunk("IDAT", packed.substr(0, 10)) + chunk("IDAT", packed.substr(10)) + chunk("IEND", {});
}

bool fits(const std::string &file)
{
    return io::checkPngSize(std::as_bytes(std::span(file))).ok();
}

} // namespace

class TestPngSize : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsAsManyAsTheHeaderSaysFit() { QVERIFY(fits(png(1000, 1000, 1000 * 1001))); }

    void rowsThatUnpackToMoreAreRefused()
    {
        QVERIFY(!fits(png(1000, 1000, 3000 * 1001)));
        QVERIFY(!fits(png(8, 8, 8 << 20)));
    }

    // A bit of each byte in turn, in the parts that say something of the pixels.
    void aDamagedPartIsNamed()
    {
        const std::string whole = png(4, 4, 20);
        const auto check
            = [](const std::string &file) { return io::checkPngSums(std::as_bytes(std::span(file))); };
        QVERIFY(check(whole).ok());
        for (const std::string name : {"IHDR", "IDAT", "IEND"}) {
            const std::size_t at = whole.find(name);
            const std::size_t end = name == "IHDR" ? at + 4 + 13 + 4 : at + 8;
            for (std::size_t byte = at + 4; byte < end; ++byte) {
                std::string damaged = whole;
                damaged[byte] = static_cast<char>(damaged[byte] ^ 16);
                const auto checked = check(damaged);
                QVERIFY2(!checked.ok(), name.c_str());
                QVERIFY(checked.error().found.find("part " + name) != std::string::npos);
            }
        }
        std::string comment = whole;
        comment[comment.find("tEXt") + 10] = 'y';
        QVERIFY(check(comment).ok()); // nothing that is seen
    }

    void whatIsDamagedIsLeftToTheDecoder()
    {
        std::string file = png(1000, 1000, 1000 * 1001);
        for (const std::size_t size : {std::size_t{300100}, file.size() - 20})
            QVERIFY(fits(file.substr(0, size)));
        file[file.size() - 40] = 'x';
        QVERIFY(fits(file));
        QVERIFY(fits(std::string(400000, 'x')));
    }
};

QTEST_APPLESS_MAIN(TestPngSize)
#include "tst_png_size.moc"

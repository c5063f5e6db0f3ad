#include "core/io/pictures/png.h"

#include <png.h>

#include <QByteArray>
#include <QTest>

#include <string>

using namespace halftone;

namespace {

constexpr std::int64_t kMost = 1 << 20; ///< pixels

using Bytes = std::vector<png_byte>;

/// Writes parts as they are told, with the sums that belong to them.
class Writer
{
public:
    Writer()
        : m_png(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr))
    {
        png_set_write_fn(
            m_png, &m_file,
            [](png_structp png, png_bytep data, std::size_t size) {
                static_cast<std::string *>(png_get_io_ptr(png))->append(reinterpret_cast<char *>(data), size);
            },
            nullptr);
        png_write_sig(m_png);
    }
    ~Writer() { png_destroy_write_struct(&m_png, nullptr); }
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    Writer &part(const char *name, const Bytes &content)
    {
        png_write_chunk(m_png, reinterpret_cast<png_const_bytep>(name), content.data(), content.size());
        return *this;
    }
    const std::string &file() const { return m_file; }

private:
    png_structp m_png;
    std::string m_file;
};

/// Width, height, bits a sample, PNG's number of the kind of colours, and whether it is interlaced (PNG 1.2, section 4.1.1).
Bytes header(unsigned width, unsigned height, png_byte bits, png_byte colours, bool isInterlaced = false)
{
    Bytes bytes(13);
    png_save_uint_32(bytes.data(), width);
    png_save_uint_32(&bytes[4], height);
    bytes[8] = bits;
    bytes[9] = colours;
    bytes[12] = isInterlaced ? 1 : 0;
    return bytes;
}

/// Rows as zlib packs them, each behind its filter, 0.
Bytes packed(const Bytes &rows)
{
    constexpr int kLength = 4; // that qCompress() writes before
    const QByteArray all = qCompress(rows.data(), static_cast<int>(rows.size()));
    return {all.begin() + kLength, all.end()};
}

std::string png(const Bytes &head, const Bytes &rows, const Bytes &palette = {}, const Bytes &alpha = {})
{
    Writer writer;
    writer.part("IHDR", head);
    if (!palette.empty())
        writer.part("PLTE", palette);
    if (!alpha.empty())
        writer.part("tRNS", alpha);
    const Bytes all = packed(rows);
    const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
    return writer.part("IDAT", {all.begin(), all.begin() + half})
        .part("IDAT", {all.begin() + half, all.end()})
        .part("IEND", {})
        .file();
}

std::span<const std::byte> bytesOf(const std::string &file)
{
    return std::as_bytes(std::span(file));
}

constexpr png_byte kGrey = 0, kColours = 2, kPalette = 3, kGreyAlpha = 4, kColoursAlpha = 6;

} // namespace

class TestPng : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyKindBecomesThreeColours_data()
    {
        QTest::addColumn<std::string>("file");
        QTest::addColumn<std::vector<std::uint8_t>>("rgb");
        using Rgb = std::vector<std::uint8_t>;
        QTest::newRow("colours") << png(header(2, 1, 8, kColours), {0, 1, 2, 3, 4, 5, 6})
                                 << Rgb{1, 2, 3, 4, 5, 6};
        QTest::newRow("16 bits") << png(header(1, 1, 16, kColours), {0, 1, 255, 2, 0, 3, 128})
                                 << Rgb{1, 2, 3};
        QTest::newRow("alpha") << png(header(1, 1, 8, kColoursAlpha), {0, 1, 2, 3, 0}) << Rgb{1, 2, 3};
        QTest::newRow("grey") << png(header(2, 1, 8, kGrey), {0, 7, 9}) << Rgb{7, 7, 7, 9, 9, 9};
        QTest::newRow("grey, 2 bits") << png(header(4, 1, 2, kGrey), {0, 0b00011011})
                                      << Rgb{0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255};
        QTest::newRow("grey and alpha") << png(header(1, 1, 8, kGreyAlpha), {0, 7, 0}) << Rgb{7, 7, 7};
        QTest::newRow("palette") << png(header(2, 1, 8, kPalette), {0, 1, 0}, {1, 2, 3, 4, 5, 6}, {0, 255})
                                 << Rgb{4, 5, 6, 1, 2, 3};
        // Adam7: the first pass has the first pixel, the sixth the second one of its row, the last one the second row.
        QTest::newRow("interlaced") << png(header(2, 2, 8, kGrey, true), {0, 1, 0, 2, 0, 3, 4})
                                    << Rgb{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
    }

    void everyKindBecomesThreeColours()
    {
        QFETCH(const std::string, file);
        const auto picture = io::readPng(bytesOf(file), kMost);
        QVERIFY2(picture.ok(), picture.ok() ? "" : picture.error().message().c_str());
        QTEST(picture.value().rgb, "rgb");
    }

    void classesAreWhatIsStored()
    {
        using Classes = std::vector<std::uint8_t>;
        const auto classes = [](const std::string &file) {
            const auto labels = io::readPngClasses(bytesOf(file), kMost);
            return labels.ok() ? labels.value().classes : Classes();
        };
        QCOMPARE(classes(png(header(4, 1, 2, kGrey), {0, 0b00011011})), (Classes{0, 1, 2, 3}));
        QCOMPARE(classes(png(header(2, 1, 8, kGrey), {0, 255, 9})), (Classes{255, 9}));
        QCOMPARE(classes(png(header(2, 1, 4, kPalette), {0, 0x10}, {1, 2, 3, 4, 5, 6})), (Classes{1, 0}));
        // Colours of classes that nobody uses are often the same.
        QCOMPARE(classes(png(header(2, 1, 8, kPalette), {0, 2, 1}, Bytes(9))), (Classes{2, 1}));
    }

    void otherPicturesHaveNoClasses()
    {
        for (const std::string &file :
             {png(header(1, 1, 8, kColours), {0, 1, 2, 3}), png(header(1, 1, 16, kGrey), {0, 1, 2}),
              png(header(1, 1, 8, kPalette), {0, 2}, {1, 2, 3, 4, 5, 6}), std::string("GIF89a"),
              std::string()})
            QVERIFY(!io::readPngClasses(bytesOf(file), kMost).ok());
        QVERIFY(io::isPngOfClasses(bytesOf(png(header(1, 1, 8, kGrey), {0, 1}))));
        QVERIFY(!io::isPngOfClasses(bytesOf(png(header(1, 1, 8, kColours), {0, 1, 2, 3}))));
        QVERIFY(!io::isPngOfClasses({}));
    }

    void rowsBeyondTheHeadersAreRefused()
    {
        const std::string file = png(header(4, 1, 8, kGrey), Bytes(std::size_t{32} << 20));
        const auto picture = io::readPng(bytesOf(file), kMost);
        QVERIFY(!picture.ok());
        QVERIFY2(picture.error().found.find("IDAT") != std::string::npos, picture.error().found.c_str());
    }

    void tooManyPixelsAreRefusedBeforeMemoryIsTaken()
    {
        for (const auto &[width, height] : {std::pair(1U << 30, 1U << 30), std::pair((1U << 20) + 1, 1U)}) {
            const std::string file = png(header(width, height, 8, kGrey), {0, 1});
            const auto picture = io::readPng(bytesOf(file), kMost);
            QVERIFY(!picture.ok());
            QVERIFY(picture.error().found.find(std::to_string(width) + " by ") != std::string::npos);
        }
    }

    // A bit of each byte in turn, in the parts that say something of the pixels.
    void aDamagedPartIsNamed()
    {
        const std::string whole = png(header(4, 4, 8, kGrey), Bytes(20));
        QVERIFY(io::readPng(bytesOf(whole), kMost).ok());
        for (const std::string name : {"IHDR", "IDAT", "IEND"}) {
            const std::size_t at = whole.find(name);
            const std::size_t end = name == "IHDR" ? at + 4 + 13 + 4 : at + 8;
            for (std::size_t byte = at + 4; byte < end; ++byte) {
                std::string damaged = whole;
                damaged[byte] = static_cast<char>(damaged[byte] ^ 16);
                const auto picture = io::readPng(bytesOf(damaged), kMost);
                QVERIFY2(!picture.ok(), name.c_str());
                QVERIFY2(picture.error().found.find(name) != std::string::npos,
                         picture.error().found.c_str());
            }
        }
    }

    void whatIsCutIsRefused()
    {
        const std::string whole = png(header(4, 4, 8, kGrey), Bytes(20));
        for (std::size_t size = 0; size < whole.size(); ++size)
            QVERIFY(!io::readPng(bytesOf(whole.substr(0, size)), kMost).ok());
    }
};

QTEST_APPLESS_MAIN(TestPng)
#include "tst_png.moc"

#include "core/io/pictures/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

namespace halftone::io {
namespace {

/// libpng's own default is a million pixels a side; the number of pixels is what is held here.
constexpr png_uint_32 kMostPngSide = 0x7fffffff;
/// Compressed bytes that may follow the last row. libpng decompresses all of them, and one byte can hold a thousand.
constexpr std::size_t kMostBeyondRows = std::size_t{1} << 16;
constexpr std::size_t kChunkHeader = 8; ///< length and name

Error damagedPng(const std::string &why)
{
    return badInput({}, "invalid PNG (" + why + ')', "a complete PNG");
}

/// Everything that libpng's jumps pass over lies here or with the caller, so that nothing's destructor is skipped.
class PngDecoder
{
public:
    explicit PngDecoder(std::span<const std::byte> bytes)
        : m_rest(bytes)
        , m_png(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leave, warn))
        , m_info(m_png != nullptr ? png_create_info_struct(m_png) : nullptr)
    {
    }
    ~PngDecoder() { png_destroy_read_struct(&m_png, &m_info, nullptr); }
    PngDecoder(const PngDecoder &) = delete;
    PngDecoder &operator=(const PngDecoder &) = delete;

    Error failure() const
    {
        if (m_info == nullptr || std::strstr(m_text, "emory") != nullptr)
            return noMemory("out of memory for the picture");
        return damagedPng(m_text);
    }
    std::int64_t width() const { return png_get_image_width(m_png, m_info); }
    std::int64_t height() const { return png_get_image_height(m_png, m_info); }
    bool hasPalette() const { return png_get_color_type(m_png, m_info) == PNG_COLOR_TYPE_PALETTE; }
    bool hasClasses() const
    {
        const bool isGrey = png_get_color_type(m_png, m_info) == PNG_COLOR_TYPE_GRAY;
        return hasPalette() || (isGrey && png_get_bit_depth(m_png, m_info) <= 8);
    }
    int colours() const
    {
        png_colorp palette = nullptr;
        int count = 0;
        png_get_PLTE(m_png, m_info, &palette, &count);
        return count;
    }

    bool readHeader()
    {
        if (m_info == nullptr || setjmp(m_escape) != 0)
            return false;
        png_set_read_fn(m_png, this, give);
        png_set_user_limits(m_png, kMostPngSide, kMostPngSide);
        png_read_info(m_png, m_info);
        return true;
    }

    /// Three colours a pixel, or the one number that is stored.
    bool readPixels(std::span<std::uint8_t> pixels, bool stored)
    {
        if (setjmp(m_escape) != 0)
            return false;
        if (stored) {
            png_set_packing(m_png);
        } else {
            png_set_expand(m_png);
            png_set_strip_16(m_png);
            png_set_strip_alpha(m_png);
            png_set_gray_to_rgb(m_png);
        }
        const int passes = png_set_interlace_handling(m_png);
        png_read_update_info(m_png, m_info);
        const std::size_t length = png_get_rowbytes(m_png, m_info);
        for (int pass = 0; pass < passes; ++pass)
            for (std::size_t at = 0; at < pixels.size(); at += length) {
                if (pass + 1 == passes
                    && at + length >= pixels.size()) // with it, libpng reads whatever follows
                    m_mostLeft = 2 * length + kMostBeyondRows;
                png_read_row(m_png, &pixels[at], nullptr);
            }
        png_read_end(m_png, nullptr);
        return true;
    }

private:
    [[noreturn]] static void leave(png_structp png, png_const_charp text)
    {
        auto *const self = static_cast<PngDecoder *>(png_get_error_ptr(png));
        std::snprintf(self->m_text, sizeof self->m_text, "%s", text);
        std::longjmp(self->m_escape, 1);
    }
    /// Flaws of texts and profiles are passed over, more rows than the header gives are not.
    static void warn(png_structp png, png_const_charp text)
    {
        if (std::strstr(text, "Too much image data") != nullptr)
            png_error(png, text);
    }
    static void give(png_structp png, png_bytep target, std::size_t count)
    {
        auto *const self = static_cast<PngDecoder *>(png_get_io_ptr(png));
        if (count > self->m_rest.size())
            png_error(png, "truncated");
        if (self->m_mostLeft > 0)
            self->countLastRows(count);
        std::memcpy(target, self->m_rest.data(), count);
        self->m_rest = self->m_rest.subspan(count);
    }

    void countLastRows(std::size_t count)
    {
        if (count == kChunkHeader)
            m_isInRows = std::memcmp(&m_rest[4], "IDAT", 4) == 0;
        else if (m_isInRows && count >= m_mostLeft)
            png_error(m_png, "IDAT: Too much image data");
        else if (m_isInRows)
            m_mostLeft -= count;
    }

    std::span<const std::byte> m_rest;
    std::size_t m_mostLeft = 0; ///< bytes of rows that may still be read; 0: not counted yet
    bool m_isInRows = true; ///< what is read next belongs to a chunk of rows
    std::jmp_buf m_escape{};
    char m_text[128] = "";
    png_structp m_png;
    png_infop m_info;
};

/// Reads the header; the size is looked at before memory is asked for.
Result<void> beginPng(PngDecoder &decoder, std::int64_t mostPixels)
{
    if (!decoder.readHeader())
        return decoder.failure();
    if (decoder.width() * decoder.height() > mostPixels)
        return badInput({},
                        "a PNG of " + std::to_string(decoder.width()) + " by "
                            + std::to_string(decoder.height()) + " pixels",
                        "at most " + std::to_string(mostPixels) + " pixels");
    return {};
}

} // namespace

bool isPng(std::span<const std::byte> bytes)
{
    constexpr std::size_t kSignature = 8;
    return bytes.size() >= kSignature
        && png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kSignature) == 0;
}

bool isPngOfClasses(std::span<const std::byte> bytes)
{
    PngDecoder decoder(bytes);
    return isPng(bytes) && decoder.readHeader() && decoder.hasClasses();
}

Result<Picture> readPng(std::span<const std::byte> bytes, std::int64_t mostPixels)
{
    PngDecoder decoder(bytes);
    HALFTONE_CHECK(beginPng(decoder, mostPixels));
    Picture picture{static_cast<int>(decoder.width()), static_cast<int>(decoder.height()), {}};
    picture.rgb.resize(static_cast<std::size_t>(decoder.width() * decoder.height()) * 3);
    if (!decoder.readPixels(picture.rgb, false))
        return decoder.failure();
    return picture;
}

Result<LabelImage> readPngClasses(std::span<const std::byte> bytes, std::int64_t mostPixels)
{
    constexpr const char *kKind = "a PNG with a palette, or greyscale with up to 8 bits per pixel";
    if (!isPng(bytes))
        return badInput({}, "not a PNG", kKind);
    PngDecoder decoder(bytes);
    HALFTONE_CHECK(beginPng(decoder, mostPixels));
    if (!decoder.hasClasses())
        return badInput({}, "a colour PNG", kKind);
    LabelImage labels{static_cast<int>(decoder.width()), static_cast<int>(decoder.height()), {}};
    labels.classes.resize(static_cast<std::size_t>(decoder.width() * decoder.height()));
    if (!decoder.readPixels(labels.classes, true))
        return decoder.failure();
    if (decoder.hasPalette()
        && std::ranges::any_of(labels.classes, [&](int at) { return at >= decoder.colours(); }))
        return badInput({}, "a pixel with an index beyond the palette", kKind);
    return labels;
}

} // namespace halftone::io

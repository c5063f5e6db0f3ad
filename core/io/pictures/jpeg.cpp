#include "core/io/pictures/jpeg.h"

#include <csetjmp>
#include <string>

// Each needs what the one before it declares.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace halftone::io {
namespace {

/// A few bytes can ask for one more pass over all pixels.
constexpr int kMostScans = 100;
constexpr std::size_t kColours = 3;

/// libjpeg calls back with its own structures, which therefore come first here.
struct Errors
{
    jpeg_error_mgr manager;
    std::jmp_buf escape;
    char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info)
{
    auto *const errors = reinterpret_cast<Errors *>(info->err);
    info->err->format_message(info, errors->text);
    std::longjmp(errors->escape, 1);
}

/// libjpeg warns of damage and goes on with grey. Bytes too many between the parts harm nothing.
void onMessage(j_common_ptr info, int level)
{
    if (level >= 0)
        return;
    switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
        leave(info);
    default:
        break;
    }
}

void onProgress(j_common_ptr info)
{
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans)
        return;
    auto *const errors = reinterpret_cast<Errors *>(info->err);
    std::snprintf(errors->text, sizeof errors->text, "more than %d scans", kMostScans);
    std::longjmp(errors->escape, 1);
}

/// Four inks of each pixel to three lights. Adobe's writers store the inks inverted, and say so by a marker.
void fromInks(std::span<const JSAMPLE> inks, bool inverted, std::span<std::uint8_t> rgb)
{
    const auto light = [inverted](JSAMPLE ink) { return inverted ? ink : 255 - ink; };
    for (std::size_t at = 0; at * 4 < inks.size(); ++at)
        for (std::size_t k = 0; k < kColours; ++k)
            rgb[at * kColours + k]
                = static_cast<std::uint8_t>((light(inks[at * 4 + k]) * light(inks[at * 4 + 3]) + 127) / 255);
}

Error damaged(const std::string &why)
{
    return badInput({}, "invalid JPEG (" + why + ')', "a complete 8-bit JPEG");
}

/// Everything that libjpeg's jumps pass over lies here or with the caller, so that nothing's destructor is skipped.
class Decoder
{
public:
    Decoder()
    {
        m_info.err = jpeg_std_error(&m_errors.manager);
        m_errors.manager.error_exit = leave;
        m_errors.manager.emit_message = onMessage;
        m_errors.text[0] = '\0';
        m_progress.progress_monitor = onProgress;
    }

    ~Decoder() { jpeg_destroy_decompress(&m_info); }
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;

    Error failure() const
    {
        if (m_errors.manager.msg_code == JERR_OUT_OF_MEMORY)
            return noMemory("out of memory: " + std::string(m_errors.text));
        return damaged(m_errors.text);
    }
    std::int64_t width() const { return m_info.image_width; }
    std::int64_t height() const { return m_info.image_height; }

    bool readHeader(std::span<const std::byte> bytes)
    {
        if (setjmp(m_errors.escape) != 0)
            return false;
        jpeg_create_decompress(&m_info);
        m_info.progress = &m_progress;
        jpeg_mem_src(&m_info, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
        jpeg_read_header(&m_info, TRUE);
        return true;
    }

    bool readPixels(std::span<std::uint8_t> rgb, std::vector<JSAMPLE> &row)
    {
        if (setjmp(m_errors.escape) != 0)
            return false;
        const bool hasInks = m_info.num_components == 4;
        m_info.out_color_space = hasInks ? JCS_CMYK : JCS_RGB;
        jpeg_start_decompress(&m_info);
        while (m_info.output_scanline < m_info.output_height) {
            const std::size_t length = m_info.output_width * kColours;
            const auto target = rgb.subspan(m_info.output_scanline * length, length);
            JSAMPROW into = hasInks ? row.data() : target.data();
            jpeg_read_scanlines(&m_info, &into, 1);
            if (hasInks)
                fromInks(row, m_info.saw_Adobe_marker != 0, target);
        }
        jpeg_finish_decompress(&m_info);
        return true;
    }

private:
    Errors m_errors{};
    jpeg_progress_mgr m_progress{};
    jpeg_decompress_struct m_info{};
};

} // namespace

bool isJpeg(std::span<const std::byte> bytes)
{
    return bytes.size() >= 3 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8}
    && bytes[2] == std::byte{0xFF};
}

Result<Picture> readJpeg(std::span<const std::byte> bytes, std::int64_t mostPixels)
{
    Decoder decoder;
    if (!decoder.readHeader(bytes))
        return decoder.failure();
    // The size is looked at before memory is asked for.
    if (decoder.width() * decoder.height() > mostPixels)
        return damaged(std::to_string(decoder.width()) + " by " + std::to_string(decoder.height())
                       + " pixels");
    Picture picture{static_cast<int>(decoder.width()), static_cast<int>(decoder.height()), {}};
    const std::size_t pixels = static_cast<std::size_t>(decoder.width() * decoder.height());
    picture.rgb.resize(pixels * kColours);
    std::vector<JSAMPLE> row(static_cast<std::size_t>(decoder.width()) * 4);
    if (!decoder.readPixels(picture.rgb, row))
        return decoder.failure();
    return picture;
}

} // namespace halftone::io

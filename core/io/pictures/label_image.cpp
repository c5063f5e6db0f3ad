#include "core/io/pictures/label_image.h"

#include "core/base/mapped_file.h"
#include "core/io/pictures/picture.h"
#include "core/io/pictures/png_chunks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>

namespace halftone::io {
namespace {

using Bytes = std::span<const std::byte>;

constexpr const char *kClassPicture = "a PNG with a palette, or grey with up to 8 bits a pixel";

/// What tells classes from decoded pixels.
struct Storage
{
    int bits = 0;
    bool hasPalette = false;
    Bytes palette; ///< three bytes a colour
};

std::optional<Storage> storageOf(Bytes file)
{
    std::optional<PngChunks> chunks = PngChunks::of(file);
    const auto header = chunks ? chunks->next("IHDR") : std::nullopt;
    if (!header || header->size() < 13)
        return std::nullopt;
    constexpr int kGrey = 0;
    constexpr int kPalette = 3;
    Storage storage;
    storage.bits = std::to_integer<int>((*header)[8]);
    const int colours = std::to_integer<int>((*header)[9]);
    storage.hasPalette = colours == kPalette;
    if (storage.bits > 8 || (colours != kGrey && colours != kPalette))
        return std::nullopt;
    if (storage.hasPalette)
        storage.palette = chunks->next("PLTE").value_or(Bytes());
    return storage;
}

std::uint32_t colourOf(std::uint32_t red, std::uint32_t green, std::uint32_t blue)
{
    return red << 16 | green << 8 | blue;
}

using Places = std::unordered_map<std::uint32_t, std::uint8_t>;

Result<Places> placesOf(Bytes palette)
{
    Places places;
    for (std::size_t at = 0; at + 3 <= palette.size() && at < std::size_t{3} * 256; at += 3) {
        const auto part = [&](std::size_t k) { return std::to_integer<std::uint32_t>(palette[at + k]); };
        if (!places.emplace(colourOf(part(0), part(1), part(2)), static_cast<std::uint8_t>(at / 3)).second)
            return badInput("colour " + std::to_string(at / 3), "the same as an earlier one of the palette",
                            "a colour for each class");
    }
    return places;
}

/// The decoder spreads grey values of fewer bits over 0 to 255.
std::uint8_t greyOf(std::uint8_t spread, int bits)
{
    const int most = (1 << bits) - 1;
    return static_cast<std::uint8_t>(spread / (255 / most));
}

Result<std::vector<std::uint8_t>> classesOf(const Picture &picture, const Storage &storage)
{
    Places places;
    if (storage.hasPalette) {
        HALFTONE_TRY(places, placesOf(storage.palette));
    }
    std::vector<std::uint8_t> classes(picture.rgb.size() / 3);
    for (std::size_t pixel = 0; pixel < classes.size(); ++pixel) {
        const std::uint8_t *const rgb = &picture.rgb[pixel * 3];
        if (!storage.hasPalette) {
            classes[pixel] = greyOf(rgb[0], storage.bits);
            continue;
        }
        const auto found = places.find(colourOf(rgb[0], rgb[1], rgb[2]));
        if (found == places.end())
            return badInput({}, "a pixel beyond the palette", kClassPicture);
        classes[pixel] = found->second;
    }
    return classes;
}

} // namespace

bool isLabelImage(const std::string &path)
{
    const auto file = MappedFile::open(path);
    return file.ok() && storageOf(file.value()->bytes()).has_value();
}

Result<LabelImage> readLabelImage(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    const auto storage = storageOf(file->bytes());
    if (!storage)
        return inFile(badInput({}, "no picture of classes", kClassPicture), path);
    HALFTONE_TRY(const Picture picture, readPicture(path));
    auto classes = classesOf(picture, *storage);
    if (!classes.ok())
        return inFile(std::move(classes).error(), path);
    return LabelImage{picture.width, picture.height, std::move(classes).value()};
}

} // namespace halftone::io

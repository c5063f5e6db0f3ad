#include "core/io/pictures/picture.h"

#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/io/pictures/jpeg.h"
#include "core/io/pictures/png.h"

#include <stb_image.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

namespace halftone::io {
namespace {

Error notAPicture(const std::string &path, std::string found)
{
    return inFile(badInput({}, std::move(found), "a JPEG, PNG, BMP, GIF, TGA, PSD or PNM picture"), path);
}

/// Of stb_image's last call.
Error failure(const std::string &path)
{
    const char *const text = stbi_failure_reason();
    const std::string reason = text != nullptr ? text : "";
    if (reason == "outofmem")
        return inFile(noMemory("out of memory for the picture"), path);
    return notAPicture(path, "not a readable picture" + (reason.empty() ? "" : " (" + reason + ')'));
}

} // namespace

Result<Picture> readPicture(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    const auto bytes = file->bytes();
    if (bytes.empty() || bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        return notAPicture(path, std::to_string(bytes.size()) + " bytes");
    if (isJpeg(bytes) || isPng(bytes)) {
        auto decoded = isPng(bytes) ? readPng(bytes, kMostPixels) : readJpeg(bytes, kMostPixels);
        return decoded.ok() ? std::move(decoded) : inFile(std::move(decoded).error(), path);
    }
    const auto *const data = reinterpret_cast<const stbi_uc *>(bytes.data());
    const int size = static_cast<int>(bytes.size());
    Picture picture;
    int channels = 0;
    // The size is looked at before memory is asked for.
    if (stbi_info_from_memory(data, size, &picture.width, &picture.height, &channels) == 0)
        return failure(path);
    if (picture.width < 1 || picture.height < 1 || std::int64_t{picture.width} * picture.height > kMostPixels)
        return notAPicture(
            path, std::to_string(picture.width) + " by " + std::to_string(picture.height) + " pixels");
    constexpr int kColours = 3;
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
        stbi_load_from_memory(data, size, &picture.width, &picture.height, &channels, kColours),
        stbi_image_free);
    if (!pixels)
        return failure(path);
    const std::size_t count
        = static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * kColours;
    picture.rgb.assign(pixels.get(), pixels.get() + count);
    return picture;
}

Result<std::vector<std::string>> picturesIn(const std::string &folder)
{
    constexpr std::array<std::string_view, 4> kEndings{".jpg", ".jpeg", ".png", ".bmp"};
    std::error_code failure;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
         at.increment(failure)) {
        const std::string ending = lowerCase(at->path().extension().string());
        if (std::ranges::find(kEndings, ending) != kEndings.end())
            names.push_back(at->path().filename().string());
    }
    if (failure)
        return inFile(badInput({}, "cannot be listed: " + failure.message(), "a folder of pictures"), folder);
    if (names.empty())
        return inFile(
            badInput({}, "no pictures in this folder", "files that end in .jpg, .jpeg, .png or .bmp"),
            folder);
    std::ranges::sort(names);
    return names;
}

} // namespace halftone::io

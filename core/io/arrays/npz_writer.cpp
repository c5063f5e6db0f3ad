#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/io/arrays/npy.h"
#include "core/io/arrays/npz.h"
#include "core/io/arrays/zip_handles.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::io {
namespace {

using NpyBytes = std::vector<std::byte>;

constexpr const char *kCannot = "cannot create an archive";

NpyBytes npyImage(const tensor::Tensor &value)
{
    const std::string header = npyHeader(value.dtype(), value.shape());
    const auto start = std::as_bytes(std::span(header));
    NpyBytes image(start.begin(), start.end());
    image.insert(image.end(), value.bytes().begin(), value.bytes().end());
    return image;
}

/// `image` must live until the archive is closed: libzip reads it then.
Result<void> addEntry(zip_t *archive, const std::string &entry, const NpyBytes &image)
{
    ZipSource source(zip_source_buffer(archive, image.data(), image.size(), 0));
    const zip_int64_t index
        = !source ? -1 : zip_file_add(archive, entry.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    if (index < 0)
        return zipError(printable(entry, 100), "cannot be written to an archive", zip_get_error(archive));
    static_cast<void>(source.release());
    constexpr zip_uint16_t kFirstDay
        = 1 << 5 | 1; // of 1980, when the format begins: the same arrays, the same bytes
    if (zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, kFirstDay, 0) != 0)
        return zipError({}, kCannot, zip_get_error(archive));
    if (zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0)
        return zipError({}, kCannot, zip_get_error(archive));
    return {};
}

Result<NpyBytes> contentOf(zip_source_t *source)
{
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_source_stat(source, &status) != 0 || zip_source_open(source) != 0)
        return zipError({}, kCannot, zip_source_error(source));
    NpyBytes bytes(status.size);
    const zip_int64_t size = zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (size < 0 || static_cast<zip_uint64_t>(size) != bytes.size())
        return zipError({}, kCannot, zip_source_error(source));
    return bytes;
}

/// The names of the entries: they cannot hold every text, and each is there once.
std::vector<std::string> entryNames(std::span<const NamedTensor> arrays)
{
    std::vector<std::string> entries;
    std::unordered_set<std::string> taken;
    for (const auto &[name, value] : arrays) {
        const auto *const travels = std::ranges::find(kTravellingTypes, value.dtype(), &TravellingType::type);
        const std::string end
            = std::string(travels == kTravellingTypes.end() ? std::string_view() : travels->suffix)
            + std::string(kNpySuffix);
        std::string key = printable(name, std::string::npos);
        if (std::ranges::any_of(kTravellingTypes, [&key](const TravellingType &type) {
                return key.ends_with(type.suffix);
            })) // says what only the type may say
            key += '_';
        std::string entry = key + end;
        for (int k = 1; !taken.insert(entry).second; ++k)
            entry = key + '_' + std::to_string(k) + end;
        entries.push_back(std::move(entry));
    }
    return entries;
}

/// The archive in memory: libzip would write its own file, but files go through AtomicFile.
Result<NpyBytes> packed(std::span<const NamedTensor> arrays)
{
    zip_error_t error;
    zip_error_init(&error);
    const ZipSource target(zip_source_buffer_create(nullptr, 0, 0, &error));
    if (!target)
        return takeError(kCannot, error);
    zip_source_keep(target.get());
    std::vector<NpyBytes> images;
    images.reserve(arrays.size());
    ZipArchive archive(zip_open_from_source(target.get(), ZIP_TRUNCATE, &error));
    if (!archive) {
        zip_source_free(target.get());
        return takeError(kCannot, error);
    }
    const std::vector<std::string> entries = entryNames(arrays);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        images.push_back(npyImage(arrays[k].tensor));
        HALFTONE_CHECK(addEntry(archive.get(), entries[k], images.back()));
    }
    if (zip_close(archive.get()) != 0)
        return zipError({}, kCannot, zip_get_error(archive.get()));
    static_cast<void>(archive.release());
    return contentOf(target.get());
}

} // namespace

Result<void> writeNpz(std::span<const NamedTensor> arrays, const std::string &path)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    auto bytes = packed(arrays);
    if (!bytes.ok())
        return inFile(std::move(bytes).error(), path);
    HALFTONE_CHECK(file.write(bytes.value()));
    return file.commit();
}

} // namespace halftone::io

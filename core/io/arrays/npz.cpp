#include "core/io/npz.h"

#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/io/npy.h"
#include "core/io/zip_handles.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_set>

namespace halftone::io {
namespace {

using tensor::DType;
using tensor::Tensor;

/// Deflate packs at most this many bytes into one: an entry that claims more lies.
constexpr std::uint64_t kDeflateLimit = 1032;
/// A bomb may unpack to at most this, or to what a fair archive of this size might hold.
constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 34;

/// The archive over mapped bytes, which must outlive it.
Result<ZipArchive> openArchive(std::span<const std::byte> bytes)
{
    if (bytes.empty()) // libzip would see an archive without entries
        return badInput({}, "an empty file", "an .npz archive or .npy array");
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source == nullptr)
        return badInput({}, "no archive: " + takeText(error));
    zip_t *const archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (archive == nullptr) {
        zip_source_free(source);
        return badInput({}, "no .npz archive: " + takeText(error));
    }
    return ZipArchive(archive);
}

/// One entry unpacked. Its size is known first, and believed only as far as the packed size allows.
Result<std::vector<std::byte>> unpack(zip_t *archive, zip_uint64_t index, const std::string &name,
                                      std::uint64_t &budget)
{
    zip_stat_t status;
    zip_stat_init(&status);
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(archive, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded)
        return badInput(name, "an entry whose size cannot be read");
    if (status.size > budget || status.size / kDeflateLimit > status.comp_size)
        return badInput(name,
                        std::to_string(status.size) + " bytes packed in " + std::to_string(status.comp_size),
                        "a size that can be true");
    budget -= status.size;
    const ZipEntry entry(zip_fopen_index(archive, index, 0));
    if (!entry)
        return badInput(name, "an entry that cannot be opened: " + std::string(zip_strerror(archive)));
    std::vector<std::byte> bytes(status.size);
    const zip_int64_t size = zip_fread(entry.get(), bytes.data(), bytes.size());
    if (size < 0 || static_cast<zip_uint64_t>(size) != status.size)
        return badInput(name,
                        "an entry that cannot be unpacked: " + std::string(zip_file_strerror(entry.get())));
    return bytes;
}

Result<NamedTensor> readEntry(zip_t *archive, zip_uint64_t index, std::uint64_t &budget)
{
    const char *const raw = zip_get_name(archive, index, ZIP_FL_ENC_RAW);
    std::string name = raw == nullptr ? "entry " + std::to_string(index) : raw;
    HALFTONE_TRY(auto bytes, unpack(archive, index, name, budget));
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    auto tensor = readNpy(*owner, owner);
    if (!tensor.ok()) {
        Error error = std::move(tensor).error();
        error.where = name + ", " + error.where;
        return error;
    }
    if (name.ends_with(kNpySuffix))
        name.resize(name.size() - kNpySuffix.size());
    Tensor value = std::move(tensor).value();
    if (name.ends_with(kBfloat16Suffix)) {
        if (value.dtype() != DType::U16)
            return badInput(name, "bfloat16 kept as " + std::string(nameOf(value.dtype())), "uint16");
        value = Tensor(DType::BF16, value.shape(), value.bytes(), owner);
        name.resize(name.size() - kBfloat16Suffix.size());
    }
    return NamedTensor{std::move(name), std::move(value)};
}

Result<std::vector<NamedTensor>> readArchive(std::span<const std::byte> bytes)
{
    HALFTONE_TRY(const ZipArchive archive, openArchive(bytes));
    std::uint64_t budget = std::min(kMostUnpacked, bytes.size() * kDeflateLimit);
    std::vector<NamedTensor> arrays;
    std::unordered_set<std::string> names;
    const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        HALFTONE_TRY(NamedTensor array, readEntry(archive.get(), static_cast<zip_uint64_t>(i), budget));
        if (!names.insert(array.name).second)
            return badInput(printable(array.name, 100), "two arrays of this name");
        arrays.push_back(std::move(array));
    }
    return arrays;
}

} // namespace

Result<std::vector<NamedTensor>> readNpz(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    if (file->text().starts_with("\x93NUMPY")) {
        auto tensor = readNpy(file->bytes(), file);
        if (!tensor.ok())
            return inFile(std::move(tensor).error(), path);
        return std::vector{NamedTensor{{}, std::move(tensor).value()}};
    }
    auto arrays = readArchive(file->bytes());
    return arrays.ok() ? std::move(arrays) : inFile(std::move(arrays).error(), path);
}

} // namespace halftone::io

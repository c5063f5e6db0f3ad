#include "core/io/arrays/npz.h"

#include "core/base/mapped_file.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/arrays/npy.h"
#include "core/io/arrays/zip_handles.h"
#include "core/tensor/low_bits.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::io {
namespace {

using tensor::DType;
using tensor::Tensor;

/// Deflate packs at most this many bytes into one: an entry that claims more lies.
constexpr std::uint64_t kDeflateLimit = 1032;
/// What an archive may unpack to: what honest data of its size might, which a bomb stays far above.
constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 34;
constexpr std::uint64_t kSmallUnpacked = std::uint64_t{1} << 28;
constexpr std::uint64_t kFairRatio
    = 64; ///< floating point values give 1.1 to 10; these would be nearly all equal

/// The archive over mapped bytes, which must outlive it.
Result<ZipArchive> openArchive(std::span<const std::byte> bytes)
{
    if (bytes.empty()) // libzip would see an archive without entries
        return badInput({}, "an empty file", "an .npz archive or .npy array");
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source == nullptr)
        return takeError("not an archive", error);
    // The directory is checked against the entries' own headers: a damaged name or size shows.
    zip_t *const archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    if (archive == nullptr) {
        zip_source_free(source);
        return takeError("not an .npz archive", error);
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
        return badInput(name, "the size of this entry cannot be read");
    if (status.size / kDeflateLimit > status.comp_size)
        return badInput(name,
                        std::to_string(status.size) + " bytes packed in " + std::to_string(status.comp_size),
                        "a plausible size");
    if (status.size > budget)
        return badInput(name, humanBytes(status.size) + " packed in " + humanBytes(status.comp_size),
                        "at most " + humanBytes(budget)
                            + " from an archive of this size; store larger arrays uncompressed, as"
                              " numpy.savez() does");
    budget -= status.size;
    HALFTONE_CHECK(checkRoom(status.size, "the array " + printable(name, 100)));
    const ZipEntry entry(zip_fopen_index(archive, index, 0));
    if (!entry)
        return zipError(name, "this entry cannot be opened", zip_get_error(archive));
    std::vector<std::byte> bytes(status.size);
    const zip_int64_t size = zip_fread(entry.get(), bytes.data(), bytes.size());
    if (size < 0 || static_cast<zip_uint64_t>(size) != status.size)
        return zipError(name, "this entry cannot be unpacked", zip_file_get_error(entry.get()));
    std::byte more{}; // libzip compares the checksum when it finds the end
    if (zip_fread(entry.get(), &more, 1) != 0)
        return badInput(name, "the entry is damaged: " + std::string(zip_file_strerror(entry.get())),
                        "; write the archive again");
    return bytes;
}

/// Elements of 4 and 2 bits, one a byte: negative ones as int8 has them, or as their bits alone.
Result<Tensor> ofFewBits(DType type, const Tensor &codes, const std::string &name)
{
    std::vector<std::byte> elements(codes.bytes().begin(), codes.bytes().end());
    for (std::byte &element : elements) {
        const std::byte value = tensor::lowBits(type, element);
        const auto given = std::to_integer<unsigned>(element);
        if (value != element && given >> static_cast<unsigned>(tensor::packedBits(type)) != 0)
            return badInput(name, "the byte " + std::to_string(given),
                            "one " + std::string(nameOf(type)) + " value per byte");
        element = value;
    }
    return Tensor::owning(type, codes.shape(), std::move(elements));
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
    for (const auto &[type, stored, suffix] : kTravellingTypes) {
        if (!name.ends_with(suffix))
            continue;
        if (value.dtype() != stored)
            return badInput(name,
                            std::string(nameOf(type)) + " kept as " + std::string(nameOf(value.dtype())),
                            std::string(nameOf(stored)));
        if (tensor::packedBits(type) > 0) {
            HALFTONE_TRY(value, ofFewBits(type, value, name));
        } else {
            value = Tensor(type, value.shape(), value.bytes(), owner);
        }
        name.resize(name.size() - suffix.size());
        break;
    }
    return NamedTensor{std::move(name), std::move(value)};
}

Result<std::vector<NamedTensor>> readArchive(std::span<const std::byte> bytes)
{
    HALFTONE_TRY(const ZipArchive archive, openArchive(bytes));
    std::uint64_t budget = std::min(kMostUnpacked, std::max(kSmallUnpacked, bytes.size() * kFairRatio));
    std::vector<NamedTensor> arrays;
    std::unordered_set<std::string> names;
    const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        HALFTONE_TRY(NamedTensor array, readEntry(archive.get(), static_cast<zip_uint64_t>(i), budget));
        if (!names.insert(array.name).second)
            return badInput(printable(array.name, 100), "two arrays have this name");
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

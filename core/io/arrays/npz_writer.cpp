#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/io/npy.h"
#include "core/io/npz.h"
#include "core/io/zip_handles.h"

namespace halftone::io {
namespace {

using Bytes = std::vector<std::byte>;

Error cannotPack(const std::string &why)
{
    return badInput({}, "cannot make an archive: " + why);
}

Bytes npyImage(const tensor::Tensor &value)
{
    const std::string header = npyHeader(value.dtype(), value.shape());
    const auto start = std::as_bytes(std::span(header));
    Bytes image(start.begin(), start.end());
    image.insert(image.end(), value.bytes().begin(), value.bytes().end());
    return image;
}

/// `image` must live until the archive is closed: libzip reads it then.
Result<void> addEntry(zip_t *archive, const std::string &entry, const Bytes &image)
{
    ZipSource source(zip_source_buffer(archive, image.data(), image.size(), 0));
    const zip_int64_t index
        = !source ? -1 : zip_file_add(archive, entry.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    if (index < 0)
        return badCall(printable(entry, 100),
                       "cannot go into an archive: " + std::string(zip_strerror(archive)));
    static_cast<void>(source.release());
    if (zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0)
        return cannotPack(zip_strerror(archive));
    return {};
}

Result<Bytes> contentOf(zip_source_t *source)
{
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_source_stat(source, &status) != 0 || zip_source_open(source) != 0)
        return cannotPack(zip_error_strerror(zip_source_error(source)));
    Bytes bytes(status.size);
    const zip_int64_t size = zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (size < 0 || static_cast<zip_uint64_t>(size) != bytes.size())
        return cannotPack(zip_error_strerror(zip_source_error(source)));
    return bytes;
}

/// The archive in memory: libzip would write its own file, but files go through AtomicFile.
Result<Bytes> packed(std::span<const NamedTensor> arrays)
{
    zip_error_t error;
    zip_error_init(&error);
    const ZipSource target(zip_source_buffer_create(nullptr, 0, 0, &error));
    if (!target)
        return cannotPack(takeText(error));
    zip_source_keep(target.get());
    std::vector<Bytes> images;
    images.reserve(arrays.size());
    ZipArchive archive(zip_open_from_source(target.get(), ZIP_TRUNCATE, &error));
    if (!archive) {
        zip_source_free(target.get());
        return cannotPack(takeText(error));
    }
    for (const auto &[name, value] : arrays) {
        const std::string_view mark
            = value.dtype() == tensor::DType::BF16 ? kBfloat16Suffix : std::string_view();
        images.push_back(npyImage(value));
        HALFTONE_CHECK(
            addEntry(archive.get(), name + std::string(mark) + std::string(kNpySuffix), images.back()));
    }
    if (zip_close(archive.get()) != 0)
        return cannotPack(zip_strerror(archive.get()));
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

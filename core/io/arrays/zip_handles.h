#pragma once

#include "core/base/result.h"

#include <zip.h>

#include <memory>
#include <string>

/// Owners of libzip's handles.
namespace halftone::io {

struct ZipDiscard
{
    void operator()(zip_t *archive) const { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipDiscard>;

struct ZipFileClose
{
    void operator()(zip_file_t *file) const { zip_fclose(file); }
};
using ZipEntry = std::unique_ptr<zip_file_t, ZipFileClose>;

struct ZipSourceFree
{
    void operator()(zip_source_t *source) const { zip_source_free(source); }
};
using ZipSource = std::unique_ptr<zip_source_t, ZipSourceFree>;

/// What libzip says, behind `what`.
inline Error zipError(const std::string &where, const std::string &what, zip_error_t *error)
{
    constexpr int kZlibMemory = -4; // Z_MEM_ERROR
    const int code = zip_error_code_zip(error);
    const bool isWant
        = code == ZIP_ER_MEMORY || (code == ZIP_ER_ZLIB && zip_error_code_system(error) == kZlibMemory);
    return {isWant ? Errc::NoMemory : Errc::BadInput, {}, where, what + ": " + zip_error_strerror(error), {}};
}

/// The same, and the error is given back to libzip.
inline Error takeError(const std::string &what, zip_error_t &error)
{
    Error taken = zipError({}, what, &error);
    zip_error_fini(&error);
    return taken;
}

} // namespace halftone::io

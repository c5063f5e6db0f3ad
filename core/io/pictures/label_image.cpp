#include "core/io/pictures/label_image.h"

#include "core/base/mapped_file.h"
#include "core/io/pictures/png.h"

namespace halftone::io {

Result<LabelImage> readLabelImage(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    auto labels = readPngClasses(file->bytes(), kMostPixels);
    return labels.ok() ? std::move(labels) : inFile(std::move(labels).error(), path);
}

bool isLabelImage(const std::string &path)
{
    const auto file = MappedFile::open(path);
    return file.ok() && isPngOfClasses(file.value()->bytes());
}

} // namespace halftone::io

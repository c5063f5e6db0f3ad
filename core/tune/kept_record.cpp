#include "core/tune/kept_record.h"

#include "core/base/mapped_file.h"
#include "core/tune/shared_basis.h"

#include <filesystem>

namespace halftone::tune {

Result<Record> keptRecord(const TuneTask &task, const std::string &file, bool isPart)
{
    const std::string basis = basisOf(task);
    std::error_code none;
    const bool isThere = !file.empty() && std::filesystem::exists(file, none);
    if (!isThere && !isPart)
        return Record{basis, {}, {}, {}, {}, {}};
    HALFTONE_TRY(const shards::StatisticsOrigin origin, originOf(task));
    if (!isThere)
        return Record{basisOf(origin), {}, {}, {}, {}, {}};
    HALFTONE_TRY(const auto mapped, MappedFile::open(file));
    auto record
        = readRecord({reinterpret_cast<const char *>(mapped->bytes().data()), mapped->bytes().size()});
    if (!record.ok())
        return inFile(record.error(), file);
    if (record.value().basis != basis && record.value().basis != basisOf(origin))
        return inFile(badInput("basis", record.value().basis,
                               basis + "; the file belongs to a different search, so choose another one"),
                      file);
    return record;
}

} // namespace halftone::tune

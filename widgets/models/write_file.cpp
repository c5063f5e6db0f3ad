#include "widgets/models/write_file.h"

#include "core/base/atomic_file.h"

#include <string_view>

namespace halftone::widgets {

Result<void> writeFile(const QString &path, const QByteArray &bytes)
{
    // What is shown or was decided here, whatever has become of the model's files.
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path.toStdString(), AtomicFile::Sources::Any));
    HALFTONE_CHECK(file.write(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
    return file.commit();
}

} // namespace halftone::widgets

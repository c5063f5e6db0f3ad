#include "core/session/source_state.h"

namespace halftone::session {

SourceState sourceState(const io::LoadedModel &source)
{
    for (const auto &file : source.files) {
        if (!file->check().ok())
            return {SourceState::Kind::Lost, file->path()};
    }
    for (const auto &file : source.files) {
        if (file->onDisk() == MappedFile::OnDisk::Changed)
            return {SourceState::Kind::Changed, file->path()};
    }
    return {};
}

} // namespace halftone::session

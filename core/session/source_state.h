#pragma once

#include "core/io/model_io.h"

#include <string>

namespace halftone::session {

/// What has become of the files that a model was read from.
struct SourceState
{
    enum class Kind
    {
        AsRead, ///< or gone, which changes nothing of what was read
        Changed, ///< other content lies there now; what was read is still whole
        Lost ///< what was read was written over: nothing that is computed from it holds
    };
    Kind kind = Kind::AsRead;
    std::string file; ///< the first one of that kind

    bool operator==(const SourceState &) const = default;
};

/// Asks the file system: not for a thread that must not wait.
SourceState sourceState(const io::LoadedModel &source);

} // namespace halftone::session

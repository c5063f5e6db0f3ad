#include "core/base/file_error.h"

#include <cerrno>
#include <system_error>

namespace halftone {

Error fileError(const std::string &path, const std::string &action, int number)
{
    const bool isShort = number == ENOMEM || number == EMFILE || number == ENFILE;
    return {isShort ? Errc::NoMemory : Errc::BadInput,
            path,
            {},
            "cannot " + action + ": " + std::generic_category().message(number),
            {}};
}

} // namespace halftone

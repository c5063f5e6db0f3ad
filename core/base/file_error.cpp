#include "core/base/file_error.h"

#include <system_error>

namespace halftone {

Error fileError(const std::string &path, const std::string &action, int number)
{
    return {
        Errc::BadInput, path, {}, "cannot " + action + ": " + std::generic_category().message(number), {}};
}

} // namespace halftone

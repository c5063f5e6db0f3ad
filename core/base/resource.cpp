#include "core/base/resource.h"

#include <algorithm>
#include <utility>

namespace halftone {
namespace {

// A literal knows its length: counting takes more steps than clang allows a constant.
using namespace std::string_view_literals;

/// Path and content, sorted by path (CMake's glob sorts).
constexpr std::pair<std::string_view, std::string_view> kEmbedded[] = {
#include "embedded.inc"
};

} // namespace

std::string_view resource(std::string_view path)
{
    const auto *const at
        = std::ranges::find(kEmbedded, path, &std::pair<std::string_view, std::string_view>::first);
    return at == std::end(kEmbedded) ? std::string_view() : at->second;
}

} // namespace halftone

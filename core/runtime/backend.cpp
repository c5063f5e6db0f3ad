#include "core/runtime/backend.h"

namespace halftone::runtime {

std::string_view nameOf(Support support)
{
    switch (support) {
    case Support::Native:
        return "native";
    case Support::Emulated:
        return "emulated";
    case Support::No:
        break;
    }
    return "no";
}

std::uint64_t seedOf(std::string_view nodeName)
{
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : nodeName)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

} // namespace halftone::runtime

#include "core/runtime/backend.h"

#include "core/base/fnv1a.h"

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
    Fnv1a hash;
    hash.add(nodeName);
    return hash.value();
}

} // namespace halftone::runtime

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

} // namespace halftone::runtime

#include "core/rewrite/unique_names.h"

namespace halftone::rewrite {

std::string UniqueNames::take(std::string name)
{
    auto [at, isNew] = m_next.try_emplace(name, 1);
    while (!isNew) {
        std::string numbered = name + '_' + std::to_string(at->second++);
        if (m_next.try_emplace(numbered, 1).second)
            return numbered;
    }
    return name;
}

} // namespace halftone::rewrite

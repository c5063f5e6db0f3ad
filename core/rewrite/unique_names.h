#pragma once

#include <string>
#include <unordered_map>

namespace halftone::rewrite {

/// Names for inserted nodes: one that is taken gets "_1", "_2", … (defect D-duplicate-names of the reference).
class UniqueNames
{
public:
    /// A name that is in use already.
    void reserve(const std::string &name) { m_next.emplace(name, 1); }
    /// `name`, or the first numbered one that is free; taken from now on.
    std::string take(std::string name);

private:
    std::unordered_map<std::string, int> m_next; ///< by name: the number to try next
};

} // namespace halftone::rewrite

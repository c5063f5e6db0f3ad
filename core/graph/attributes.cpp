#include "core/graph/attributes.h"

#include <algorithm>

namespace halftone::graph {
namespace {

constexpr auto kKeyLess = [](const Attributes::Item &item, std::string_view key) { return item.first < key; };

} // namespace

Attributes::Attributes(std::initializer_list<Item> items)
    : Attributes(std::vector<Item>(items))
{
}

Attributes::Attributes(std::vector<Item> items)
    : m_items(std::move(items))
{
    std::stable_sort(m_items.begin(), m_items.end(),
                     [](const Item &a, const Item &b) { return a.first < b.first; });
    const auto end = std::unique(m_items.rbegin(), m_items.rend(),
                                 [](const Item &a, const Item &b) { return a.first == b.first; });
    m_items.erase(m_items.begin(), end.base());
}

const std::string *Attributes::find(std::string_view key) const
{
    const auto at = std::lower_bound(m_items.begin(), m_items.end(), key, kKeyLess);
    return at != m_items.end() && at->first == key ? &at->second : nullptr;
}

void Attributes::set(std::string_view key, std::string value)
{
    const auto at = std::lower_bound(m_items.begin(), m_items.end(), key, kKeyLess);
    if (at != m_items.end() && at->first == key)
        at->second = std::move(value);
    else
        m_items.emplace(at, std::string(key), std::move(value));
}

bool Attributes::erase(std::string_view key)
{
    const auto at = std::lower_bound(m_items.begin(), m_items.end(), key, kKeyLess);
    if (at == m_items.end() || at->first != key)
        return false;
    m_items.erase(at);
    return true;
}

} // namespace halftone::graph

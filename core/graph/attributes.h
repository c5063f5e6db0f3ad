#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::graph {

/// A node's attributes as text, sorted by key. A few entries, so a flat vector.
class Attributes
{
public:
    using Item = std::pair<std::string, std::string>;

    Attributes() = default;
    Attributes(std::initializer_list<Item> items);
    /// Sorts; of equal keys the last one stays.
    explicit Attributes(std::vector<Item> items);

    /// The value of `key`, null when it is not written.
    const std::string *find(std::string_view key) const;
    void set(std::string_view key, std::string value);
    bool erase(std::string_view key);

    std::size_t size() const { return m_items.size(); }
    bool empty() const { return m_items.empty(); }
    auto begin() const { return m_items.begin(); }
    auto end() const { return m_items.end(); }
    bool operator==(const Attributes &) const = default;

private:
    std::vector<Item> m_items;
};

/// Keys that start and end with "__" belong to no operator: they are kept and never parsed
/// (core/io/mxnet/FORMATS.md, F-hidden).
constexpr bool isHiddenKey(std::string_view key)
{
    return key.size() >= 4 && key.starts_with("__") && key.ends_with("__");
}

} // namespace halftone::graph

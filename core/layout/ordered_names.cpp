#include "core/layout/ordered_names.h"

#include "core/layout/name_parts.h"

#include <algorithm>
#include <utility>

namespace halftone::layout {
namespace {

constexpr std::size_t kMostNameParts = 64; ///< of a name that are looked at

} // namespace

OrderedNames::OrderedNames(const graph::Graph &graph, std::vector<graph::NodeId> order)
    : m_graph(graph)
    , m_order(std::move(order))
{
    nameConstants();
    m_rootPrefix = commonPrefix(0, m_order.size(), 0);
    m_untoldPrefix = untoldOf(m_rootPrefix);
}

void OrderedNames::nameConstants()
{
    m_named = m_order;
    std::vector<graph::NodeId> reader(m_graph.nodeCount(), 0);
    for (std::size_t k = m_order.size(); k-- > 0;) {
        const graph::NodeId id = m_order[k];
        for (const graph::Entry &input : m_graph.inputs(id))
            reader[input.node] = m_named[k];
        if (m_graph.inputs(id).empty() && !m_graph.isVariable(id) && reader[id] != 0)
            m_named[k] = reader[id];
    }
}

std::size_t OrderedNames::commonPrefix(std::size_t first, std::size_t last, std::size_t length) const
{
    for (std::size_t parts = 0; parts < kMostNameParts; ++parts) {
        std::size_t next = 0;
        std::string_view prefix;
        for (std::size_t k = first; k < last; ++k) {
            if (m_graph.isVariable(m_order[k]))
                continue;
            const std::string_view name = at(k);
            if (next == 0) {
                next = endOfPart(name, length);
                prefix = name.substr(0, next);
            }
            if (next == 0 || name.substr(0, next) != prefix || name.size() <= next)
                return length;
        }
        if (next == 0)
            return length;
        length = next;
    }
    return length;
}

std::size_t OrderedNames::untoldOf(std::size_t prefix) const
{
    const auto isNumbered = [&](graph::NodeId id) {
        const std::string &name = m_graph.node(id).name;
        return !m_graph.isVariable(id) && name.size() > prefix && isDigit(name[prefix]);
    };
    const auto numbered = std::ranges::find_if(m_named, isNumbered);
    if (prefix == 0 || numbered == m_named.end())
        return prefix;
    const std::string_view name = m_graph.node(*numbered).name;
    std::size_t before = 0;
    for (std::size_t end = endOfPart(name, 0); end != 0 && end < prefix; end = endOfPart(name, end))
        before = end;
    return before;
}

std::string_view OrderedNames::mostlyShared(std::size_t first, std::size_t last, std::size_t prefix) const
{
    std::string_view shared = std::string_view(at(first)).substr(0, prefix);
    for (std::size_t parts = 0; parts < kMostNameParts; ++parts) {
        std::string_view candidate; // the only one that more than half may have (Boyer and Moore, 1991)
        std::size_t lead = 0;
        std::size_t operators = 0;
        const auto partAt = [&](std::size_t k) {
            const std::string_view name = at(k);
            return name.starts_with(shared) ? name.substr(0, endOfPart(name, shared.size()))
                                            : std::string_view();
        };
        for (std::size_t k = first; k < last; ++k) {
            if (m_graph.isVariable(m_order[k]))
                continue;
            ++operators;
            const std::string_view part = partAt(k);
            if (lead == 0)
                candidate = part;
            part == candidate ? ++lead : --lead;
        }
        if (candidate.empty())
            break;
        std::size_t count = 0;
        for (std::size_t k = first; k < last; ++k)
            if (!m_graph.isVariable(m_order[k]) && partAt(k) == candidate)
                ++count;
        if (4 * count < 3 * operators)
            break;
        shared = candidate;
    }
    return shared;
}

std::string_view OrderedNames::keyAt(std::size_t position, std::size_t prefix) const
{
    const std::string_view name = at(position);
    return name.size() > prefix ? name.substr(0, endOfPart(name, prefix)) : std::string_view();
}

std::size_t OrderedNames::endOfRun(std::size_t first, std::size_t last, std::size_t prefix) const
{
    const std::string_view key = keyAt(first, prefix);
    std::size_t end = first + 1;
    bool isMixed = false;
    for (std::size_t k = end; k < last && k < end + 3; ++k) {
        if (keyAt(k, prefix) != key)
            continue;
        end = k + 1;
        isMixed = isMixed || m_graph.opOf(m_order[k]) != m_graph.opOf(m_order[first]);
    }
    return isMixed ? end : first + 1;
}

std::string OrderedNames::labelOf(std::string_view prefix) const
{
    if (prefix.size() > m_untoldPrefix)
        prefix.remove_prefix(m_untoldPrefix);
    while (!prefix.empty() && isSeparator(prefix.back()))
        prefix.remove_suffix(1);
    while (!prefix.empty() && isSeparator(prefix.front()))
        prefix.remove_prefix(1);
    return std::string(prefix);
}

} // namespace halftone::layout

#include "core/base/fnv1a.h"
#include "core/layout/block_numbers.h"
#include "core/layout/block_tree.h"
#include "core/layout/level_cuts.h"
#include "core/layout/name_parts.h"
#include "core/layout/ordered_names.h"
#include "core/layout/repeats.h"
#include "core/layout/unit_groups.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halftone::layout {
namespace {

using graph::NodeId;

constexpr std::size_t kMostChildren = 24; ///< more are gathered
constexpr std::size_t kFewChildren = 24; ///< up to here structure is left alone
constexpr std::size_t kMostLevels = 16; ///< that names make

class Folder
{
public:
    Folder(const graph::Graph &graph, BlockTree tree, std::span<const patterns::Unit> units)
        : m_graph(graph)
        , m_tree(std::move(tree))
        , m_ordered(orderByUnits(graph, nodesOf(m_tree.blocks[kRoot]), units))
        , m_names(graph, m_order)
        , m_position(graph.nodeCount(), 0)
        , m_cuts(graph, m_order, m_position, m_tree.boxOf)
    {
        for (std::size_t k = 0; k < m_order.size(); ++k)
            m_position[m_order[k]] = k;
        m_tree.commonPrefix = m_names.untoldPrefix();
    }

    BlockTree fold()
    {
        std::vector<LevelItem> children = folded(byNames(0, m_order.size(), m_names.rootPrefix(), 1));
        m_tree.blocks[kRoot].children.clear();
        for (const LevelItem &child : children)
            m_tree.blocks[kRoot].children.push_back(child.item);
        return numberedTree(m_tree, m_repeated);
    }

private:
    static std::vector<NodeId> nodesOf(const Block &flat)
    {
        std::vector<NodeId> nodes;
        for (const ItemRef &item : flat.children)
            nodes.push_back(item.id);
        return nodes;
    }

    std::vector<LevelItem> byNames(std::size_t first, std::size_t last, std::size_t prefix, std::size_t depth)
    {
        std::vector<LevelItem> children;
        for (std::size_t at = first; at < last;) {
            const std::string_view key = m_names.keyAt(at, prefix);
            const UnitGroup *const unit = unitAt(at, last - first);
            const std::size_t end
                = key.empty() ? at + 1 : endOfWhole(at, m_names.endOfRun(at, last, prefix), last - first);
            const bool isRun = end - at >= kLeastNodes && end - at != last - first && depth <= kMostLevels;
            if (unit != nullptr && (end <= unit->last || !isRun)) {
                children.push_back(unitBlock(*unit, prefix, depth));
                at = unit->last;
                continue;
            }
            if (!isRun) {
                children.push_back({at, at + 1, {false, m_order[at]}});
                ++at;
                continue;
            }
            const std::size_t inner = std::max(key.size(), m_names.commonPrefix(at, end, key.size()));
            const std::vector<LevelItem> grandchildren = folded(byNames(at, end, inner, depth + 1));
            children.push_back(block(grandchildren, m_names.labelOf(m_names.at(at).substr(0, inner))));
            at = end;
        }
        return children;
    }

    /// The largest unit that begins at `position` and is smaller than what holds it; null when there is none.
    const UnitGroup *unitAt(std::size_t position, std::size_t below) const
    {
        auto unit = std::ranges::lower_bound(m_groups, position, {}, &UnitGroup::first);
        for (; unit != m_groups.end() && unit->first == position; ++unit)
            if (unit->size() < below)
                return &*unit;
        return nullptr;
    }

    /// The last border of units and nodes up to `end`: a run of names cuts no unit.
    std::size_t endOfWhole(std::size_t first, std::size_t end, std::size_t below) const
    {
        std::size_t whole = first + 1;
        for (std::size_t at = first; at < end;) {
            const UnitGroup *const unit = unitAt(at, below);
            at = unit == nullptr ? at + 1 : unit->last;
            if (at <= end)
                whole = at;
        }
        return whole;
    }

    LevelItem unitBlock(const UnitGroup &unit, std::size_t prefix, std::size_t depth)
    {
        const std::size_t common = m_names.commonPrefix(unit.first, unit.last, prefix);
        const std::string_view shared = m_names.mostlyShared(unit.first, unit.last, prefix);
        const bool isOwn = shared.size() > std::max(prefix, m_names.rootPrefix());
        std::string label = shared.size() > m_names.rootPrefix() ? m_names.labelOf(shared) : std::string();
        if (!isOwn && !hasNumber(label))
            label.clear(); // the frame around it tells as much
        const std::string_view title = patterns::titleOf(unit.kind);
        if (label.empty())
            label = std::string(title) + numberOf(unit);
        else if (lettersOf(label).find(lettersOf(title)) == std::string::npos)
            label
                += " · " + std::string(title) + (isOwn && hasNumber(label) ? std::string() : numberOf(unit));
        const LevelItem made = block(
            folded(byNames(unit.first, unit.last, std::max(common, prefix), depth + 1)), std::move(label));
        m_tree.blocks[made.item.id].unit = unit.kind;
        return made;
    }

    /// " 2 of 12" of blocks that have no name of their own.
    std::string numberOf(const UnitGroup &unit) const
    {
        if (unit.kind != patterns::UnitKind::Residual && unit.kind != patterns::UnitKind::TransformerBlock)
            return {};
        std::size_t place = 0;
        std::size_t all = 0;
        for (const UnitGroup &group : m_groups)
            if (group.kind == unit.kind) {
                ++all;
                place += group.first <= unit.first ? 1 : 0;
            }
        return all == 1 ? std::string() : ' ' + std::to_string(place) + " of " + std::to_string(all);
    }

    static bool hasNumber(std::string_view text) { return std::ranges::any_of(text, isDigit); }

    static std::string lettersOf(std::string_view text)
    {
        std::string letters;
        for (const char c : text)
            if (const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
                lower >= 'a' && lower <= 'z')
                letters += lower;
        return letters;
    }

    /// "Attention + MLP" of what a part holds at any depth; empty where neither is there.
    std::string unitsIn(std::span<const LevelItem> part) const
    {
        std::string titles;
        for (auto unit = std::ranges::lower_bound(m_groups, part.front().first, {}, &UnitGroup::first);
             unit != m_groups.end() && unit->first < part.back().last; ++unit) {
            const std::string title(patterns::titleOf(unit->kind));
            const bool isLarge = unit->kind == patterns::UnitKind::Attention
                || unit->kind == patterns::UnitKind::Mlp || unit->kind == patterns::UnitKind::GatedMlp;
            if (isLarge && unit->last <= part.back().last && titles.find(title) == std::string::npos)
                titles += (titles.empty() ? "" : " + ") + title;
        }
        return titles;
    }

    std::string labelOf(std::span<const LevelItem> children) const
    {
        const std::string_view first = m_names.at(children.front().first);
        const std::string_view last = m_names.at(children.back().last - 1);
        return m_names.labelOf(first) + " … " + m_names.labelOf(last);
    }

    LevelItem block(std::span<const LevelItem> children, std::string name)
    {
        Block made;
        made.name = std::move(name);
        for (const LevelItem &child : children) {
            made.children.push_back(child.item);
            made.operators += operatorsOf(child);
        }
        m_tree.blocks.push_back(std::move(made));
        return {children.front().first,
                children.back().last,
                {true, static_cast<BlockId>(m_tree.blocks.size() - 1)}};
    }

    std::vector<LevelItem> folded(std::vector<LevelItem> children)
    {
        return gathered(byStructure(byRepeats(std::move(children))));
    }

    std::size_t operatorsOf(const LevelItem &span) const
    {
        return span.item.isBlock               ? m_tree.blocks[span.item.id].operators
            : m_graph.isVariable(span.item.id) ? 0
                                               : 1;
    }

    /// What the nodes do and how they hang together, whatever they are called.
    std::uint64_t kindOf(const LevelItem &span) const
    {
        constexpr std::size_t kNear = 8; ///< what lies farther back need not be as far in every part
        Fnv1a hash;
        for (std::size_t k = span.first; k < span.last; ++k) {
            hash.add(m_graph.node(m_order[k]).op);
            for (const graph::Entry &input : m_graph.inputs(m_order[k])) {
                if (m_tree.boxOf[input.node] == input.node)
                    hash.add(std::to_string(std::min(k - m_position[input.node], kNear)) + ' ');
            }
        }
        return hash.value();
    }

    /// Parts that come over and over become blocks with a number.
    std::vector<LevelItem> byRepeats(std::vector<LevelItem> children)
    {
        if (children.size() <= kFewChildren)
            return children;
        const std::vector<std::size_t> reach = m_cuts.reachOf(children);
        std::vector<RepeatPlace> places;
        std::vector<std::size_t> ending(children.size() + 1, 0); // by the first border behind
        std::size_t crossing = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            crossing -= ending[i];
            places.push_back({kindOf(children[i]), operatorsOf(children[i]), crossing});
            if (reach[i] > i) {
                ++crossing;
                ++ending[reach[i] + 1];
            }
        }
        std::vector<LevelItem> result;
        std::size_t at = 0;
        for (const Repeat &repeat : findRepeats(places)) {
            result.insert(result.end(), children.begin() + static_cast<std::ptrdiff_t>(at),
                          children.begin() + static_cast<std::ptrdiff_t>(repeat.first));
            const auto partAt = [&](std::size_t k) {
                return std::span<const LevelItem>(children).subspan(repeat.first + k * repeat.period,
                                                                    repeat.period);
            };
            std::vector<std::string> names(repeat.count);
            for (std::size_t k = 0; k < repeat.count; ++k)
                names[k] = numberedName(partAt(k));
            const bool areTelling = areApart(names);
            const std::size_t kind = areTelling ? 0 : ++m_kinds;
            for (std::size_t k = 0; k < repeat.count; ++k) {
                const auto part = partAt(k);
                const std::string units = unitsIn(part);
                std::string name = areTelling ? names[k] + (units.empty() ? "" : " · " + units)
                    : units.empty()           ? labelOf(part)
                                              : units;
                result.push_back(block(folded({part.begin(), part.end()}), std::move(name)));
                m_repeated.resize(m_tree.blocks.size());
                if (!areTelling)
                    m_repeated.back() = {kind, k + 1, repeat.count};
            }
            at = repeat.end();
        }
        result.insert(result.end(), children.begin() + static_cast<std::ptrdiff_t>(at), children.end());
        return result;
    }

    /// "layers.17" where most names of a part begin so, else nothing.
    std::string numberedName(std::span<const LevelItem> part) const
    {
        const std::string_view shared = m_names.mostlyShared(part.front().first, part.back().last, 0);
        std::string name = shared.size() > m_names.rootPrefix() ? m_names.labelOf(shared) : std::string();
        return hasNumber(name) ? name : std::string();
    }

    static bool areApart(std::vector<std::string> names)
    {
        std::ranges::sort(names);
        return !names.front().empty() && std::ranges::adjacent_find(names) == names.end();
    }

    std::vector<LevelItem> byStructure(std::vector<LevelItem> children)
    {
        if (children.size() <= kFewChildren)
            return children;
        const std::vector<std::size_t> cuts = m_cuts.cutsOf(children);
        if (cuts.size() <= 2)
            return children;
        std::vector<LevelItem> result;
        for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
            std::size_t from = cuts[k];
            // Data are no part of what reads them.
            while (from < cuts[k + 1] && !children[from].item.isBlock
                   && m_graph.isVariable(children[from].item.id))
                result.push_back(children[from++]);
            const auto part = std::span(children).subspan(from, cuts[k + 1] - from);
            if (part.size() < kLeastNodes)
                result.insert(result.end(), part.begin(), part.end());
            else
                result.push_back(block(gathered({part.begin(), part.end()}), labelOf(part)));
        }
        return result;
    }

    std::vector<LevelItem> gathered(std::vector<LevelItem> children)
    {
        while (children.size() > kMostChildren) {
            const std::size_t share = std::max(kLeastNodes, (children.size() + 15) / 16);
            std::vector<LevelItem> fewer;
            for (std::size_t at = 0; at < children.size(); at += share) {
                const auto part = std::span(children).subspan(at, std::min(share, children.size() - at));
                if (part.size() < kLeastNodes) {
                    fewer.insert(fewer.end(), part.begin(), part.end());
                    continue;
                }
                const std::vector<LevelItem> inner = gathered({part.begin(), part.end()});
                fewer.push_back(block(inner, labelOf(part)));
            }
            children = std::move(fewer);
        }
        return children;
    }

    const graph::Graph &m_graph;
    BlockTree m_tree;
    UnitOrder m_ordered;
    const std::vector<NodeId> &m_order = m_ordered.nodes;
    const std::vector<UnitGroup> &m_groups = m_ordered.groups;
    OrderedNames m_names;
    std::vector<std::size_t> m_position; ///< by NodeId
    LevelCuts m_cuts;
    std::vector<RepeatedPart> m_repeated; ///< by block, as far as it reaches
    std::size_t m_kinds = 0; ///< of parts that are repeated and have no name
};

} // namespace

BlockTree foldGraph(const graph::Graph &graph, const std::vector<char> &drawn,
                    std::span<const patterns::Unit> units)
{
    BlockTree flat = flatTree(graph, drawn);
    if (flat.blocks[kRoot].children.empty())
        return flat;
    return Folder(graph, std::move(flat), units).fold();
}

BlockTree foldModel(const graph::Model &model, const std::vector<char> &drawn)
{
    return foldGraph(model.graph, drawn, patterns::findAllUnits(patterns::networkOf(model)));
}

} // namespace halftone::layout

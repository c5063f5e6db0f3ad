#include "core/base/fnv1a.h"
#include "core/layout/block_tree.h"
#include "core/layout/name_parts.h"
#include "core/layout/repeats.h"
#include "core/layout/unit_groups.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace halftone::layout {
namespace {

using graph::NodeId;

constexpr std::size_t kLeastNodes = 4; ///< fewer are no block
constexpr std::size_t kMostChildren = 24; ///< more are gathered
constexpr std::size_t kFewChildren = 24; ///< up to here structure is left alone
constexpr std::size_t kChain = 9; ///< about as many nodes of a chain make a block
constexpr std::size_t kMostParts = 64; ///< of a name that are looked at

/// A child under construction: the positions [first, last) of the order.
struct Span
{
    std::size_t first = 0;
    std::size_t last = 0;
    ItemRef item;

    std::size_t size() const { return last - first; }
};

/// What a block is of a part that comes over and over and has no name of its own.
struct RepeatedPart
{
    std::size_t kind = 0; ///< a number for each part that is repeated, from 1 on; 0: the block is none
    std::size_t place = 0; ///< from 1 on
    std::size_t count = 0;
};

/// "A" to "Z", "AA" and so on.
std::string letterOf(std::size_t index)
{
    std::string letters;
    for (++index; index > 0; index = (index - 1) / 26)
        letters.insert(letters.begin(), static_cast<char>('A' + (index - 1) % 26));
    return letters;
}

class Folder
{
public:
    Folder(const graph::Graph &graph, BlockTree tree, std::span<const patterns::Unit> units)
        : m_graph(graph)
        , m_tree(std::move(tree))
        , m_position(graph.nodeCount(), 0)
        , m_spanAt(m_tree.blocks[kRoot].children.size(), 0)
    {
        for (const ItemRef &item : m_tree.blocks[kRoot].children)
            m_order.push_back(item.id);
        UnitOrder ordered = orderByUnits(graph, m_order, units);
        m_order = std::move(ordered.nodes);
        m_groups = std::move(ordered.groups);
        for (std::size_t k = 0; k < m_order.size(); ++k)
            m_position[m_order[k]] = k;
        nameConstants();
        m_rootPrefix = commonPrefix(0, m_order.size(), 0);
        m_untoldPrefix = untoldOf(m_rootPrefix);
    }

    BlockTree fold()
    {
        std::vector<Span> children = folded(byNames(0, m_order.size(), m_rootPrefix, 1));
        m_tree.blocks[kRoot].children.clear();
        for (const Span &child : children)
            m_tree.blocks[kRoot].children.push_back(child.item);
        return numbered();
    }

private:
    const std::string &nameAt(std::size_t position) const { return m_graph.node(m_named[position]).name; }

    /// Exporters call constants by number wherever they stand: they go by the name of who reads them.
    void nameConstants()
    {
        m_named = m_order;
        std::vector<NodeId> reader(m_graph.nodeCount(), 0);
        for (std::size_t k = m_order.size(); k-- > 0;) {
            const NodeId id = m_order[k];
            for (const graph::Entry &input : m_graph.inputs(id))
                reader[input.node] = m_named[k];
            if (m_graph.inputs(id).empty() && !m_graph.isVariable(id) && reader[id] != 0)
                m_named[k] = reader[id];
        }
    }

    /// How many characters the operators' names share, in whole parts.
    std::size_t commonPrefix(std::size_t first, std::size_t last, std::size_t length) const
    {
        for (std::size_t parts = 0; parts < kMostParts; ++parts) {
            std::size_t next = 0;
            std::string_view prefix;
            for (std::size_t k = first; k < last; ++k) {
                if (m_graph.isVariable(m_order[k]))
                    continue;
                const std::string_view name = nameAt(k);
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

    /// Without its last part where a number follows: "layers.17" tells more than "17".
    std::size_t untoldOf(std::size_t prefix) const
    {
        const auto isNumbered = [&](NodeId id) {
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

    /// What three of four operators' names begin with, in whole parts: a constant or a cast that an exporter named otherwise hides
    /// no block's name. At least the first `prefix` characters of the first one.
    std::string_view mostlyShared(std::size_t first, std::size_t last, std::size_t prefix) const
    {
        std::string_view shared = std::string_view(nameAt(first)).substr(0, prefix);
        for (std::size_t parts = 0; parts < kMostParts; ++parts) {
            std::string_view candidate; // the only one that more than half may have (Boyer and Moore, 1991)
            std::size_t lead = 0;
            std::size_t operators = 0;
            const auto partAt = [&](std::size_t k) {
                const std::string_view name = nameAt(k);
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

    std::string_view keyAt(std::size_t position, std::size_t prefix) const
    {
        const std::string_view name = nameAt(position);
        return name.size() > prefix ? name.substr(0, endOfPart(name, prefix)) : std::string_view();
    }

    /// The end of the run of equal keys that begins at `first`; up to two others within it are taken along. A run of one
    /// operator alone ("relu_1, relu_2") is none: such names count, they do not group.
    std::size_t endOfRun(std::size_t first, std::size_t last, std::size_t prefix) const
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

    std::vector<Span> byNames(std::size_t first, std::size_t last, std::size_t prefix, std::size_t depth)
    {
        std::vector<Span> children;
        for (std::size_t at = first; at < last;) {
            const std::string_view key = keyAt(at, prefix);
            const UnitGroup *const unit = unitAt(at, last - first);
            const std::size_t end
                = key.empty() ? at + 1 : endOfWhole(at, endOfRun(at, last, prefix), last - first);
            const bool isRun = end - at >= kLeastNodes && end - at != last - first && depth <= kMostParts / 4;
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
            const std::size_t inner = std::max(key.size(), commonPrefix(at, end, key.size()));
            const std::vector<Span> grandchildren = folded(byNames(at, end, inner, depth + 1));
            children.push_back(block(grandchildren, labelOf(nameAt(at).substr(0, inner))));
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

    Span unitBlock(const UnitGroup &unit, std::size_t prefix, std::size_t depth)
    {
        const std::size_t common = commonPrefix(unit.first, unit.last, prefix);
        const std::string_view shared = mostlyShared(unit.first, unit.last, prefix);
        const bool isOwn = shared.size() > std::max(prefix, m_rootPrefix);
        std::string label = shared.size() > m_rootPrefix ? labelOf(shared) : std::string();
        if (!isOwn && !hasNumber(label))
            label.clear(); // the frame around it tells as much
        const std::string_view title = patterns::titleOf(unit.kind);
        if (label.empty())
            label = std::string(title) + numberOf(unit);
        else if (lettersOf(label).find(lettersOf(title)) == std::string::npos)
            label
                += " · " + std::string(title) + (isOwn && hasNumber(label) ? std::string() : numberOf(unit));
        const Span made = block(folded(byNames(unit.first, unit.last, std::max(common, prefix), depth + 1)),
                                std::move(label));
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
    std::string unitsIn(std::span<const Span> part) const
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

    std::string labelOf(std::string_view prefix) const
    {
        if (prefix.size() > m_untoldPrefix)
            prefix.remove_prefix(m_untoldPrefix);
        while (!prefix.empty() && isSeparator(prefix.back()))
            prefix.remove_suffix(1);
        while (!prefix.empty() && isSeparator(prefix.front()))
            prefix.remove_prefix(1);
        return std::string(prefix);
    }

    std::string labelOf(std::span<const Span> children) const
    {
        const std::string_view first = nameAt(children.front().first);
        const std::string_view last = nameAt(children.back().last - 1);
        return labelOf(first) + " … " + labelOf(last);
    }

    Span block(std::span<const Span> children, std::string name)
    {
        Block made;
        made.name = std::move(name);
        for (const Span &child : children) {
            made.children.push_back(child.item);
            made.operators += operatorsOf(child);
        }
        m_tree.blocks.push_back(std::move(made));
        return {children.front().first,
                children.back().last,
                {true, static_cast<BlockId>(m_tree.blocks.size() - 1)}};
    }

    std::vector<Span> folded(std::vector<Span> children)
    {
        return gathered(byStructure(byRepeats(std::move(children))));
    }

    std::size_t operatorsOf(const Span &span) const
    {
        return span.item.isBlock               ? m_tree.blocks[span.item.id].operators
            : m_graph.isVariable(span.item.id) ? 0
                                               : 1;
    }

    /// What the nodes do and how they hang together, whatever they are called.
    std::uint64_t kindOf(const Span &span) const
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
    std::vector<Span> byRepeats(std::vector<Span> children)
    {
        if (children.size() <= kFewChildren)
            return children;
        const std::vector<std::size_t> reach = reachOf(children);
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
        std::vector<Span> result;
        std::size_t at = 0;
        for (const Repeat &repeat : findRepeats(places)) {
            result.insert(result.end(), children.begin() + static_cast<std::ptrdiff_t>(at),
                          children.begin() + static_cast<std::ptrdiff_t>(repeat.first));
            const auto partAt = [&](std::size_t k) {
                return std::span<const Span>(children).subspan(repeat.first + k * repeat.period,
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
    std::string numberedName(std::span<const Span> part) const
    {
        const std::string_view shared = mostlyShared(part.front().first, part.back().last, 0);
        std::string name = shared.size() > m_rootPrefix ? labelOf(shared) : std::string();
        return hasNumber(name) ? name : std::string();
    }

    static bool areApart(std::vector<std::string> names)
    {
        std::ranges::sort(names);
        return !names.front().empty() && std::ranges::adjacent_find(names) == names.end();
    }

    /// By index into `children`: the farthest one that reads something of it.
    std::vector<std::size_t> reachOf(std::span<const Span> children)
    {
        std::vector<std::size_t> reach(children.size(), 0);
        for (std::size_t i = 0; i < children.size(); ++i)
            for (std::size_t k = children[i].first; k < children[i].last; ++k)
                m_spanAt[k] = i;
        const std::size_t start = children.front().first;
        for (std::size_t k = start; k < children.back().last; ++k) {
            for (const graph::Entry &input : m_graph.inputs(m_order[k])) {
                const std::size_t from = m_position[m_tree.boxOf[input.node]];
                if (m_tree.boxOf[input.node] == input.node && from >= start && from < k)
                    reach[m_spanAt[from]] = std::max(reach[m_spanAt[from]], m_spanAt[k]);
            }
        }
        return reach;
    }

    /// By index into `children`: nothing goes past it, all paths go through.
    std::vector<char> waistsOf(std::span<const Span> children)
    {
        const std::vector<std::size_t> reach = reachOf(children);
        std::vector<char> isWaist(children.size(), 0);
        std::size_t farthest = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            isWaist[i] = farthest <= i ? 1 : 0;
            farthest = std::max(farthest, reach[i]);
        }
        return isWaist;
    }

    /// Where the next block of a level begins: behind a branching part and what little follows it, or in a chain before
    /// an operator like the chain's first.
    std::vector<std::size_t> cutsOf(std::span<const Span> children)
    {
        const std::vector<char> isWaist = waistsOf(children);
        const std::size_t n = children.size();
        std::vector<std::size_t> cuts{0};
        std::size_t at = 0;
        while (at < n) {
            std::size_t chain = at; // end of the run of waists
            while (chain < n && isWaist[chain] != 0)
                ++chain;
            const std::size_t fork = chain < n && chain > at ? chain - 1 : chain;
            if (at > 0 && chain - at <= 3 && chain < n) {
                cuts.push_back(chain); // too short a chain: belongs to the block before it
            } else {
                cutChain(children, at, chain, cuts);
                if (chain < n && fork + 1 > at)
                    cuts.push_back(chain);
            }
            std::size_t join = chain; // the waist that ends the branching part
            while (join < n && isWaist[join] == 0)
                ++join;
            at = std::min(n, join + 1);
            if (join < n && at < n) {
                std::size_t next = at;
                while (next < n && isWaist[next] != 0)
                    ++next;
                if (next - at > 3 || next == n)
                    cuts.push_back(at);
            }
        }
        cuts.push_back(n);
        std::ranges::sort(cuts);
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        return cuts;
    }

    void cutChain(std::span<const Span> children, std::size_t first, std::size_t last,
                  std::vector<std::size_t> &cuts) const
    {
        const auto opAt = [&](std::size_t k) {
            return children[k].item.isBlock ? m_graph.nodeCount() : m_graph.opOf(m_order[children[k].first]);
        };
        while (first < last && m_graph.isVariable(m_order[children[first].first]))
            ++first;
        std::size_t begun = first;
        for (std::size_t k = first; k < last; ++k) {
            const std::size_t length = k - begun;
            if (last - k >= kLeastNodes
                && ((length >= kChain && opAt(k) == opAt(first)) || length >= 2 * kChain)) {
                cuts.push_back(k);
                begun = k;
            }
        }
    }

    std::vector<Span> byStructure(std::vector<Span> children)
    {
        if (children.size() <= kFewChildren)
            return children;
        const std::vector<std::size_t> cuts = cutsOf(children);
        if (cuts.size() <= 2)
            return children;
        std::vector<Span> result;
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

    std::vector<Span> gathered(std::vector<Span> children)
    {
        while (children.size() > kMostChildren) {
            const std::size_t share = std::max(kLeastNodes, (children.size() + 15) / 16);
            std::vector<Span> fewer;
            for (std::size_t at = 0; at < children.size(); at += share) {
                const auto part = std::span(children).subspan(at, std::min(share, children.size() - at));
                if (part.size() < kLeastNodes) {
                    fewer.insert(fewer.end(), part.begin(), part.end());
                    continue;
                }
                const std::vector<Span> inner = gathered({part.begin(), part.end()});
                fewer.push_back(block(inner, labelOf(part)));
            }
            children = std::move(fewer);
        }
        return children;
    }

    /// The tree with parents before their children.
    BlockTree numbered() const
    {
        BlockTree result;
        result.commonPrefix = m_untoldPrefix;
        result.blockOf = m_tree.blockOf;
        result.boxOf = m_tree.boxOf;
        result.blocks.push_back(m_tree.blocks[kRoot]);
        std::vector<RepeatedPart> repeated(1); // by the new id
        for (BlockId id = 0; id < result.blocks.size(); ++id) {
            for (std::size_t k = 0; k < result.blocks[id].children.size(); ++k) {
                ItemRef &child = result.blocks[id].children[k];
                if (!child.isBlock) {
                    result.blockOf[child.id] = id;
                    continue;
                }
                Block inner = m_tree.blocks[child.id];
                inner.parent = id;
                inner.depth = result.blocks[id].depth + 1;
                repeated.push_back(child.id < m_repeated.size() ? m_repeated[child.id] : RepeatedPart());
                child.id = static_cast<BlockId>(result.blocks.size());
                result.blocks.push_back(
                    std::move(inner)); // may move the blocks: `child` is not used after this
            }
        }
        nameRepeats(result, repeated);
        return result;
    }

    /// "block 2 of 12: …"; "block 2.1 of 3: …" in such a block; "block B1 of 2: …" of the second kind that comes twice.
    static void nameRepeats(BlockTree &tree, const std::vector<RepeatedPart> &repeated)
    {
        std::vector<BlockId> within(tree.blocks.size(), kRoot); // the nearest repeated block above
        std::map<std::pair<BlockId, std::size_t>, std::vector<std::size_t>> kinds; // by where and how often
        for (BlockId id = 1; id < tree.blocks.size(); ++id) {
            const BlockId parent = tree.blocks[id].parent;
            within[id] = repeated[parent].kind != 0 ? parent : within[parent];
            if (repeated[id].kind == 0)
                continue;
            std::vector<std::size_t> &alike = kinds[{within[id], repeated[id].count}];
            if (std::ranges::find(alike, repeated[id].kind) == alike.end())
                alike.push_back(repeated[id].kind);
        }
        std::vector<std::string> numbers(tree.blocks.size());
        for (BlockId id = 1; id < tree.blocks.size(); ++id) {
            const RepeatedPart &part = repeated[id];
            if (part.kind == 0)
                continue;
            const std::vector<std::size_t> &alike = kinds.at({within[id], part.count});
            const auto kind = static_cast<std::size_t>(std::ranges::find(alike, part.kind) - alike.begin());
            if (within[id] != kRoot)
                numbers[id] = numbers[within[id]] + '.';
            numbers[id] += (alike.size() > 1 ? letterOf(kind) : std::string()) + std::to_string(part.place);
            std::string &name = tree.blocks[id].name;
            name.insert(0, "block " + numbers[id] + " of " + std::to_string(part.count) + ": ");
        }
    }

    const graph::Graph &m_graph;
    BlockTree m_tree;
    std::vector<NodeId> m_order;
    std::vector<NodeId> m_named; ///< by position: the node whose name counts
    std::vector<UnitGroup> m_groups;
    std::vector<std::size_t> m_position; ///< by NodeId
    std::vector<std::size_t> m_spanAt; ///< by position, scratch of waistsOf()
    std::vector<RepeatedPart> m_repeated; ///< by block, as far as it reaches
    std::size_t m_kinds = 0; ///< of parts that are repeated and have no name
    std::size_t m_rootPrefix = 0; ///< that all operators' names begin with
    std::size_t m_untoldPrefix = 0; ///< of it, what no block's name tells
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

#include "core/layout/block_numbers.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace halftone::layout {
namespace {

/// "A" to "Z", "AA" and so on.
std::string letterOf(std::size_t index)
{
    std::string letters;
    for (++index; index > 0; index = (index - 1) / 26)
        letters.insert(letters.begin(), static_cast<char>('A' + (index - 1) % 26));
    return letters;
}

/// "block 2 of 12: …"; "block 2.1 of 3: …" in such a block; "block B1 of 2: …" of the second kind that comes twice.
void nameRepeats(BlockTree &tree, const std::vector<RepeatedPart> &repeated)
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

} // namespace

BlockTree numberedTree(const BlockTree &made, const std::vector<RepeatedPart> &repeatedParts)
{
    BlockTree result;
    result.commonPrefix = made.commonPrefix;
    result.blockOf = made.blockOf;
    result.boxOf = made.boxOf;
    result.blocks.push_back(made.blocks[kRoot]);
    std::vector<RepeatedPart> repeated(1); // by the new id
    for (BlockId id = 0; id < result.blocks.size(); ++id) {
        for (std::size_t k = 0; k < result.blocks[id].children.size(); ++k) {
            ItemRef &child = result.blocks[id].children[k];
            if (!child.isBlock) {
                result.blockOf[child.id] = id;
                continue;
            }
            Block inner = made.blocks[child.id];
            inner.parent = id;
            inner.depth = result.blocks[id].depth + 1;
            repeated.push_back(child.id < repeatedParts.size() ? repeatedParts[child.id] : RepeatedPart());
            child.id = static_cast<BlockId>(result.blocks.size());
            result.blocks.push_back(std::move(inner)); // may move the blocks: `child` is not used after this
        }
    }
    nameRepeats(result, repeated);
    return result;
}

} // namespace halftone::layout

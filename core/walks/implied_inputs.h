#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/arrays/npz.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::walks {

/// The names that exporters give to inputs of decoders.
constexpr std::string_view kMask
    = "attention_mask"; ///< 1 for every step of the caches and of the text that counts
constexpr std::string_view kPositions = "position_ids";
constexpr std::string_view kCaches = "past"; ///< what these names begin with

/// The keys or values of steps before those that are fed.
bool isCache(std::string_view name);
/// A mask, positions or a cache.
bool isImplied(std::string_view name);

/// Inputs of a decoder that the data leave out.
struct ImpliedInputs
{
    std::vector<io::NamedTensor> arrays;
    std::vector<std::string> notes; ///< what was chosen
};

/// Caches are empty (0 along their one unknown axis but the first), masks are ones, positions are counted from the caches' length on. An input
/// whose shape is not known is left out.
/// given  what the data hold; the first array's first axis counts examples, the tokens are the first integer array of two axes
/// fails: NoMemory
Result<ImpliedInputs> impliedInputs(const graph::Model &model, const std::vector<io::NamedTensor> &given);

} // namespace halftone::walks

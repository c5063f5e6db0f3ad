#include "core/rewrite/rewrite.h"

#include "core/rewrite/fold_casts.h"
#include "core/rewrite/inline_calls.h"
#include "core/rewrite/prune.h"
#include "core/rewrite/share_nodes.h"
#include "core/rewrite/strip_casts.h"

#include <algorithm>
#include <array>

namespace halftone::rewrite {
namespace {

constexpr std::array kPasses{
    RewritePass{"share", "Merge nodes that compute the same (common subexpressions)", shareNodes},
    RewritePass{"fold-casts",
                "Remove casts to the type that the tensor has anyway, and casts that a following one undoes",
                foldCasts},
    RewritePass{"strip-casts", "Remove all casts of mixed precision but those at heads; widen 16-bit weights",
                stripCasts},
    RewritePass{"inline-functions", "Put the nodes of functions in the place of their calls", inlineCalls},
    RewritePass{"prune", "Remove nodes that no output needs, and parameters that no node reads", prune},
};

} // namespace

std::span<const RewritePass> rewritePasses()
{
    return kPasses;
}

const RewritePass *findRewritePass(std::string_view name)
{
    const auto *const found = std::ranges::find(kPasses, name, &RewritePass::name);
    return found == kPasses.end() ? nullptr : found;
}

} // namespace halftone::rewrite

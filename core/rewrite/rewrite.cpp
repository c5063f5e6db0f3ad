#include "core/rewrite/rewrite.h"

#include "core/rewrite/fold_casts.h"
#include "core/rewrite/fold_constants.h"
#include "core/rewrite/inline_calls.h"
#include "core/rewrite/prune.h"
#include "core/rewrite/raise_version.h"
#include "core/rewrite/share_nodes.h"
#include "core/rewrite/simplify_shapes.h"
#include "core/rewrite/strip_casts.h"

#include <algorithm>
#include <array>

namespace halftone::rewrite {
namespace {

using Simple = Result<Rewritten> (*)(const graph::Model &model, const Progress &progress);

/// A pass that needs nothing beside the model.
template <Simple simple>
Result<Rewritten> plain(const graph::Model &model, const RewriteRequest &request)
{
    return simple(model, request.progress);
}

constexpr std::array kPasses{
    RewritePass{"share", "Merge nodes that compute the same (common subexpressions)", plain<shareNodes>},
    RewritePass{"fold-casts",
                "Remove casts to the type the tensor already has, and casts that the next cast undoes",
                plain<foldCasts>},
    RewritePass{"strip-casts",
                "Remove all mixed-precision casts except those at outputs, and widen 16-bit weights",
                plain<stripCasts>},
    RewritePass{"fold-constants", "Compute nodes that only depend on constants, and store the result",
                foldConstants},
    RewritePass{"simplify-shapes",
                "Replace shape arithmetic by constants where the declared shapes determine the result",
                simplifyShapes},
    RewritePass{"inline-functions", "Inline functions: replace each call by the nodes of its body",
                plain<inlineCalls>},
    RewritePass{"raise-opset", "Raise the opset to at least N", raiseVersion, true},
    RewritePass{"dead-code", "Remove nodes that no output needs, and parameters that no node reads",
                plain<prune>},
};

} // namespace

std::span<const RewritePass> rewritePasses()
{
    return kPasses;
}

const RewritePass *findRewritePass(std::string_view name)
{
    if (name == "prune") // as it was called once
        name = "dead-code";
    const auto *const found = std::ranges::find(kPasses, name, &RewritePass::name);
    return found == kPasses.end() ? nullptr : found;
}

} // namespace halftone::rewrite

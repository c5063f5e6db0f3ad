#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::rewrite {

/// What a rewriting pass made of a model.
struct Rewritten
{
    graph::Model model;
    std::size_t changed = 0; ///< nodes and arrays that are gone or different; 0: the model is as it was
    std::vector<std::string>
        notes; ///< what a person should know: names that vanished, values that stay rounded
};

/// A pass that takes a model to a model of the same function, without a policy.
struct RewritePass
{
    std::string_view name; ///< as the command line calls it
    std::string_view help;
    Result<Rewritten> (*run)(const graph::Model &model, const Progress &progress);
};

/// The passes there are, in the order in which `--list` shows them.
std::span<const RewritePass> rewritePasses();
const RewritePass *findRewritePass(std::string_view name);

} // namespace halftone::rewrite

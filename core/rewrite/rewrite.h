#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::rewrite {

/// The result of a rewriting pass.
struct Rewritten
{
    graph::Model model;
    std::size_t changed = 0; ///< number of removed or changed nodes and arrays; 0: the model is unchanged
    std::vector<std::string> notes; ///< remarks for the user: removed names, values that stay rounded
};

/// Settings of a pass.
struct RewriteRequest
{
    Progress progress{};
    int number = 0; ///< for passes with a number
    std::set<std::string, std::less<>>
        replaceable{}; ///< parameters that callers of the model may replace by inputs
    /// Computes the outputs of a model without inputs. fails: as interpret::Interpreter; null: nothing is computed
    std::function<Result<std::vector<tensor::Tensor>>(const graph::Model &model)> compute{};
};

/// A pass that rewrites a model without changing what it computes, independent of a policy.
struct RewritePass
{
    std::string_view name; ///< name on the command line
    std::string_view help;
    Result<Rewritten> (*run)(const graph::Model &model, const RewriteRequest &request);
    bool takesNumber = false; ///< given as "NAME=N"
};

/// All passes, in the order of `--list`.
std::span<const RewritePass> rewritePasses();
const RewritePass *findRewritePass(std::string_view name);

} // namespace halftone::rewrite

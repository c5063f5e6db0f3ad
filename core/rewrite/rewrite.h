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

/// What a rewriting pass made of a model.
struct Rewritten
{
    graph::Model model;
    std::size_t changed = 0; ///< nodes and arrays that are gone or different; 0: the model is as it was
    std::vector<std::string>
        notes; ///< what a person should know: names that vanished, values that stay rounded
};

/// What a pass gets beside the model.
struct RewriteRequest
{
    Progress progress{};
    int number = 0; ///< of a pass that takes one
    std::set<std::string, std::less<>>
        replaceable{}; ///< parameters in whose place callers of the model may feed others
    /// What a model without inputs gives, head by head. fails: as interpret::Interpreter; null: nothing is computed
    std::function<Result<std::vector<tensor::Tensor>>(const graph::Model &model)> compute{};
};

/// A pass that takes a model to a model of the same function, without a policy.
struct RewritePass
{
    std::string_view name; ///< as the command line calls it
    std::string_view help;
    Result<Rewritten> (*run)(const graph::Model &model, const RewriteRequest &request);
    bool takesNumber = false; ///< is chosen as "NAME=N"
};

/// The passes there are, in the order in which `--list` shows them.
std::span<const RewritePass> rewritePasses();
const RewritePass *findRewritePass(std::string_view name);

} // namespace halftone::rewrite

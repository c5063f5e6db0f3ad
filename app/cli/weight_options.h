#pragma once

#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "core/base/result.h"
#include "core/policy/policy.h"
#include "core/session/session.h"
#include "core/weights/lower_weights.h"

#include <string>
#include <vector>

namespace halftone::cli {

/// Formats of weights: shared by the commands that store or measure them.
struct WeightOptions
{
    std::vector<std::string> weights; ///< [TARGET=]FORMAT
    std::string method;
    std::string form;

    /// What the command has for weights beside rules.
    struct Extras
    {
        bool takesForm = false; ///< it writes, and has no other use for --form
        bool takesData = false; ///< methods that need data
    };
    void addTo(Command &command, Extras extras);
    bool isGiven() const { return !weights.empty(); }
    /// Adds the rules to those of the policy's file. fails: BadCall for a format that is none, and for a method or form without weights
    Result<void> apply(policy::Policy &policy) const;
};

/// What a policy says of weights.
weights::WeightsRequest weightsOf(const policy::Policy &policy);

/// A failure that concerns no option concerns the model.
Error aboutModel(Error error, const session::Session &session);

/// `weights` and `bits_per_weight`.
void addWeightsJson(const weights::LoweredModel &lowered, Json &json);
/// A line for each format, and one for all.
std::string weightsText(const weights::LoweredModel &lowered);

} // namespace halftone::cli

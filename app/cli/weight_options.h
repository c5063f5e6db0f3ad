#pragma once

#include "app/cli/parser.h"
#include "core/base/result.h"
#include "core/policy/policy_options.h"
#include "core/quantize/quantize.h"
#include "core/session/session.h"
#include "core/weights/lower_weights.h"

#include <string>
#include <vector>

namespace halftone::cli {

/// Formats of weights: shared by the commands that store or measure them.
struct WeightOptions
{
    policy::WeightTexts texts;

    /// What the command has for weights beside rules.
    struct Extras
    {
        bool takesForm = false; ///< it writes, and has no other use for --form
        bool takesData = false; ///< methods that need data
    };
    void addTo(Command &command, Extras extras);
    bool isGiven() const { return !texts.rules.empty(); }
};

/// A failure that concerns no option concerns the model.
Error aboutModel(Error error, const session::Session &session);

/// Nodes under a heading of `title`.
std::string skippedText(const std::vector<quantize::SkippedNode> &nodes, const std::string &title);

/// A line for each format, one for all, and one for each node that stays as it is.
std::string weightsText(const weights::LoweredModel &lowered);

} // namespace halftone::cli

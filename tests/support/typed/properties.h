#pragma once

#include "core/mixed/convert_model.h"
#include "tests/support/typed/random_graph.h"
#include "tests/support/typed/type_oracle.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::test {

/// A case, what mode typed made of it, and what the oracle says of both.
struct Outcome
{
    const TypedCase &given;
    tensor::DType target;
    std::vector<bool> isParameter; ///< by source NodeId; of variables
    OracleTypes before;
    mixed::ConvertedModel converted;
    OracleTypes after;

    const graph::Graph &source() const { return given.model.graph; }
    const graph::Graph &result() const { return converted.model.graph; }
    const rewrite::Conversion &log() const { return converted.conversion; }
};

/// One promise of mode typed. `violation` says how it is broken, nothing when it holds.
struct Property
{
    const char *name;
    std::string (*violation)(const Outcome &outcome);
};

std::span<const Property> typedProperties();

struct Violation
{
    std::string property;
    std::string text;
};

/// What a test does to a conversion to see who notices.
using Damage = std::function<void(mixed::ConvertedModel &converted)>;

/// Converts and checks. "converts" stands first, and alone when it does not hold. A policy that is refused by itself
/// violates nothing: nothing is given then.
std::optional<std::vector<Violation>> violationsOf(const TypedCase &given, const Damage &damage = {});

/// Does that property not hold?
bool violates(const TypedCase &given, const std::string &property);

/// How a variable comes: the policy's input_dtypes, the stored array, `__dtype__`, else float32.
tensor::DType typeOfVariable(const TypedCase &given, graph::NodeId variable);

} // namespace halftone::test

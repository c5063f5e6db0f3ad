#include "core/mixed/hold/function_calls.h"

#include "core/base/text.h"
#include "core/dialect/calls.h"
#include "core/dialect/dialect.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::NodeId;

struct KeptCalls
{
    std::vector<std::string> nodes;
    std::set<std::string> operators;
};

/// assignment  null: of a body, of whose nodes it says nothing
void addKept(const graph::Graph &source, const policy::Assignment *assignment,
             const rewrite::Conversion &conversion, KeptCalls &kept)
{
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (conversion.precisionOf(id) != tensor::DType::F32 || !dialect::isCall(source, id))
            continue;
        if (assignment != nullptr && assignment->requested(id) == policy::Request::Fp32)
            continue;
        kept.nodes.push_back(source.node(id).name);
        kept.operators.insert(source.node(id).op);
    }
}

void collectOperators(const graph::Graph &graph, std::set<std::string_view> &operators)
{
    operators.insert(graph.operatorNames().begin(), graph.operatorNames().end());
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const auto &body : graph.node(id).subgraphs)
            collectOperators(*body, operators);
}

} // namespace

std::optional<policy::Warning> keptCalls(const graph::Graph &source, const policy::Assignment &assignment,
                                         const rewrite::Conversion &conversion)
{
    KeptCalls kept;
    rewrite::forConversions(source, conversion, [&](const graph::Graph &of, const auto &made) {
        addKept(of, &of == &source ? &assignment : nullptr, made, kept);
    });
    if (kept.nodes.empty())
        return std::nullopt;
    const bool isOne = kept.nodes.size() == 1;
    return policy::Warning{
        "functions",
        joined(std::vector<std::string>(kept.operators.begin(), kept.operators.end())) + ": "
            + (isOne ? "one call stays" : std::to_string(kept.nodes.size()) + " calls stay")
            + " in float32; to lower what " + (isOne ? "it computes" : "they compute")
            + ", inline the function" + (isOne ? "" : "s")
            + " (pass inline-functions) or add the operator to the target list",
        "functions_kept", std::move(kept.nodes)};
}

void warnOfAbsent(const graph::Graph &graph, const policy::Rules &rules,
                  std::vector<policy::Warning> &warnings)
{
    std::set<std::string> named;
    const auto add = [&](const auto &places) {
        for (const auto &[op, place] : places)
            if (place.origin != policy::Origin::BuiltIn && op.find('.') != std::string::npos
                && dialect::of(graph).findOp(op) == nullptr)
                named.insert(op);
    };
    add(rules.places);
    add(rules.int8);
    if (named.empty())
        return;
    std::set<std::string_view> operators;
    collectOperators(graph, operators);
    for (const std::string &op : named)
        if (!operators.contains(op))
            warnings.push_back({"operator \"" + op + '"', "no node of the model uses it"});
}

} // namespace halftone::mixed

#include "tests/support/typed/properties.h"

#include "core/dialect/registry.h"
#include "core/graph/traverse.h"
#include "tests/support/typed/body_properties.h"
#include "tests/support/typed/graph_edit.h"
#include "tests/support/typed/replay.h"
#include "tests/support/typed/type_aware_model.h"

#include <algorithm>
#include <map>
#include <set>

namespace halftone::test {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
using policy::Request;
using rewrite::kNoNode;
using tensor::DType;

std::string quoted(const NodeDef &node)
{
    return node.op + " \"" + node.name + '"';
}
std::string typeName(DType type)
{
    return std::string(tensor::nameOf(type));
}

bool isCast(const NodeDef &node)
{
    return node.op == "amp_cast" || node.op == "amp_multicast";
}

DType typeAfter(const Outcome &o, const Entry &entry)
{
    return o.after.outputs[entry.node][entry.output];
}
DType typeBefore(const Outcome &o, const Entry &entry)
{
    return o.before.outputs[entry.node][entry.output];
}

template <class Check>
std::string firstOfNodes(const Graph &graph, Check check)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (std::string violation = check(id, graph.node(id)); !violation.empty())
            return violation;
    }
    return {};
}

std::string noCastBetweenEqualTypes(const Outcome &o)
{
    return firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
        if (node.op != "amp_cast")
            return std::string();
        const DType from = typeAfter(o, o.result().inputs(id)[0]);
        return from != DType::Unknown && from == typeAfter(o, {id, 0, 0})
            ? quoted(node) + " casts " + typeName(from)
            : std::string();
    });
}

std::string noCastOfACast(const Outcome &o)
{
    return firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
        if (!isCast(node))
            return std::string();
        const NodeDef &before = o.result().node(o.result().inputs(id)[0].node);
        return isCast(before) ? quoted(node) + " casts " + quoted(before) : std::string();
    });
}

std::string noTwoCastsOfOneTensorToOneType(const Outcome &o)
{
    std::map<std::tuple<NodeId, std::uint32_t, std::string>, std::string> casts;
    return firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
        if (node.op != "amp_cast")
            return std::string();
        const Entry &tensor = o.result().inputs(id)[0];
        const auto [first, isNew]
            = casts.try_emplace({tensor.node, tensor.output, *node.attributes.find("dtype")}, node.name);
        return isNew ? std::string() : quoted(node) + " repeats " + first->second;
    });
}

std::string noMulticastIsLeft(const Outcome &o)
{
    return firstOfNodes(o.result(), [](NodeId, const NodeDef &node) {
        return node.op == "amp_multicast" ? quoted(node) : std::string();
    });
}

std::string nodesAreInTopologicalOrder(const Outcome &o)
{
    return firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
        const bool inputsAhead
            = std::ranges::any_of(o.result().inputs(id), [id](const Entry &e) { return e.node >= id; });
        const bool dependsAhead = std::ranges::any_of(o.result().controlDependencies(id),
                                                      [id](NodeId dependency) { return dependency >= id; });
        return inputsAhead || dependsAhead ? quoted(node) + " stands before what it needs" : std::string();
    });
}

std::string nodesKeepTheirOrder(const Outcome &o)
{
    std::set<NodeId> inPlaceOfATwin;
    for (const rewrite::MergedNode &merged : o.log().merged)
        inPlaceOfATwin.insert(merged.into);
    NodeId last = 0;
    for (const NodeId id : graph::postOrder(o.source())) {
        const NodeId copy = o.log().fromSource[id];
        if (copy == kNoNode || inPlaceOfATwin.contains(id))
            continue;
        if (copy < last)
            return quoted(o.source().node(id)) + " moved ahead";
        last = copy;
    }
    return {};
}

std::string namesAreUnique(const Outcome &o)
{
    std::set<std::string> names;
    return firstOfNodes(o.result(), [&](NodeId, const NodeDef &node) {
        return names.insert(node.name).second ? std::string() : quoted(node) + " repeats a name";
    });
}

std::string castsAreNamedAfterWhatTheyCast(const Outcome &o)
{
    for (const rewrite::InsertedCast &cast : o.log().casts) {
        const std::string base = o.source().node(cast.tensor.node).name + '_'
            + std::to_string(cast.tensor.output) + "_amp_cast_" + typeName(cast.type);
        const std::string &name = o.result().node(cast.cast).name;
        const bool isNumbered = name.starts_with(base + '_')
            && name.find_first_not_of("0123456789", base.size() + 1) == std::string::npos;
        if (name != base && !isNumbered)
            return "\"" + name + "\", expected \"" + base + '"';
    }
    return {};
}

std::string typesAgreeWithTheOracle(const Outcome &o)
{
    if (!o.after.contradiction.empty())
        return o.after.contradiction;
    return firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
        const auto said = o.log().types.outputs(id);
        const Types &want = o.after.outputs[id];
        for (std::size_t k = 0; k < std::min(said.size(), want.size()); ++k) {
            if (said[k] != want[k] && said[k] != DType::Unknown && want[k] != DType::Unknown)
                return quoted(node) + " output " + std::to_string(k) + " is said to be " + typeName(said[k])
                    + ", is " + typeName(want[k]);
        }
        return std::string();
    });
}

std::string headsKeepTheirTypes(const Outcome &o)
{
    const auto heads = o.result().heads();
    if (heads.size() != o.source().heads().size())
        return "another number of heads";
    if (o.given.policy.keepIoTypes == false)
        return {};
    for (std::size_t k = 0; k < heads.size(); ++k) {
        const DType was = typeBefore(o, o.source().heads()[k]);
        const DType is = typeAfter(o, heads[k]);
        if (was != is)
            return "head " + std::to_string(k) + " is " + typeName(is) + ", was " + typeName(was);
    }
    return {};
}

std::string onlyShortFloatsAreCast(const Outcome &o)
{
    for (const rewrite::InsertedCast &cast : o.log().casts) {
        const DType type = typeAfter(o, o.result().inputs(cast.cast)[0]);
        if (type != DType::F32 && !tensor::isHalf(type) && type != DType::Unknown)
            return "\"" + o.result().node(cast.cast).name + "\" casts " + typeName(type);
    }
    return {};
}

/// The references leave an operator that is to compute in float32 in the 16 bit that it had; mode typed does not.
bool asksFloat32OfSixteenBit(const Outcome &o)
{
    for (NodeId id = 0; id < o.source().nodeCount(); ++id) {
        const auto isHalf = [&o](const Entry &entry) { return tensor::isHalf(typeBefore(o, entry)); };
        if (o.converted.assignment.requested(id) == Request::Fp32
            && std::ranges::any_of(o.source().inputs(id), isHalf))
            return true;
    }
    return false;
}

/// What mode typed promises beyond the references, at the price of a cast: an excluded parameter is not rounded in storage,
/// and indices are not rounded, also where they lie in a parameter that others want in 16 bit.
bool keepsParametersExact(const Outcome &o)
{
    static const std::map<std::string, std::size_t> kIndices{
        {"Embedding", 0}, {"take", 1}, {"pick", 1}, {"gather_nd", 1}};
    for (const NodeId id : graph::postOrder(o.source())) {
        const NodeDef &node = o.source().node(id);
        if (node.isVariable() && o.converted.assignment.rule(id) == policy::Rule::ExcludedName)
            return true;
        const auto index = kIndices.find(node.op);
        if (index != kIndices.end() && o.isParameter[o.source().inputs(id)[index->second].node])
            return true;
    }
    return false;
}

std::string castsStayWithinTheBound(const Outcome &o)
{
    if (asksFloat32OfSixteenBit(o) || keepsParametersExact(o))
        return {};
    Types variables(o.source().nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < o.source().nodeCount(); ++id) {
        if (o.source().isVariable(id))
            variables[id] = typeOfVariable(o.given, id);
    }
    const TypeAwareResult aware
        = convertTypeAware(o.source(), o.converted.assignment, variables, o.isParameter, o.target,
                           o.given.policy.castParams.value_or(false));
    policy::Policy asMxnet = o.given.policy;
    asMxnet.mode = policy::Mode::NodeForNode;
    const auto mxnet = mixed::convertModel(o.given.model, asMxnet, false);
    // Who gives up on operators that were asked for needs no casts for them.
    std::size_t bound = mxnet.ok() ? castsIn(mxnet.value().model.graph) : 0;
    if (aware.servesAllTargets)
        bound = std::max(bound, aware.castCount);
    // Neither reference converts bodies.
    bound += castsOfBodiesAlone(o);
    const std::size_t count = castsIn(o.result());
    if (count <= bound || (!mxnet.ok() && !aware.servesAllTargets))
        return {};
    return std::to_string(count) + " casts; type-aware " + std::to_string(aware.castCount)
        + (aware.servesAllTargets ? "" : " for less") + ", mode mxnet "
        + (mxnet.ok() ? std::to_string(castsIn(mxnet.value().model.graph)) : "refuses");
}

std::set<NodeId> noted(const Outcome &o)
{
    std::set<NodeId> nodes;
    for (const rewrite::NodeNote &note : o.log().notes)
        nodes.insert(note.node);
    return nodes;
}

std::set<NodeId> moved(const Outcome &o)
{
    std::set<NodeId> nodes;
    for (const rewrite::MovedCasts &move : o.log().moved)
        nodes.insert(move.past);
    return nodes;
}

/// The types that a source node reads now.
Types readsOf(const Outcome &o, NodeId source)
{
    Types types;
    for (const Entry &entry : o.result().inputs(o.log().fromSource[source]))
        types.push_back(typeAfter(o, entry));
    return types;
}

template <class Check>
std::string firstOfRequested(const Outcome &o, Request request, Check check)
{
    const std::set<NodeId> excused = noted(o);
    return firstOfNodes(o.source(), [&](NodeId id, const NodeDef &node) {
        const bool counts = o.converted.assignment.requested(id) == request
            && o.log().fromSource[id] != kNoNode && !excused.contains(id) && !isCast(node);
        return counts && check(id) ? quoted(node) + " reads " + textOf(readsOf(o, id)) : std::string();
    });
}

std::string targetOperatorsComputeInTheTargetTypeOrSayWhy(const Outcome &o)
{
    return firstOfRequested(o, Request::Target, [&](NodeId id) {
        const Types reads = readsOf(o, id);
        return std::ranges::find(reads, DType::F32) != reads.end()
            && std::ranges::none_of(reads, tensor::isHalf);
    });
}

std::string fp32OperatorsReadNoSixteenBit(const Outcome &o)
{
    const std::set<NodeId> past = moved(o);
    return firstOfRequested(o, Request::Fp32, [&](NodeId id) {
        return !past.contains(id)
            && std::ranges::any_of(readsOf(o, id), [](DType type) { return tensor::isHalf(type); });
    });
}

std::string castsMoveOnlyPastDataMovers(const Outcome &o)
{
    static const std::set<std::string> kMovers{
        "Flatten",    "Reshape",      "transpose",   "tile",         "slice",
        "slice_axis", "SliceChannel", "expand_dims", "SwapAxis",     "reverse",
        "Concat",     "stack",        "slice_like",  "reshape_like", "broadcast_like",
        "_copy",      "BlockGrad",    "take",        "where",        "gather_nd",
        "pick",       "Pad",          "repeat",      "squeeze",      "Dropout"};
    for (const NodeId id : moved(o)) {
        const Request request = o.converted.assignment.requested(id);
        const bool mayFollow = request == Request::Follow || request == Request::Widest;
        if (!mayFollow && !kMovers.contains(o.source().node(id).op))
            return quoted(o.source().node(id));
    }
    return {};
}

std::string hasSixteenBit(const Graph &graph, const OracleTypes &types)
{
    return firstOfNodes(graph, [&](NodeId id, const NodeDef &node) {
        return isCast(node) || std::ranges::any_of(types.outputs[id], tensor::isHalf) ? quoted(node)
                                                                                      : std::string();
    });
}

std::string anAllFp32PolicyReturnsTheSource(const Outcome &o)
{
    if (!hasSixteenBit(o.source(), o.before).empty())
        return {};
    policy::Policy policy = o.given.policy;
    policy.excludedNames = {"/.*/"};
    policy.nodeOverrides.clear();
    policy.share = false;
    const auto converted = mixed::convertModel(o.given.model, policy, false);
    return converted.ok() ? exactDifference(converted.value().model.graph, pruned(o.source()))
                          : converted.error().message();
}

std::string convertingTwiceChangesNothing(const Outcome &o)
{
    if (o.given.policy.keepIoTypes == false)
        return {};
    const auto again = mixed::convertModel(o.converted.model, o.given.policy, false);
    return again.ok() ? exactDifference(again.value().model.graph, o.result()) : again.error().message();
}

std::string theOrderOfNodesDoesNotMatter(const Outcome &o)
{
    Random random(o.source().nodeCount());
    graph::Model shuffled = o.given.model;
    shuffled.graph = permuted(shuffled.graph, random);
    const auto other = mixed::convertModel(shuffled, o.given.policy, false);
    return other.ok() ? exactDifference(other.value().model.graph, o.result()) : other.error().message();
}

std::string storedParametersHaveNoFloat32Reader(const Outcome &o)
{
    for (const rewrite::StoredParameter &parameter : o.log().parameters) {
        const NodeDef &variable = o.source().node(parameter.variable);
        if (!o.isParameter[parameter.variable] && o.given.policy.keepIoTypes != false)
            return "\"" + variable.name + "\" is data";
        if (!o.given.policy.castParams.value_or(false) && o.isParameter[parameter.variable])
            return "\"" + variable.name + "\" though nobody asked for it";
        const NodeId copy = o.log().fromSource[parameter.variable];
        const std::string reader = firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
            const bool widens = node.op == "amp_cast" && o.result().inputs(id)[0].node == copy
                && *node.attributes.find("dtype") == "float32";
            return widens ? "\"" + variable.name + "\" is read by " + quoted(node) : std::string();
        });
        if (!reader.empty())
            return reader;
    }
    return {};
}

std::string storedArraysHaveTheTypesOfTheirVariables(const Outcome &o)
{
    std::map<std::string_view, DType> stored;
    for (const tensor::Array &array : o.converted.model.parameters)
        stored[dialect::dialectNamed("mxnet")->variableOf(array.name)] = array.values.dtype();
    return firstOfNodes(o.result(), [&](NodeId id, const NodeDef &node) {
        const auto array = stored.find(node.name);
        if (!node.isVariable() || array == stored.end() || array->second == typeAfter(o, {id, 0, 0}))
            return std::string();
        return quoted(node) + " is " + typeName(typeAfter(o, {id, 0, 0})) + ", stored as "
            + typeName(array->second);
    });
}

/// Operators that keep state, draw, write or belong to the reference's old classes (core/mixed/RULES.md, M-share).
bool mayNeverMerge(const NodeDef &node)
{
    static const std::set<std::string> kNever{
        "BatchNorm", "Dropout",         "RNN",          "SliceChannel", "SwapAxis", "Crop", "InstanceNorm",
        "_foreach",  "L2Normalization", "SequenceMask", "_shuffle",     "Pad",      "_cond"};
    return node.isVariable() || kNever.contains(node.op) || !oracleKnows(node.op);
}

std::map<std::string, std::string> meaningOf(const NodeDef &node)
{
    std::map<std::string, std::string> meaning;
    for (const auto &[key, value] : node.attributes) {
        const bool isDefault = (key == "num_group" && value == "1") || (key == "dim" && value == "1");
        if (isDefault || (graph::isHiddenKey(key) && key != "__ctx_group__"))
            continue;
        std::string text = value == "True" ? "1" : value == "False" ? "0" : value;
        std::erase(text, ' ');
        meaning[key] = text;
    }
    return meaning;
}

std::string mergedNodesComputeTheSame(const Outcome &o)
{
    std::map<NodeId, NodeId> standIn;
    for (const rewrite::MergedNode &merged : o.log().merged)
        standIn[merged.node] = merged.into;
    const std::set<NodeId> folded(o.log().foldedCasts.begin(), o.log().foldedCasts.end());
    const auto meant = [&](Entry entry) {
        while (folded.contains(entry.node) || standIn.contains(entry.node)) {
            if (standIn.contains(entry.node))
                entry.node = standIn[entry.node];
            else
                entry = o.source().inputs(
                    entry.node)[o.source().node(entry.node).op == "amp_cast" ? 0 : entry.output];
        }
        return std::pair(entry.node, entry.output);
    };
    for (const auto &[gone, into] : standIn) {
        const NodeDef &a = o.source().node(gone);
        const NodeDef &b = o.source().node(into);
        bool alike = a.op == b.op && !mayNeverMerge(a) && meaningOf(a) == meaningOf(b)
            && o.converted.assignment.requested(gone) == o.converted.assignment.requested(into);
        const auto inputsA = o.source().inputs(gone);
        const auto inputsB = o.source().inputs(into);
        alike = alike && !inputsA.empty() && inputsA.size() == inputsB.size();
        for (std::size_t i = 0; alike && i < inputsA.size(); ++i)
            alike = meant(inputsA[i]) == meant(inputsB[i]);
        if (!alike)
            return quoted(a) + " became " + quoted(b);
    }
    return {};
}

std::string theLogGivesTheGraph(const Outcome &o)
{
    return exactDifference(o.result(), replay(o.source(), o.log()));
}

std::string mergingCanBeSwitchedOff(const Outcome &o)
{
    if (o.log().merged.empty())
        return {};
    policy::Policy policy = o.given.policy;
    policy.share = false;
    const auto whole = mixed::convertModel(o.given.model, policy, false);
    if (!whole.ok())
        return whole.error().message();
    return whole.value().conversion.merged.empty() ? std::string() : "nodes are merged all the same";
}

constexpr Property kProperties[]{
    {"no cast between equal types", noCastBetweenEqualTypes},
    {"no cast of a cast", noCastOfACast},
    {"no two casts of one tensor to one type", noTwoCastsOfOneTensorToOneType},
    {"no amp_multicast is left", noMulticastIsLeft},
    {"nodes are in topological order", nodesAreInTopologicalOrder},
    {"nodes keep their relative order", nodesKeepTheirOrder},
    {"names are unique", namesAreUnique},
    {"casts are named after what they cast", castsAreNamedAfterWhatTheyCast},
    {"types agree with the oracle", typesAgreeWithTheOracle},
    {"heads keep their types", headsKeepTheirTypes},
    {"only float32, float16 and bfloat16 are cast", onlyShortFloatsAreCast},
    {"casts stay within the bound", castsStayWithinTheBound},
    {"target operators compute in the target type or say why", targetOperatorsComputeInTheTargetTypeOrSayWhy},
    {"fp32 operators read no 16 bit", fp32OperatorsReadNoSixteenBit},
    {"operators that ask for a type are not moved out of it but data movers", castsMoveOnlyPastDataMovers},
    {"an all-fp32 policy returns the source", anAllFp32PolicyReturnsTheSource},
    {"converting twice changes nothing", convertingTwiceChangesNothing},
    {"the order of nodes does not matter", theOrderOfNodesDoesNotMatter},
    {"stored parameters have no float32 reader", storedParametersHaveNoFloat32Reader},
    {"stored arrays have the types of their variables", storedArraysHaveTheTypesOfTheirVariables},
    {"merged nodes compute the same", mergedNodesComputeTheSame},
    {"merging can be switched off", mergingCanBeSwitchedOff},
    {"the log gives the graph", theLogGivesTheGraph},
    {"casts in bodies are needed", castsInBodiesAreNeeded},
    {"bodies need no more casts than alone", bodiesNeedNoMoreCastsThanAlone},
};

std::vector<bool> parametersOf(const TypedCase &given)
{
    std::set<std::string_view> data;
    std::set<std::string_view> stored;
    if (given.policy.dataNames)
        data.insert(given.policy.dataNames->begin(), given.policy.dataNames->end());
    for (const tensor::Array &array : given.model.parameters)
        stored.insert(dialect::dialectNamed("mxnet")->variableOf(array.name));
    std::vector<bool> result(given.model.graph.nodeCount());
    for (NodeId id = 0; id < result.size(); ++id) {
        const std::string_view name = given.model.graph.node(id).name;
        result[id] = given.model.graph.isVariable(id)
            && (given.policy.dataNames ? !data.contains(name) : stored.contains(name));
    }
    return result;
}

Types variablesOf(const Graph &graph, const std::map<std::string, DType> &types)
{
    Types variables(graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (const auto found = types.find(graph.node(id).name); graph.isVariable(id) && found != types.end())
            variables[id] = found->second;
    }
    return variables;
}

} // namespace

DType typeOfVariable(const TypedCase &given, NodeId variable)
{
    const NodeDef &node = given.model.graph.node(variable);
    if (const auto said = given.policy.inputDtypes.find(node.name); said != given.policy.inputDtypes.end())
        return said->second;
    for (const tensor::Array &array : given.model.parameters) {
        if (dialect::dialectNamed("mxnet")->variableOf(array.name) == node.name)
            return array.values.dtype();
    }
    static const std::map<std::string, DType> kCodes{{"0", DType::F32}, {"1", DType::F64},
                                                     {"2", DType::F16}, {"4", DType::I32},
                                                     {"6", DType::I64}, {"12", DType::BF16}};
    const std::string *code = node.attributes.find("__dtype__");
    return code == nullptr ? DType::F32 : kCodes.at(*code);
}

std::span<const Property> typedProperties()
{
    return kProperties;
}

namespace {

/// Nothing when the policy is refused by itself; a text when the conversion is.
std::optional<std::vector<Violation>> check(const TypedCase &given, std::span<const Property> properties,
                                            const Damage &damage)
{
    auto converted = mixed::convertModel(given.model, given.policy, false);
    if (!converted.ok()) {
        if (converted.error().field != Field::None)
            return std::nullopt;
        return std::vector<Violation>{{"converts", converted.error().message()}};
    }
    if (damage)
        damage(converted.value());
    const Graph &source = given.model.graph;
    std::map<std::string, DType> types;
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id))
            types[source.node(id).name] = typeOfVariable(given, id);
    }
    OracleTypes before = typesByOracle(source, variablesOf(source, types));
    for (const rewrite::StoredParameter &parameter : converted.value().conversion.parameters)
        types[source.node(parameter.variable).name] = parameter.to;
    OracleTypes after
        = typesByOracle(converted.value().model.graph, variablesOf(converted.value().model.graph, types));
    const Outcome outcome{given,
                          given.policy.target,
                          parametersOf(given),
                          std::move(before),
                          std::move(converted).value(),
                          std::move(after)};
    std::vector<Violation> violations;
    for (const Property &property : properties) {
        if (std::string text = property.violation(outcome); !text.empty())
            violations.push_back({property.name, std::move(text)});
    }
    return violations;
}

} // namespace

std::optional<std::vector<Violation>> violationsOf(const TypedCase &given, const Damage &damage)
{
    return check(given, kProperties, damage);
}

bool violates(const TypedCase &given, const std::string &property)
{
    const auto found = std::ranges::find(kProperties, property, &Property::name);
    const auto only = found == std::end(kProperties) ? std::span<const Property>() : std::span(found, 1);
    const auto violations = check(given, only, {});
    return violations && std::ranges::find(*violations, property, &Violation::property) != violations->end();
}

} // namespace halftone::test

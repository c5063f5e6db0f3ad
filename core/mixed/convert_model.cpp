#include "core/mixed/convert_model.h"

#include "core/base/progress_part.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/overridable.h"
#include "core/hardware/catalogue.h"
#include "core/infer/cpu_defects.h"
#include "core/mixed/assign_body.h"
#include "core/mixed/assign_by_mode.h"
#include "core/mixed/cast_problem.h"
#include "core/mixed/chip_warnings.h"
#include "core/mixed/convert_typed.h"
#include "core/mixed/hold/function_calls.h"
#include "core/mixed/hold/hold_positions.h"
#include "core/mixed/hold/keep_normalization.h"
#include "core/mixed/hold/tie_raised.h"
#include "core/mixed/lowered_nodes.h"
#include "core/mixed/node_arithmetic.h"
#include "core/mixed/node_for_node.h"
#include "core/mixed/restrict_to_hardware.h"
#include "core/quantize/coded_nodes.h"
#include "core/rewrite/share_nodes.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

namespace halftone::mixed {
namespace {

/// "3 of 28,800 values"; "3 values" where it is not known of how many.
std::string valuesOf(std::uint64_t count, std::uint64_t all)
{
    return grouped(count) + (all > 0 ? " of " + grouped(all) : std::string())
        + ((all > 0 ? all : count) == 1 ? " value" : " values");
}

/// One warning for all parameters: small weights are common, and a warning for each would hide the others.
void warnOfFlushed(const std::vector<ParameterChange> &changes, std::vector<policy::Warning> &warnings)
{
    std::uint64_t flushed = 0, all = 0;
    bool isKnown = true;
    std::vector<std::string> arrays, names;
    for (const ParameterChange &change : changes) {
        if (change.losses.flushed == 0 || change.isHeld)
            continue;
        flushed += change.losses.flushed;
        all += change.count;
        isKnown = isKnown && change.count > 0;
        arrays.push_back(change.name + ' ' + std::to_string(change.losses.flushed));
        names.push_back(change.name);
    }
    if (flushed == 0)
        return;
    warnings.push_back(
        {"parameters",
         valuesOf(flushed, isKnown ? all : 0) + " underflow to zero in the target type: " + joined(arrays),
         "subnormal_weights", std::move(names)});
}

void warnOfOverflow(const ParameterChange &change, std::vector<policy::Warning> &warnings)
{
    const std::string entry = "parameter \"" + change.name + '"';
    const std::string type(tensor::nameOf(change.to));
    if (change.isClamped)
        warnings.push_back({entry,
                            valuesOf(change.losses.overflowed, change.count) + " clamped to the largest "
                                + type + "; to keep the values, exclude the operator that reads them",
                            "clamped",
                            {change.name}});
    else
        warnings.push_back(
            {entry,
             valuesOf(change.losses.overflowed, change.count) + " overflow " + type
                 + " and become infinite; to keep them, exclude the operator that reads them"});
}

/// Warns of bounds (epsilons) that were raised.
void warnOfHeld(const std::vector<ParameterChange> &changes, tensor::DType target,
                std::vector<policy::Warning> &warnings)
{
    std::vector<std::string> names;
    for (const ParameterChange &change : changes)
        if (change.isHeld)
            names.push_back(change.name);
    if (!names.empty())
        warnings.push_back(
            {"parameters",
             joined(names) + ": positive bounds that would round to 0 were raised to the smallest positive "
                 + std::string(tensor::nameOf(target)),
             "bounds_held", std::move(names)});
}

/// Warns of values that a narrower type does not hold.
void warnOfLosses(const std::vector<ParameterChange> &changes, tensor::DType target,
                  std::vector<policy::Warning> &warnings)
{
    for (const ParameterChange &change : changes) {
        const auto &losses = change.losses;
        if (losses.overflowed > 0)
            warnOfOverflow(change, warnings);
        if (losses.nan > 0)
            warnings.push_back({"parameter \"" + change.name + '"',
                                "NaN in " + valuesOf(losses.nan, change.count)
                                    + ", regardless of the type they are stored in"});
    }
    warnOfFlushed(changes, warnings);
    warnOfHeld(changes, target, warnings);
}

/// Warns of inputs with default values that are stored in another type now.
void warnOfDefaults(const graph::Graph &source, const rewrite::Conversion &conversion,
                    std::vector<policy::Warning> &warnings)
{
    std::vector<std::string> names;
    std::string type;
    for (const rewrite::StoredParameter &stored : conversion.parameters) {
        if (dialect::defaultValueOf(source, stored.variable) == dialect::DefaultValue::None)
            continue;
        names.push_back(source.node(stored.variable).name);
        type = tensor::nameOf(stored.to);
    }
    if (!names.empty())
        warnings.push_back({"inputs",
                            joined(names) + ": these inputs have default values, now stored as " + type
                                + "; pass other values in that type",
                            "defaults_stored", std::move(names)});
}

void warnOfBodies(const graph::Graph &graph, std::vector<policy::Warning> &warnings)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.node(id).subgraphs.empty())
            warnings.push_back({"node \"" + graph.node(id).name + '"',
                                "its body (" + graph.node(id).op + ") is not analysed and stays unchanged"});
    }
}

/// Nodes, in bodies too, whose operators are unknown: they keep their types, between casts.
void collectUnknown(const graph::Graph &graph, std::vector<std::string> &nodes,
                    std::set<std::string> &operators)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        for (const auto &body : node.subgraphs)
            collectUnknown(*body, nodes, operators);
        if (node.isVariable() || !node.subgraphs.empty() || dialect::of(graph).findOp(node.op) != nullptr)
            continue;
        nodes.push_back(node.name);
        operators.insert(node.op);
    }
}

void warnOfUnknown(const graph::Graph &graph, std::vector<policy::Warning> &warnings)
{
    std::vector<std::string> nodes;
    std::set<std::string> operators;
    collectUnknown(graph, nodes, operators);
    if (nodes.empty())
        return;
    warnings.push_back({"operators",
                        joined(std::vector<std::string>(operators.begin(), operators.end()))
                            + " unknown; the nodes stay in float32 and cannot be run",
                        "unknown_operator", std::move(nodes)});
}

/// Warns of nodes that the framework of the format rejects or computes wrongly.
void warnOfCpu(const rewrite::Conversion &conversion, std::vector<policy::Warning> &warnings)
{
    const auto defects = infer::cpuDefects(conversion.graph, conversion.types);
    for (policy::Warning &warning : infer::cpuWarnings(conversion.graph, defects))
        warnings.push_back(std::move(warning));
    for (const rewrite::ConvertedBody &body : conversion.bodies)
        warnOfCpu(body.conversion, warnings);
}

/// Corrects the decisions of the lists: classes of the mode, limits of the chip, and values that must not be rounded.
void adjust(const graph::Graph &graph, std::span<const tensor::Array> parameters,
            const policy::Policy &policy, const Decided &decided, policy::Assignment &assignment,
            std::vector<policy::Warning> &warnings)
{
    const hardware::Description *const chip = decided.chip.get();
    if (policy.mode == policy::Mode::Tvm)
        assignByTvm(graph, assignment, warnings);
    else if (policy.mode == policy::Mode::All)
        assignEverything(graph, assignment);
    if (chip != nullptr)
        restrictToHardware(graph, *chip, policy.target, assignment);
    // Conversions of frameworks never look at values, and mode all is asked for to see what breaks.
    if (policy.mode != policy::Mode::NodeForNode && policy.mode != policy::Mode::All)
        keepNormalizationInFloat32(graph, parameters, policy.target, assignment);
    if (policy.mode != policy::Mode::NodeForNode)
        tieRaised(graph, assignment);
    if (policy.mode.value_or(policy::Mode::Typed) == policy::Mode::Typed)
        holdPaths(graph, decided.positions, "positions", assignment);
    else if (policy.mode == policy::Mode::All)
        holdPaths(graph, decided.scales, "scales", assignment);
}

/// In mode tvm a float32 reader of a product gets its accumulator, where that is float32 (M-tvm-accumulate).
void markAccumulators(const graph::Graph &source, const ConvertedModel &converted,
                      rewrite::Conversion &conversion)
{
    const tensor::DType asked = askedAccumulator(converted);
    for (rewrite::InsertedCast &cast : conversion.casts) {
        const graph::NodeId id = cast.tensor.node;
        if (cast.type != tensor::DType::F32 || source.isVariable(id)
            || converted.assignment.requested(id) != policy::Request::Target)
            continue;
        const auto unit = unitOf(source, id);
        cast.ofAccumulator = unit && hardware::isProduct(*unit)
            && accumulatorOf(*unit, converted.policy.target, converted.chip.get(), asked)
                == tensor::DType::F32;
    }
}

bool castsParameters(const graph::Graph &graph, const policy::Policy &policy)
{
    return policy.castParams.value_or(dialect::of(graph).storesCastParameters());
}

bool clampsParameters(const graph::Graph &graph, const policy::Policy &policy)
{
    return policy.clamp.value_or(dialect::of(graph).clampsParameters());
}

/// They refer to all that is given.
TypedSettings typedSettings(const graph::Graph &graph, const Decided &decided, const policy::Policy &policy,
                            const infer::ShapeMap *shapes)
{
    const auto forBody
        = [&decided, &policy](const graph::Graph &body) { return assignBody(body, policy, decided); };
    TypedSettings settings{decided.rules->target,
                           policy.mode.value_or(policy::Mode::Typed),
                           castsParameters(graph, policy),
                           policy.keepIoTypes.value_or(true),
                           policy.share.value_or(true),
                           shapes,
                           forBody};
    settings.castConstants = castsParameters(graph, policy);
    settings.clamps = clampsParameters(graph, policy);
    if (policy.optimise == policy::Optimise::Time)
        settings.clock = decided.chip.get();
    return settings;
}

/// What is left in floating point.
Result<rewrite::Conversion> convertFloats(const graph::Graph &graph, const Decided &decided,
                                          const policy::Policy &policy, const infer::ShapeMap *shapes,
                                          tensor::FormCache &forms, const Progress &progress)
{
    if (policy.mode != policy::Mode::NodeForNode) {
        TypedSettings settings = typedSettings(graph, decided, policy, shapes);
        settings.forms = &forms;
        return convertTyped(graph, decided.assignment, decided.variables, settings, progress);
    }
    HALFTONE_TRY(rewrite::Conversion conversion,
                 convertNodeForNode(graph, decided.assignment, decided.variables,
                                    {decided.rules->target, castsParameters(graph, policy)}, progress));
    if (policy.share.value_or(false))
        rewrite::shareConverted(graph, conversion);
    return conversion;
}

/// "int8 requested, stays bfloat16: its parameter w is float16"
void noteRefused(const std::vector<rewrite::NodeNote> &refused, rewrite::Conversion &conversion)
{
    for (const rewrite::NodeNote &note : refused)
        conversion.notes.push_back({note.node,
                                    "int8 requested, but it stays "
                                        + std::string(tensor::nameOf(conversion.precisionOf(note.node)))
                                        + ": " + note.text});
}

/// The floating part of `model`, and its parameters as they are then stored.
Result<void> convertRest(const graph::Model &model, const Decided &decided, const policy::Policy &policy,
                         const infer::ShapeMap *shapes, tensor::FormCache &forms, const Progress &progress,
                         ConvertedModel &result)
{
    HALFTONE_TRY(result.conversion,
                 convertFloats(model.graph, decided, policy, shapes, forms, partOf(progress, 0, 0.5)));
    HALFTONE_TRY(CastParameters cast,
                 castParams(model.parameters, model.graph, result.conversion,
                            clampsParameters(model.graph, policy), policy.mode != policy::Mode::NodeForNode,
                            forms, partOf(progress, 0.5, 0.5)));
    result.parameters = std::move(cast.changes);
    listConstants(model.graph, result.conversion, result.parameters);
    result.model = {result.conversion.graph, std::move(cast.arrays), model.hasParameters};
    return {};
}

/// The part in int8 becomes a model of its own, of which the floating part is then converted like any other.
Result<void> convertWithInt8(const graph::Model &source, Decided &decided, const policy::Policy &policy,
                             const ConvertSettings &settings, tensor::FormCache &forms,
                             const Progress &progress, ConvertedModel &result)
{
    HALFTONE_TRY(const quantize::AskedQuantization asked,
                 quantize::quantizeAsked(source, decided.assignment, std::move(*decided.int8),
                                         settings.ranges, forms, progress));
    Decided here;
    here.rules = decided.rules;
    here.chip = decided.chip;
    here.positions = decided.positions;
    here.scales = decided.scales;
    if (asked.part) {
        std::vector<policy::Warning> told; // of the source's variables already
        HALFTONE_TRY(here.variables, infer::classifyVariables(asked.part->model, policy, told));
        here.assignment = asked.part->assignment;
        const infer::ShapeMap shapes
            = settings.shapes ? quantize::shapesOfPart(*asked.part, *settings.shapes) : infer::ShapeMap();
        HALFTONE_CHECK(convertRest(asked.part->model, here, policy, settings.shapes ? &shapes : nullptr,
                                   forms, progress, result));
        quantize::translateLogToSource(source.graph, *asked.part, result.conversion);
        for (const std::string &note : asked.part->notes)
            result.warnings.push_back({"int8_ops", note});
    } else {
        here.variables = std::move(decided.variables);
        here.assignment = withoutInt8(decided.assignment);
        HALFTONE_CHECK(convertRest(source, here, policy, settings.shapes, forms, progress, result));
    }
    noteRefused(asked.refused, result.conversion);
    return {};
}

/// What the source computes with codes stays so where nobody chose another precision. Gives what does not.
std::vector<bool> keepCoded(const graph::Model &source, policy::Assignment &assignment)
{
    const std::vector<graph::NodeId> coded = quantize::codedNodes(source);
    if (coded.empty())
        return {};
    std::vector<bool> released(coded.size());
    for (graph::NodeId id = 0; id < coded.size(); ++id)
        released[id] = coded[id] == id && policy::isChosen(assignment.nodes[id]);
    const bool isAny = std::ranges::find(released, true) != released.end();
    if (isAny)
        released = quantize::releasedWith(source.graph, coded, released);
    for (graph::NodeId id = 0; id < coded.size(); ++id) {
        if (coded[id] == rewrite::kNoNode || released[id])
            continue;
        assignment.nodes[id] = {policy::Rule::Coded, 0};
        assignment.otherwise.erase(id);
    }
    return isAny ? released : std::vector<bool>();
}

/// Marks nodes that computed with codes before and still do.
void markCoded(const policy::Assignment &assignment, rewrite::Conversion &conversion)
{
    for (graph::NodeId id = 0; id < assignment.nodes.size(); ++id) {
        if (assignment.rule(id) != policy::Rule::Coded || conversion.fromSource[id] == rewrite::kNoNode)
            continue;
        conversion.int8Group.resize(assignment.nodes.size(), rewrite::kNoNode);
        conversion.int8Group[id] = id;
    }
}

/// Warns if the policy minimises time but there are no times to minimise.
void warnOfNoTimes(const policy::Policy &policy, const infer::ShapeMap *shapes,
                   std::vector<policy::Warning> &warnings)
{
    if (policy.optimise != policy::Optimise::Time)
        return;
    const policy::Mode mode = policy.mode.value_or(policy::Mode::Typed);
    if (mode != policy::Mode::Typed)
        warnings.push_back(
            {"optimise", "\"time\" has no effect in mode \"" + std::string(policy::nameOf(mode)) + '"'});
    else if (shapes == nullptr)
        warnings.push_back({"optimise", "\"time\" needs the input shapes; minimised casts instead"});
}

Result<void> checkStrict(const ConvertSettings &settings, const std::vector<policy::Warning> &warnings)
{
    if (settings.strict && !warnings.empty())
        return badInput(warnings.front().entry, warnings.front().text);
    return {};
}

/// Reasons not to quantize nodes, except those that the user named.
std::vector<std::string> refusalsOfAsked(const graph::Graph &graph, const Decided &decided)
{
    std::vector<std::string> refusals
        = refusalsOfPositions(graph, findPositions(graph, decided.variables, tensor::DType::I8));
    for (graph::NodeId id = 0; id < refusals.size(); ++id)
        if (decided.assignment.rule(id) == policy::Rule::OverrideInt8)
            refusals[id].clear();
    return refusals;
}

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

policy::Assignment assignBody(const graph::Graph &body, const policy::Policy &policy, const Decided &decided)
{
    std::vector<policy::Warning> told; // of the names that are not in this body
    const auto inBody = policy::matchNames(policy, body, told);
    policy::Assignment assignment = policy::assign(body, *decided.rules, inBody.value());
    adjust(body, {}, policy, decided, assignment, told);
    return withoutInt8(std::move(assignment));
}

Result<Decided> decide(const graph::Model &source, const policy::Policy &policy)
{
    const auto start = std::chrono::steady_clock::now();
    if (policy.mode == policy::Mode::NodeForNode && !dialect::of(source.graph).hasNodeForNodeMode())
        return badCall(Field::Mode,
                       std::string(policy::nameOf(*policy.mode)) + " is not available for "
                           + std::string(dialect::of(source.graph).title()) + " models",
                       "; use mode typed");
    if (policy.optimise == policy::Optimise::Time && policy.hardware.empty())
        return badCall(Field::Optimise, "time needs a chip to estimate times for", "; set the hardware");
    Decided decided;
    auto rules = policy::resolve(policy, dialect::of(source.graph), decided.warnings);
    if (!rules.ok())
        return inField(std::move(rules).error(), Field::Policy);
    rules.value().bodiesDecide = policy.mode != policy::Mode::NodeForNode;
    decided.rules = std::make_shared<const policy::Rules>(std::move(rules).value());
    warnOfAbsent(source.graph, *decided.rules, decided.warnings);
    const auto named = policy::matchNames(policy, source.graph, decided.warnings);
    if (!named.ok())
        return inField(named.error(), Field::Policy);
    decided.assignment = policy::assign(source.graph, *decided.rules, named.value());
    if (!policy.hardware.empty()) {
        HALFTONE_TRY(decided.chip, hardware::findDescription(policy.hardware));
    }
    HALFTONE_TRY(decided.variables, infer::classifyVariables(source, policy, decided.warnings));
    std::vector<bool> released = keepCoded(source, decided.assignment);
    decided.positions = findPositions(source.graph, decided.variables, policy.target);
    if (policy.mode == policy::Mode::All)
        decided.scales = findComputedScales(source.graph, decided.variables);
    adjust(source.graph, source.parameters, policy, decided, decided.assignment, decided.warnings);
    if (!decided.assignment.otherwise.empty() || !released.empty()) {
        decided.int8 = quantize::planAsked(source, decided.assignment);
        decided.int8->options.released = std::move(released);
        decided.int8->options.refusals = refusalsOfAsked(source.graph, decided);
    }
    decided.seconds = secondsSince(start);
    return decided;
}

Result<CastProblem> castChoices(const graph::Model &source, const policy::Policy &policy,
                                const infer::ShapeMap *shapes)
{
    HALFTONE_TRY(const Decided decided, decide(source, policy));
    return typedChoices(source.graph, withoutInt8(decided.assignment), decided.variables,
                        typedSettings(source.graph, decided, policy, shapes));
}

Result<LoweredNodes> loweredNodes(const graph::Model &source, const policy::Policy &policy,
                                  const Decided &decided, const infer::ShapeMap *shapes,
                                  const Progress &progress)
{
    return typedLowered(source.graph, withoutInt8(decided.assignment), decided.variables,
                        typedSettings(source.graph, decided, policy, shapes), progress);
}

Result<std::vector<std::string>> rangesToFind(const graph::Model &source, Decided &decided)
{
    if (!decided.int8)
        return std::vector<std::string>();
    return quantize::rangesToFind(source, *decided.int8);
}

Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, Decided decided,
                                    const ConvertSettings &settings, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    ConvertedModel result;
    result.policy = policy;
    result.warnings = std::move(decided.warnings);
    result.chip = decided.chip;
    result.whyRaised = settings.whyRaised;
    if (!settings.whyRaised.empty())
        result.warnings.push_back({"opset",
                                   "raised to " + std::to_string(dialect::of(source.graph).versionNumber())
                                       + " for " + settings.whyRaised,
                                   "opset_raised",
                                   {}});
    HALFTONE_CHECK(checkStrict(settings, result.warnings));
    const auto made = std::make_shared<tensor::FormCache>(settings.before);
    tensor::FormCache &forms = *made;
    HALFTONE_CHECK(decided.int8
                       ? convertWithInt8(source, decided, policy, settings, forms, progress, result)
                       : convertRest(source, decided, policy, settings.shapes, forms, progress, result));
    forms.settle();
    markCoded(decided.assignment, result.conversion);
    result.forms = made;
    result.assignment = std::move(decided.assignment);
    if (policy.mode == policy::Mode::Tvm)
        markAccumulators(source.graph, result, result.conversion);
    if (policy.mode == policy::Mode::NodeForNode) {
        warnOfBodies(source.graph, result.warnings);
        if (policy.keepIoTypes == false)
            result.warnings.push_back(
                {"keep_io_types",
                 "false has no effect in mode \"" + std::string(policy::nameOf(*policy.mode)) + '"'});
    }
    if (auto warning = loweredPositions(source.graph, decided.positions, result.conversion))
        result.warnings.push_back(std::move(*warning));
    if (auto warning = policy.mode == policy::Mode::NodeForNode
            ? std::nullopt
            : keptCalls(source.graph, result.assignment, result.conversion))
        result.warnings.push_back(std::move(*warning));
    warnOfNoTimes(policy, settings.shapes, result.warnings);
    result.seconds = decided.seconds + secondsSince(start);

    warnOfLosses(result.parameters, policy.target, result.warnings);
    warnOfDefaults(source.graph, result.conversion, result.warnings);
    warnOfUnknown(source.graph, result.warnings);
    warnOfCpu(result.conversion, result.warnings);
    if (result.chip)
        std::ranges::move(chipWarnings(source.graph, result, settings.shapes),
                          std::back_inserter(result.warnings));
    for (const rewrite::NodeNote &note : result.conversion.notes)
        result.warnings.push_back({"node \"" + source.graph.node(note.node).name + '"', note.text});
    HALFTONE_CHECK(checkStrict(settings, result.warnings));
    return result;
}

Result<ConvertedModel> convertModel(const graph::Model &source, const policy::Policy &policy, bool strict,
                                    const Progress &progress, const infer::ShapeMap *shapes,
                                    const quantize::QuantizedRanges *ranges)
{
    HALFTONE_TRY(Decided decided, decide(source, policy));
    return convertModel(source, policy, std::move(decided), {strict, shapes, ranges}, progress);
}

} // namespace halftone::mixed

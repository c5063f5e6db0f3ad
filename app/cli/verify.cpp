#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/infer/known_shapes.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"
#include "core/mixed/type_census.h"
#include "core/policy/policy_options.h"
#include "core/report/as_asked.h"
#include "core/report/figures_object.h"
#include "core/report/runtime_types.h"

#include <array>
#include <cstdio>
#include <memory>

namespace halftone::cli {
namespace {

using mixed::TypeCensus;
using mixed::TypeDifference;
using mixed::TypeShare;

struct VerifyOptions
{
    ModelOptions model;
    PolicyOptions policy;
    std::string backend; ///< a runtime whose types are told; empty: none
    PrecisionOption precision;
    bool json = false;

    /// Something is held against the model.
    bool asks() const { return !policy.isEmpty() || !backend.empty(); }
};

/// What everything comes to, casts left out.
TypeShare sumOf(const TypeCensus &census)
{
    TypeShare sum;
    for (const TypeShare &share : census.shares) {
        sum.operators += share.operators;
        sum.uncosted += share.uncosted;
        sum.flops += share.flops;
        sum.bytes += share.bytes;
    }
    return sum;
}

std::string wordOf(tensor::DType type)
{
    return type == tensor::DType::Unknown ? "none" : std::string(tensor::nameOf(type));
}

template <class Number>
double shareOf(Number part, Number whole)
{
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Null where not one operator of the whole has a known cost.
Json jsonShare(std::int64_t part, std::int64_t whole)
{
    return whole == 0 ? Json() : Json(shareOf(part, whole));
}

Json jsonOf(const TypeShare &share, const TypeShare &sum)
{
    return {{"operators", share.operators}, {"operators_share", shareOf(share.operators, sum.operators)},
            {"flops", share.flops},         {"flops_share", jsonShare(share.flops, sum.flops)},
            {"bytes", share.bytes},         {"bytes_share", jsonShare(share.bytes, sum.bytes)},
            {"uncosted", share.uncosted}};
}

Json jsonOf(const TypeDifference &difference)
{
    return {{"node", difference.name},
            {"op", difference.op},
            {"requested", wordOf(difference.asked)},
            {"computes", wordOf(difference.got)},
            {"entry", difference.entry},
            {"why", difference.why}};
}

/// runtime  null: none was asked
Json jsonOf(const graph::Graph &graph, const TypeCensus &census, const policy::Policy *policy,
            const kernels::RuntimeFacts *runtime)
{
    const TypeShare sum = sumOf(census);
    Json types = Json::object();
    for (const TypeShare &share : census.shares)
        types[wordOf(share.type)] = jsonOf(share, sum);
    Json nodes = Json::array();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            nodes.push_back({{"name", graph.node(id).name},
                             {"op", graph.node(id).op},
                             {"computes", wordOf(census.computes[id])}});
    }
    Json differences = Json::array();
    for (const TypeDifference &difference : census.differences)
        differences.push_back(jsonOf(difference));
    Json json{{"operators", sum.operators},
              {"flops", sum.flops},
              {"bytes", sum.bytes},
              {"uncosted", sum.uncosted},
              {"in_bodies", census.inBodies},
              {"types", std::move(types)},
              {"casts", {{"count", census.casts.operators}, {"bytes", census.casts.bytes}}},
              {"target", policy ? Json(wordOf(policy::askedTarget(*policy))) : Json()},
              {"requested", policy || runtime ? Json(census.asked) : Json()},
              {"differences", std::move(differences)},
              {"nodes", std::move(nodes)},
              {"warnings", warningsJson(census.warnings)}};
    if (runtime)
        json["runtime"] = report::runtimeObject(*runtime);
    return json;
}

std::string percent(std::int64_t part, std::int64_t whole)
{
    if (whole == 0)
        return "-";
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%", 100 * shareOf(part, whole));
    return text.data();
}

void printShares(const TypeCensus &census)
{
    const TypeShare sum = sumOf(census);
    Table table({"computes in", "operators", "", "FLOPs", "bytes"});
    for (const TypeShare &share : census.shares)
        table.add(
            {share.type == tensor::DType::Unknown ? "not floating-point" : wordOf(share.type),
             std::to_string(share.operators),
             percent(static_cast<std::int64_t>(share.operators), static_cast<std::int64_t>(sum.operators)),
             percent(share.flops, sum.flops), percent(share.bytes, sum.bytes)});
    print(table.toString());
    Table foot;
    foot.add({"casts",
              std::to_string(census.casts.operators) + ", "
                  + humanBytes(static_cast<std::uint64_t>(census.casts.bytes)) + " read and written"});
    if (sum.uncosted > 0)
        foot.add({"not counted",
                  counted(sum.uncosted, "operator", "operators")
                      + " of unknown cost; pass --shape NAME=1,3,224,224"});
    if (census.inBodies > 0)
        foot.add({"in bodies", counted(census.inBodies, "operator", "operators") + " of them"});
    print('\n' + foot.toString());
}

void printDifferences(const TypeCensus &census)
{
    const std::size_t right = census.asked - census.differences.size();
    print("\n" + std::to_string(right) + " of " + counted(census.asked, "operator", "operators")
          + " compute in the requested type\n");
    if (census.differences.empty())
        return;
    Table table({"node", "operator", "requested", "computes", "why"});
    for (const TypeDifference &difference : census.differences)
        table.add({printable(difference.name), printable(difference.op), wordOf(difference.asked),
                   wordOf(difference.got), printable(difference.why)});
    print('\n' + table.toString());
}

/// The exit code tells a script; the line tells where to look first.
Result<void> verdict(const session::Session &session, const TypeCensus &census)
{
    if (census.differences.empty())
        return {};
    const TypeDifference &first = census.differences.front();
    const std::string more = census.differences.size() == 1
        ? std::string()
        : " (and " + counted(census.differences.size() - 1, "other node", "other nodes") + ")";
    return inFile(badInput(first.name, "computes in " + wordOf(first.got) + more + ": " + first.why,
                           wordOf(first.asked)),
                  session.source().modelPath);
}

/// Shares are those of one example where nothing says how many there are: the first axis of data whose other axes are known is 1.
Result<void> takeOneExample(session::Session &session, const infer::ShapeMap &shapes)
{
    const graph::Graph &graph = session.source().model.graph;
    for (graph::NodeId id = 0; session.inputShapes().empty() && id < graph.nodeCount(); ++id) {
        tensor::Shape shape = graph.isVariable(id) ? shapes.byNode[id].front() : tensor::Shape();
        if (shape.rank() == 0 || shape[0] != tensor::Shape::kUnknown)
            continue;
        shape[0] = 1;
        if (shape.isComplete())
            HALFTONE_CHECK(session.setInputShape(graph.node(id).name, std::move(shape)));
    }
    return {};
}

/// Where operators are what values say, a run tells; where that cannot be, costs stay open.
Result<infer::TypedModel> typedModel(const session::Session &session, infer::ShapeMap shapes,
                                     const policy::Policy &policy, const std::stop_token &stop)
{
    const graph::Model &model = session.source().model;
    infer::KnownShapes known = infer::variableShapes(model.graph, shapes);
    for (const auto &[name, shape] : session.inputShapes())
        known.insert_or_assign(name, shape);
    // Loops that are long are not run for the shapes behind them: their costs stay open.
    constexpr interpret::RunLimits kLimits{1000, std::size_t{64} << 20};
    auto typed = latency::typedModel(model, known, policy, progress(stop), {}, kLimits);
    if (typed.ok() || typed.error().code == Errc::Cancelled)
        return typed;
    return mixed::typedAsStored(model, std::move(shapes), policy);
}

/// What a runtime makes of the model; null: none was asked for.
Result<std::unique_ptr<kernels::LatencyPlan>>
runtimePlan(const VerifyOptions &options, const infer::TypedModel &typed, const std::stop_token &stop)
{
    if (options.backend.empty())
        return std::unique_ptr<kernels::LatencyPlan>();
    HALFTONE_TRY(const latency::PlanMaker maker,
                 latency::PlanMaker::create(options.backend, 1, options.precision.type()));
    if (!maker.backend().wholeModels)
        return badCall("--backend", options.backend + " computes in the types of the model",
                       "; pass a runtime, or leave it out");
    HALFTONE_TRY(std::unique_ptr<kernels::LatencyPlan> plan, maker.plan(typed));
    HALFTONE_CHECK(plan->timeSteps(1, progress(stop))); // which tells the types
    return plan;
}

Result<void> verify(const VerifyOptions &options, const std::stop_token &stop)
{
    HALFTONE_CHECK(CommandFiles().reads(options.model).reads("--policy", options.policy.file).check());
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    HALFTONE_TRY(const policy::Policy policy, options.policy.read(session));
    std::vector<std::string> notes = session.source().notes;
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    const policy::Policy *const wanted = options.policy.isEmpty() ? nullptr : &policy;
    if (wanted && wanted->analysedFormat)
        return policy::notExported(*wanted->analysedFormat);
    HALFTONE_CHECK(takeOneExample(session, shapes));
    auto typed = typedModel(session, std::move(shapes), policy, stop);
    if (!typed.ok())
        return inFile(std::move(typed).error(), session.source().modelPath);
    const graph::Graph &graph = typed.value().model.graph; // functions are taken apart
    auto census = mixed::typeCensus(typed.value(), wanted);
    if (!census.ok())
        return inFile(options.policy.located(census.error()), session.source().modelPath);
    HALFTONE_TRY(const auto plan, runtimePlan(options, typed.value(), stop));
    const auto runtime = plan ? plan->runtime() : std::nullopt;
    if (plan)
        report::addRuntimeTypes(census.value(), graph, *plan, options.backend);
    if (options.json) {
        printJson(jsonOf(graph, census.value(), wanted, runtime ? &*runtime : nullptr));
    } else {
        tellNotes(session.source().modelPath, notes);
        printShares(census.value());
        if (options.asks())
            printDifferences(census.value());
    }
    tellWarnings(census.value().warnings);
    return verdict(session, census.value());
}

} // namespace

void addVerify(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<VerifyOptions>();
    Command command = app.command(
        "verify", "Show the types a model's operators compute in and whether they match the policy");
    options->model.addTo(command);
    options->policy.addTo(command);
    command
        .option("--backend", &options->backend,
                "Also show the types that this runtime computes in, and where they are not the model's")
        .type("NAME");
    options->precision.addTo(command);
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return verify(*options, stop); };
    });
}

} // namespace halftone::cli

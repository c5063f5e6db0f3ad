#include "app/cli/commands.h"
#include "app/cli/data_options.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/backends/backends.h"
#include "core/base/share_work.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/infer/known_shapes.h"
#include "core/infer/variables.h"
#include "core/interpret/random_params.h"
#include "core/io/arrays/npz.h"
#include "core/latency/latency.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"
#include "core/machines/local_chips.h"
#include "core/report/as_asked.h"
#include "core/report/figures_object.h"
#include "core/report/roofline.h"
#include "core/results/profile_json.h"
#include "core/runtimes/kernel_table.h"
#include "core/session/one_example.h"

#include <array>
#include <cstdio>
#include <memory>
#include <utility>

namespace halftone::cli {
namespace {

constexpr std::size_t kAttempts = 4; ///< to measure while the machine has other work

struct ProfileOptions
{
    ModelOptions model;
    PolicyOptions policy;
    std::string backend{backends::kDefaultBackend};
    PrecisionOption precision;
    std::int64_t threads = 0;
    std::int64_t repeats = 30;
    std::int64_t warmup = 5;
    std::int64_t batch = 0; ///< 0: as the shapes say
    std::uint64_t seed = 0;
    bool hasSeed = false;
    bool versusFp32 = false;
    bool quantized = false;
    std::string table; ///< of ranges, for `quantized`
    bool json = false;
};

/// What was measured, and of what.
struct Profile : results::ProfileFacts
{
    std::shared_ptr<const hardware::Description> chip; ///< whose limits the layers have; null: none is known
};

/// What the run is fed, with shapes: a latency says nothing without them.
Result<std::vector<std::pair<std::string, tensor::Shape>>>
measuredInputs(const graph::Model &model, const policy::Policy &policy, const infer::KnownShapes &known)
{
    std::vector<policy::Warning> told; // those who convert tell them
    HALFTONE_TRY(const std::vector<infer::Variable> variables, infer::classifyVariables(model, policy, told));
    std::vector<std::pair<std::string, tensor::Shape>> inputs;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        if (model.graph.isVariable(id) && variables[id].isData)
            inputs.emplace_back(name, known.at(name));
    }
    return inputs;
}

Result<graph::Model> sourceModel(const ProfileOptions &options, const session::Session &session)
{
    const graph::Model &model = session.source().model;
    if (!options.hasSeed)
        return model;
    return interpret::withRandomParameters(model, session.inputShapes(), options.seed);
}

/// An emulated type has no honest latency: whoever asks for one is told before anything runs.
void warnOfEmulation(const infer::TypedModel &typed, const backends::BackendInfo &backend)
{
    for (const auto &[type, layers] : latency::emulatedLayers(typed, backend)) {
        const std::string text = "warning: this machine has no native support for "
            + std::string(tensor::nameOf(type)) + ": " + counted(layers, "layer is", "layers are")
            + " emulated. Times do not carry over to a machine with native support\n";
        std::fputs(text.c_str(), stderr);
    }
}

/// What a runtime has no kernel for, before anything runs.
void warnOfKernels(const infer::TypedModel &typed, const std::string &backend, const std::string &installed)
{
    const runtimes::KernelTable *const table = runtimes::kernelTableOf(backend);
    if (table == nullptr)
        return;
    for (const std::string &text : runtimes::missingTexts(*table, typed, installed))
        std::fputs(("warning: " + printable(text) + '\n').c_str(), stderr);
}

/// The shapes that the call gives, else those that the model says of its data.
Result<infer::KnownShapes> dataShapes(const session::Session &session)
{
    if (!session.inputShapes().empty())
        return session.inputShapes();
    const graph::Model &model = session.source().model;
    std::vector<std::string> notes;
    HALFTONE_TRY(const infer::ShapeMap inferred, session.shapes(notes));
    infer::KnownShapes shapes = infer::variableShapes(model.graph, inferred);
    for (const tensor::Array &array : model.parameters)
        shapes.erase(std::string(dialect::variableOf(model.graph, array.name)));
    std::erase_if(shapes, [](const auto &shape) { return !shape.second.hasRank(); });
    return shapes;
}

/// The arrays that --inputs names.
Result<latency::GivenInputs> givenInputs(const ProfileOptions &options)
{
    latency::GivenInputs given;
    if (options.policy.example.empty())
        return given;
    HALFTONE_TRY(std::vector<io::NamedTensor> arrays, io::readNpz(options.policy.example));
    for (io::NamedTensor &array : arrays)
        given.insert_or_assign(std::move(array.name), std::move(array.tensor));
    return given;
}

/// N in place of the first axis of every input whose shape is known.
Result<void> setBatch(const ProfileOptions &options, session::Session &session)
{
    if (options.batch == 0)
        return {};
    HALFTONE_CHECK(checkCounts({{"--batch", options.batch}}));
    HALFTONE_TRY(const infer::KnownShapes shapes, dataShapes(session));
    if (shapes.empty())
        return badCall("--batch", "the shapes of the inputs are unknown",
                       "; pass --shape NAME=1,3,224,224 too");
    for (const auto &[name, shape] : shapes) {
        if (shape.rank() == 0)
            continue;
        std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
        dims[0] = options.batch;
        HALFTONE_CHECK(session.setInputShape(name, tensor::Shape(std::move(dims))));
    }
    return {};
}

/// One example where nothing says how many, and a note about it.
Result<void> completeShapes(session::Session &session, infer::ShapeMap &shapes)
{
    HALFTONE_TRY(const std::vector<std::string> taken, session::takeOneExample(session, shapes));
    if (taken.empty())
        return {};
    std::vector<std::string> notes;
    HALFTONE_TRY(shapes, session.shapes(notes));
    tellNotes(session.source().modelPath,
              std::vector<std::string>{"timed with one example, since the first dimension of " + joined(taken)
                                       + " is open; --batch sets another number"});
    return {};
}

Result<Profile> measure(const ProfileOptions &options, const std::stop_token &stop)
{
    if (options.repeats < 1)
        return badCall("--repeats", std::to_string(options.repeats), "at least 1");
    if (options.warmup < 0)
        return badCall("--warmup", std::to_string(options.warmup), "at least 0");
    if (options.threads < 0 || options.threads > 1024)
        return badCall("--threads", std::to_string(options.threads), "1 to 1024, or 0 for one per core");
    const unsigned threads = threadsFor(static_cast<unsigned>(options.threads));
    Profile result;
    HALFTONE_TRY(const latency::PlanMaker maker,
                 latency::PlanMaker::create(options.backend, threads, options.precision.type()));
    result.backendName = options.backend;
    result.backend = maker.backend();
    result.chip = machines::chipOf(result.backend);
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    HALFTONE_TRY(const policy::Policy policy, options.policy.read(session));
    if (!options.table.empty() && !options.quantized && !walks::asksForInt8(policy))
        return badCall("--table", "has no effect: no operator is in int8",
                       "; pass --quantized or --int8-op too");
    HALFTONE_CHECK(setBatch(options, session));
    std::vector<std::string> notes;
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    HALFTONE_CHECK(completeShapes(session, shapes));
    const infer::KnownShapes known = infer::variableShapes(session.source().model.graph, shapes);
    HALFTONE_TRY(const graph::Model source, sourceModel(options, session));
    HALFTONE_TRY(result.inputs, measuredInputs(source, policy, known));
    graph::Model model = source;
    infer::KnownShapes knownHere = known;
    if (options.quantized) {
        if (options.policy.isGiven())
            return badCall("--quantized", "cannot be combined with a policy",
                           "; list int8 operators in the policy instead");
        HALFTONE_TRY(model,
                     walks::quantizedForProfile(source, known, options.table, threads, progress(stop)));
        knownHere = session.inputShapes(); // parameters have other shapes and names in int8
    } else if (options.policy.isGiven()) {
        session::DeriveRequest request{source, session.source().modelPath, policy};
        request.strict = options.policy.strict;
        request.ranges.table = options.table;
        request.ranges.randomInputs = &known;
        request.ranges.calibrate.threads = threads;
        const auto derived = session::derive(request, progress(stop));
        if (!derived.ok())
            return options.policy.located(derived.error());
        tellWarnings(derived.value().converted->warnings);
        model = derived.value().converted->model;
        if (walks::asksForInt8(policy))
            knownHere = session.inputShapes(); // parameters have other shapes and names in int8
    }
    const latency::LatencySettings settings{static_cast<std::size_t>(options.warmup),
                                            static_cast<std::size_t>(options.repeats), false, false,
                                            kAttempts};
    HALFTONE_TRY(const latency::GivenInputs given, givenInputs(options));
    const rewrite::InlinedCalls calls = latency::callsInlinedFor(result.backend);
    HALFTONE_TRY(const infer::TypedModel wanted,
                 latency::typedModel(std::move(model), knownHere, policy, progress(stop), given, {}, calls));
    if (result.backend.wholeModels)
        warnOfKernels(wanted, options.backend, result.backend.version);
    else
        warnOfEmulation(wanted, result.backend);
    HALFTONE_TRY(const std::unique_ptr<kernels::LatencyPlan> plan, maker.plan(wanted));
    HALFTONE_TRY(result.latency, latency::measureLatency(*plan, settings, progress(stop)));
    if (result.chip)
        report::addLimits(result.latency, *result.chip);
    if (options.versusFp32) {
        HALFTONE_TRY(const infer::TypedModel plain,
                     latency::typedModel(source, known, policy::Policy(), progress(stop), given, {}, calls));
        HALFTONE_TRY(const std::unique_ptr<kernels::LatencyPlan> wide, maker.plan(plain));
        HALFTONE_TRY(result.versus, latency::measureVersus(*plan, *wide, settings, 1, progress(stop)));
    }
    return result;
}

std::string fixed(double value, const char *unit)
{
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.3f%s", value, unit);
    return text.data();
}

/// "0.699 -> 0.531 ms (0.760 of it, 95 % interval 0.721 to 0.803)": all of the same pairs of runs.
std::string inWords(const latency::Versus &versus)
{
    return fixed(versus.medianMs, " -> ") + fixed(versus.medianMs * versus.ratio, " ms (")
        + fixed(versus.ratio, "x, 95 % interval ") + fixed(versus.ci95[0], " to ")
        + fixed(versus.ci95[1], versus.ci95[0] > 1 ? ": slower)" : ")");
}

/// "the machine was busy, in each of 4 measurements (median …"
void tellDisturbance(const Profile &profile)
{
    const latency::Latency &latency = profile.latency;
    const auto attempts = [](std::size_t count) {
        return count > 1 ? ", in each of " + std::to_string(count) + " measurements" : std::string();
    };
    std::string text;
    if (latency::isDisturbed(latency))
        text = "note: the machine was busy" + attempts(latency.attempts) + " (median "
            + fixed(latency.medianMs, " ms, fastest run ") + fixed(latency.minMs, " ms, 95 % below ")
            + fixed(latency.p95Ms, " ms): these times are unreliable\n");
    else if (profile.versus && profile.versus->isDisturbed)
        text = "note: the machine was busy during the alternating runs" + attempts(profile.versus->attempts)
            + ": their ratio is unreliable\n";
    std::fputs(text.c_str(), stderr);
}

/// "53 planned, 55 launched as one graph"
std::string launchesText(const kernels::Launches &launches)
{
    return std::to_string(launches.planned) + " planned, "
        + (launches.measured ? std::to_string(*launches.measured) + " launched as one graph"
                             : std::string("launched one by one"));
}

/// All steps that are the device's, at its roofline.
std::string limitText(const Profile &profile)
{
    return fixed(profile.latency.limitMs.value_or(0), " ms, lower bound from bytes and operations on ")
        + profile.chip->name + ": " + printable(profile.chip->title);
}

/// Of steps that nothing but a reference kernel computes, the nodes; empty: there is none.
std::string slowKernels(const latency::Latency &latency)
{
    std::vector<std::string> nodes;
    double microseconds = 0;
    for (const latency::LayerLatency &layer : latency.layers) {
        if (!report::isReferenceKernel(layer.step))
            continue;
        nodes.push_back(layer.step.nodes.empty() ? layer.step.op : layer.step.nodes.back());
        microseconds += layer.medianUs;
    }
    if (nodes.empty())
        return {};
    return printable(joined(nodes, 4)) + ": oneDNN only has its slow reference kernel; "
        + fixed(microseconds / 1e3, " ms");
}

/// "ONNX Runtime 1.22.0, CPUExecutionProvider"
std::string runtimeText(const kernels::RuntimeFacts &runtime)
{
    return printable(runtime.name + ' ' + runtime.version + ", " + runtime.device);
}

std::string typeText(tensor::DType type)
{
    return type == tensor::DType::Unknown ? "-" : std::string(tensor::nameOf(type));
}

/// With a column for the type that each ran in where a runtime may choose another than the model's.
Table layersTable(const Profile &profile)
{
    const bool isRuntime = profile.latency.runtime.has_value();
    std::vector<std::string> titles{"us", "kind", "type", "kernel", "nodes"};
    if (isRuntime)
        titles.insert(titles.begin() + 3, "ran in");
    if (profile.chip)
        titles.insert(titles.begin() + 1, "limit us");
    Table layers(titles);
    for (const latency::LayerLatency &layer : profile.latency.layers) {
        const kernels::PlanStep &step = layer.step;
        std::vector<std::string> row{fixed(layer.medianUs, ""), std::string(kernels::nameOf(step.kind)),
                                     typeText(isRuntime ? report::askedOf(step) : step.dtype),
                                     printable(step.kernel)
                                         + (report::isReferenceKernel(step) ? " (reference kernel)" : ""),
                                     printable(joined(step.nodes, 4))};
        if (isRuntime)
            row.insert(row.begin() + 3, typeText(step.dtype));
        if (profile.chip)
            row.insert(row.begin() + 1, layer.limitUs ? fixed(*layer.limitUs, "") : std::string("-"));
        layers.add(std::move(row));
    }
    return layers;
}

void printProfile(const Profile &profile, const ProfileOptions &options)
{
    const latency::Latency &latency = profile.latency;
    Table head;
    head.add({"backend", options.backend + ", " + profile.backend.device});
    if (latency.runtime)
        head.add({"runtime", runtimeText(*latency.runtime)});
    for (const auto &[name, shape] : profile.inputs)
        head.add({"input", printable(name) + ' ' + shape.toString()});
    head.add({"latency",
              "median " + fixed(latency.medianMs, " ms") + ", min " + fixed(latency.minMs, " ms")
                  + ", 95 % below " + fixed(latency.p95Ms, " ms")});
    if (latency::isDisturbed(latency))
        head.add({"reliable", "no: the machine was busy"});
    head.add({"casts", fixed(latency.castsUs / 1e3, " ms in casts and reorders")});
    head.add({"layers", fixed(latency.sumOfLayersMs, " ms (sum)")});
    for (const std::string &text : report::asAskedTexts(latency))
        head.add({"types", text});
    if (const std::string added = report::addedText(latency); !added.empty())
        head.add({"added", added});
    if (const std::string slow = slowKernels(latency); !slow.empty())
        head.add({"slow kernels", slow});
    head.add({"memory", latency.peakBytes ? humanBytes(*latency.peakBytes) : std::string("unknown")});
    if (latency.deviceMs)
        head.add({"device alone", fixed(*latency.deviceMs, " ms without copies to and from the device")});
    if (latency.launches)
        head.add({"kernels", launchesText(*latency.launches)});
    if (profile.chip)
        head.add({"limit", limitText(profile)});
    if (profile.versus)
        head.add({"versus fp32", inWords(*profile.versus)});
    print(head.toString() + '\n' + layersTable(profile).toString());
}

Result<void> profileModel(const ProfileOptions &options, const std::stop_token &stop)
{
    HALFTONE_TRY(const Profile profile, measure(options, stop));
    tellDisturbance(profile);
    if (options.json)
        printJson(results::profileJson(profile));
    else
        printProfile(profile, options);
    return {};
}

} // namespace

void addProfile(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<ProfileOptions>();
    Command command = app.command("profile", "Measure the latency of a model and of each layer");
    options->model.addTo(command);
    options->policy.addTo(command);
    command.option("--backend", &options->backend, backends::planningBackendNames()).type("NAME");
    options->precision.addTo(command);
    command.option("--threads", &options->threads, "Number of worker threads (default: one per core)")
        .type("N");
    command.option("--repeats", &options->repeats, "Number of timed runs (default: 30)").type("N");
    command.option("--warmup", &options->warmup, "Number of warm-up runs (default: 5)").type("N");
    command.option("--batch", &options->batch, "First dimension of every input (default: the model's)")
        .type("N")
        .positive();
    command
        .option("--random-params", &options->seed,
                "Draw random values for missing parameters, with this seed")
        .type("SEED");
    command.flag("--versus-fp32", options->versusFp32, "Also time the unconverted model, alternating runs");
    command.flag("--quantized", options->quantized,
                 "Time the model in int8, with ranges from --table (default: ranges of random values, for "
                 "timing only)");
    command.option("--table", &options->table, "Ranges of int8 operators, as written by 'calibrate --out'")
        .type("T.json");
    command.flag("--json", options->json, "Print as JSON");
    command.onChosen([command, options, &chosen] {
        options->hasSeed = command.isGiven("--random-params");
        chosen = [options](const std::stop_token &stop) { return profileModel(*options, stop); };
    });
}

} // namespace halftone::cli

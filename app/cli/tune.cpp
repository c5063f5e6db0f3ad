#include "app/cli/commands.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/format_texts.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/tune_shards.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/tune/front_json.h"
#include "core/tune/kept_record.h"
#include "core/tune/limit_text.h"
#include "core/tune/model_oracle.h"
#include "core/tune/recording.h"
#include "core/tune/shared_basis.h"
#include "core/walks/runtime_model.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

namespace halftone::cli {
namespace {

struct TuneOptions
{
    ModelOptions model;
    PolicyOptions policy;
    DataOptions data;
    PrecisionOption precision;
    std::string out;
    std::string limit;
    std::string time;
    std::string state;
    std::string pick;
    std::string write;
    std::int64_t memory = 1024;
    std::int64_t points = 8;
    ShardOptions shard;
    bool areGroupsOnly = false;
    bool hasInt8 = false;
    bool json = false;

    /// Neither a whole search nor the end of one.
    bool isPart() const { return shard.isGiven() || areGroupsOnly; }
};

/// What was read of the options.
struct TuneCall
{
    walks::CompareOptions compare;
    session::LatencyOptions latency;
    tune::SearchSettings settings;
    std::optional<tune::Pick> pick;
};

std::optional<double> numberIn(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "60s", "2m", "1h"; seconds where there is no unit
Result<std::chrono::duration<double>> timeIn(const std::string &text)
{
    constexpr std::array<std::pair<char, double>, 3> kUnits{{{'s', 1}, {'m', 60}, {'h', 3600}}};
    std::string_view digits = text;
    double unit = 1;
    for (const auto &[letter, seconds] : kUnits) {
        if (digits.ends_with(letter)) {
            digits.remove_suffix(1);
            unit = seconds;
            break;
        }
    }
    const auto value = numberIn(digits);
    if (!value || !(*value > 0) || !(*value * unit < 1e9))
        return badCall("--time", text, "a time such as 60s or 5m");
    return std::chrono::duration<double>(*value * unit);
}

Result<TuneCall> taken(TuneOptions &options)
{
    HALFTONE_CHECK(checkCounts({{"--memory", options.memory}, {"--points", options.points}}));
    HALFTONE_CHECK(options.shard.take(options.out));
    if (options.areGroupsOnly && (options.state.empty() || options.shard.isGiven()))
        return badCall("--groups-only",
                       options.state.empty() ? "needs a file to store the times in"
                                             : "cannot be combined with --shard",
                       options.state.empty() ? "; pass --state" : "");
    TuneCall call;
    HALFTONE_CHECK(options.data.take(call.compare));
    call.latency.backend = call.compare.backend;
    call.latency.threads = call.compare.threads;
    call.latency.precision = options.precision.type();
    call.compare.backend = walks::kernelBackendFor(call.compare.backend);
    call.compare.settings.memoryLimit = static_cast<std::size_t>(options.memory) << 20;
    if (!options.limit.empty()) {
        call.settings.limit = tune::limitNamed(options.limit);
        if (!call.settings.limit)
            return badCall("--limit", options.limit, "sqnr=30 (dB) or top1=-0.5 (points)");
    }
    if (!options.time.empty()) {
        HALFTONE_TRY(call.settings.time, timeIn(options.time));
    }
    call.settings.points = static_cast<std::size_t>(std::max<std::int64_t>(options.points, 1));
    if (!options.pick.empty())
        call.pick = options.pick == "knee" ? tune::Pick::Knee : tune::Pick::FastestWithin;
    call.settings.onlyFastest = call.pick == tune::Pick::FastestWithin;
    if (options.pick.empty() != options.write.empty())
        return badCall(options.pick.empty() ? "--pick" : "--write", "not given",
                       "; pass --pick and --write together");
    if (call.settings.limit && call.settings.limit->metric == tune::Limit::Metric::Top1
        && options.data.data.labels.empty() && !options.data.data.inputs.ends_with(".npz"))
        return badCall("--limit", options.limit + " needs labelled data", "; pass --labels too");
    return call;
}

/// Shapes that data give and the call does not.
Result<void> takeShapes(session::Session &session, const walks::ExampleOptions &data)
{
    HALFTONE_TRY(const auto shapes,
                 walks::shapesOfOne(data, session.source().model, session.source().modelPath));
    for (const auto &[name, shape] : shapes)
        if (!session.inputShapes().contains(name))
            HALFTONE_CHECK(session.setInputShape(name, shape));
    return {};
}

/// Of what is offered, the fastest.
std::string bestSoFar(const tune::Front &front)
{
    const std::vector<std::size_t> best = front.best();
    if (best.empty())
        return {};
    const tune::Measurement &measured = *front.points[best.back()].measured;
    return "; so far " + formatted("%.3f ms", measured.milliseconds)
        + formatted(" at %.1f dB", measured.sqnrDb);
}

/// FRONT.json and, beside it, FRONT-1.json, …: a policy for each point that was measured.
Result<void> writeFront(const tune::Front &front, const tune::TuneTask &task, const TuneOptions &options,
                        const TuneCall &call, Json &json)
{
    const std::filesystem::path out(options.out);
    std::vector<std::string> policies(front.points.size());
    std::size_t number = 0;
    for (std::size_t k = 0; k < front.points.size(); ++k) {
        if (!front.points[k].measured)
            continue;
        policies[k]
            = (out.parent_path() / (out.stem().string() + '-' + std::to_string(++number) + ".json")).string();
        HALFTONE_CHECK(
            writeWhole(policies[k],
                       policy::writePolicy(tune::adoptedPolicy(front, *task.policy, task.source->model.graph,
                                                               front.points[k].labels))));
    }
    json = tune::frontJson(front, policies, call.settings.limit, tensor::nameOf(task.policy->target));
    return writeWhole(options.out, jsonText(json, 1, '\t') + '\n');
}

/// Of the points that are offered.
std::size_t disturbedPoints(const tune::Front &front)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        front.best(), [&front](std::size_t k) { return front.points[k].measured->isDisturbed; }));
}

void printFront(const tune::Front &front, const TuneOptions &options, const TuneCall &call)
{
    const bool isDisturbed = disturbedPoints(front) > 0;
    std::vector<std::string> titles{"ms", "of fp32", "SQNR dB", "top-1", "lowered", "found by"};
    if (isDisturbed)
        titles.emplace_back("timing");
    Table table(titles);
    for (const std::size_t k : front.best()) {
        const tune::Point &point = front.points[k];
        const tune::Measurement &measured = *point.measured;
        std::size_t lowered = 0;
        std::size_t tunable = 0;
        for (std::size_t group = 0; group < front.groups.size(); ++group) {
            tunable += front.groups[group].isTunable ? 1 : 0;
            lowered += front.groups[group].isTunable && point.labels[group] != tune::Label::Float32 ? 1 : 0;
        }
        std::vector<std::string> row{formatted("%.3f", measured.milliseconds),
                                     formatted("%.3f", measured.ratio),
                                     std::isinf(measured.sqnrDb) ? "exact"
                                                                 : formatted("%.1f", measured.sqnrDb),
                                     measured.top1 ? formatted("%.2f %%", 100 * *measured.top1) : "-",
                                     std::to_string(lowered) + " of " + std::to_string(tunable) + " groups",
                                     std::string(tune::nameOf(point.origin))};
        if (isDisturbed)
            row.emplace_back(measured.isDisturbed ? "machine was busy: unreliable" : "quiet");
        table.add(std::move(row));
    }
    Table head;
    head.add({"measured",
              counted(front.evaluations, "model", "models") + ", " + counted(front.passes, "pass", "passes")
                  + " over the examples"});
    head.add(
        {"correction",
         formatted("measured errors are %.2f times the sum of the groups' isolated errors", front.kappa)});
    if (front.lowerBoundGap > 0)
        head.add({"bound",
                  "the best combination found is at most " + formatted("%.2f %%", 100 * front.lowerBoundGap)
                      + " above the lower bound"});
    if (std::ranges::any_of(front.points, [](const tune::Point &point) {
            return point.measured && point.measured->byDevice;
        }))
        head.add({"timed by", "the device's own clock, without copies to and from it"});
    if (call.latency.backend != call.compare.backend)
        head.add({"backends",
                  "times of " + call.latency.backend + ", errors as computed by " + call.compare.backend});
    for (const std::string &text : front.refusals())
        head.add({"left out", printable(text)});
    head.add({"time", formatted("%.1f s", front.seconds)});
    head.add({"stopped by", std::string(tune::nameOf(front.stoppedBy))});
    print(head.toString() + '\n' + table.toString() + "\nwrote " + printable(options.out) + '\n');
}

void tellRefusals(const tune::Front &front)
{
    for (const std::string &text : front.refusals())
        std::fputs(("note: " + printable(text) + '\n').c_str(), stderr);
}

void tellDisturbance(const tune::Front &front)
{
    if (!front.isDisturbed())
        return;
    const std::size_t points = disturbedPoints(front);
    std::string text = "note: the machine was busy, also when times were measured again: the times of ";
    if (points > 0)
        text += counted(points, "point", "points");
    if (front.areLayersDisturbed)
        text += std::string(points > 0 ? " and " : "") + "the layers by which the search chose";
    std::fputs((text + " are unreliable\n").c_str(), stderr);
}

Result<std::vector<std::string>> writePicked(session::Session &session, const policy::Policy &policy,
                                             const infer::ShapeMap &shapes,
                                             const walks::CompareOptions &compare,
                                             const io::ModelOutput &output, const std::stop_token &stop)
{
    session::DeriveRequest request{session.source().model, session.source().modelPath, policy, &shapes};
    request.ranges.calibrate.examples = compare.examples;
    request.ranges.calibrate.backend = compare.backend;
    request.ranges.calibrate.threads = compare.threads;
    HALFTONE_TRY(const session::Derived derived, session.derive(request, progress(stop)));
    tellWarnings(derived.converted->warnings);
    return session.write(derived.converted->model, output, policy.inputDtypes);
}

Result<void> timeGroups(tune::RecordingOracle &oracle, const TuneOptions &options,
                        const std::stop_token &stop)
{
    HALFTONE_TRY(const tune::Network network, oracle.profile(progress(stop)));
    HALFTONE_CHECK(oracle.timeConversions(progress(stop))); // which are kept
    print("wrote " + printable(options.state) + ": " + counted(network.groups.size(), "group", "groups")
          + ", " + counted(tune::candidatesOf(network).size(), "candidate", "candidates") + '\n');
    return {};
}

Result<void> tune(TuneOptions options, const std::stop_token &stop)
{
    HALFTONE_TRY(const TuneCall call, taken(options));
    CommandFiles files;
    files.reads(options.model)
        .reads(call.compare.examples, options.model)
        .reads("--policy", options.policy.file)
        .writes("--out", options.out)
        .writes("--state", options.state);
    HALFTONE_CHECK(files.check());
    std::optional<io::ModelOutput> output;
    if (!options.write.empty() && !options.isPart()) {
        HALFTONE_TRY(io::ModelOutput claimed, files.claim(options.write, options.model.model));
        output.emplace(std::move(claimed));
    }
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    HALFTONE_TRY(const policy::Policy policy, options.policy.read(session));
    HALFTONE_CHECK(takeShapes(session, call.compare.examples));
    std::vector<std::string> notes = session.source().notes;
    HALFTONE_TRY(const infer::ShapeMap shapes, session.shapes(notes));
    tune::TuneTask task;
    task.source = session.sharedSource();
    task.shapes = std::make_shared<const infer::ShapeMap>(shapes);
    task.policy = std::make_shared<const policy::Policy>(tune::withoutAdopted(policy));
    task.compare = call.compare;
    task.latency = call.latency;
    task.hasInt8 = options.hasInt8;
    HALFTONE_TRY(tune::Record record, tune::keptRecord(task, options.state, options.isPart()));
    tune::ModelOracle oracle(task);
    // A state that shards share is not theirs to write.
    tune::RecordingOracle recording(oracle, std::move(record),
                                    options.shard.isGiven() ? std::string() : options.state);
    if (options.shard.isGiven()) {
        HALFTONE_TRY(const shards::StatisticsOrigin origin, tune::originOf(task));
        return options.shard.forEach([&](const walks::Shard &shard) {
            return writeSearchShard(recording, origin, shard, options.out, progress(stop));
        });
    }
    if (options.areGroupsOnly)
        return timeGroups(recording, options, stop);
    std::string best;
    const Progress shown = progress(stop);
    const Progress told{
        stop, [&](double share, std::string_view what) { shown.tell(share, std::string(what) + best); }};
    auto found = tune::search(recording, call.settings, told,
                              [&best](const tune::Front &front) { best = bestSoFar(front); });
    if (!found.ok())
        return options.policy.located(found.error());
    const tune::Front &front = found.value();
    Json json;
    HALFTONE_CHECK(writeFront(front, task, options, call, json));
    if (call.pick && !stop.stop_requested()) {
        const auto picked = tune::pick(front, *call.pick, call.settings.limit);
        if (!picked)
            return badInput("--limit", "no measured point meets " + options.limit, "; set a looser limit");
        HALFTONE_TRY(const std::vector<std::string> written,
                     writePicked(session,
                                 tune::policyFor(*task.policy, session.source().model.graph, front.groups,
                                                 front.points[*picked].labels),
                                 shapes, call.compare, *output, stop));
        const std::vector<std::size_t> offered = front.best();
        json["picked"] = std::ranges::find(offered, *picked) - offered.begin(); // of "points"
        json["written"] = written;
        if (!options.json)
            for (const std::string &path : written)
                print("wrote " + printable(path) + '\n');
    }
    tellRefusals(front);
    tellDisturbance(front);
    if (options.json)
        printJson(json);
    else
        printFront(front, options, call);
    return stop.stop_requested() ? Result<void>(cancelled()) : Result<void>();
}

} // namespace

void addTune(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<TuneOptions>();
    Command command = app.command(
        "tune", "Search the trade-off between accuracy and latency for the layers that must stay in float32");
    options->model.addTo(command);
    options->policy.addTo(command);
    command.remove("--inputs"); // here it is the data to measure on
    options->data.addTo(command, DataOptions::Labels::Accuracy);
    command.get("--inputs").required();
    options->precision.addTo(command);
    command.option("--out", &options->out, "Write the front to this file and each point's policy beside it")
        .type("FRONT.json")
        .notEmpty()
        .required();
    command
        .option("--limit", &options->limit,
                "Accuracy limit: sqnr=30 (in dB) or top1=-0.5 (in percentage points)")
        .type("METRIC=VALUE");
    command
        .option("--time", &options->time,
                "Start no new measurement after this time, e.g. 60s or 5m (default: no limit)")
        .type("TIME");
    command.option("--state", &options->state, "Store measurements in this file and resume from it")
        .type("FILE");
    command.option("--points", &options->points, "Number of points to measure (default: 8)").type("N");
    command
        .option("--memory", &options->memory, "Memory limit for intermediate tensors in MiB (default: 1024)")
        .type("MIB");
    options->shard.addTo(command);
    command.flag("--groups-only", options->areGroupsOnly,
                 "Only time the groups and store the times in --state, for all shards to share");
    command.flag("--int8", options->hasInt8, "Also consider int8");
    command
        .option("--pick", &options->pick,
                "Also write one model: the fastest within the limit (the search ends when it is found), or "
                "the knee of the front")
        .oneOf({"fastest-within", "knee"})
        .type("POINT");
    command.option("--write", &options->write, "With --pick: write the model as " + outputHelp()).type("P");
    command.flag("--json", options->json, "Print the front as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return tune(*options, stop); };
    });
}

} // namespace halftone::cli

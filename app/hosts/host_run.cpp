#include "app/hosts/host_run.h"

#include "core/base/atomic_file.h"
#include "core/base/fnv1a.h"
#include "core/base/hex.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/report/calibration_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace halftone::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char *, 3> kCommands{"calibrate", "compare", "tune"};

std::string shortest(double value)
{
    constexpr std::size_t kLongest = 40;
    std::array<char, kLongest> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

std::string absolute(const std::string &path)
{
    std::error_code none;
    return path.empty() ? path : fs::absolute(path, none).string();
}

/// Another one when the file was written again.
std::string traceOfFile(const std::string &path)
{
    std::error_code none;
    return path.empty() ? std::string()
                        : path + ' ' + std::to_string(fs::file_size(path, none)) + ' '
            + std::to_string(fs::last_write_time(path, none).time_since_epoch().count());
}

} // namespace

HostRun::HostRun(HostRequest request, const std::string &folder)
    : m_request(std::move(request))
    , m_policy(policy::writePolicy(m_request.policy()))
{
    Fnv1a hash;
    const io::LoadedModel &source = *m_request.snapshot->source;
    for (const std::string &word : command())
        hash.add(word + '\n');
    if (m_request.task != HostTask::Calibrate)
        hash.add(m_policy);
    hash.add(m_request.dataBasis + '\n' + traceOfFile(absolute(source.modelPath)) + '\n'
             + traceOfFile(absolute(source.paramsPath)));
    if (needsTable()) {
        for (const calibration::CalibratedTensor &tensor : m_request.snapshot->calibration->tensors)
            hash.add(tensor.name + ' ' + shortest(tensor.threshold.value) + '\n');
    }
    m_folder = folder + '/' + fs::path(source.modelPath).stem().string() + '-'
        + kCommands[static_cast<std::size_t>(m_request.task)] + '-' + hexDigits(hash.value());
}

/// Ranges of int8 operators: else every shard would calibrate for itself.
bool HostRun::needsTable() const
{
    const session::Snapshot &snapshot = *m_request.snapshot;
    return m_request.task == HostTask::Compare && snapshot.calibration
        && !snapshot.converted->conversion.int8Group.empty();
}

HostRun::State HostRun::state() const
{
    std::error_code none;
    if (fs::exists(journal() + "/call", none))
        return State::Interrupted;
    return fs::exists(statistics(), none) ? State::Finished : State::New;
}

std::size_t HostRun::shards() const
{
    std::ifstream in(journal() + "/call");
    std::string line;
    std::getline(in, line);
    return static_cast<std::size_t>(std::max<std::int64_t>(parseInteger(line).value_or(0), 0));
}

std::size_t HostRun::shardsDone() const
{
    std::error_code none;
    std::size_t done = 0;
    for (const std::size_t all = shards();
         const fs::directory_entry &entry : fs::directory_iterator(journal(), none))
        done += entry.path().filename().string().ends_with("-of-" + std::to_string(all)) ? 1 : 0;
    return done;
}

std::vector<std::string> HostRun::dataWords(const walks::ExampleOptions &data) const
{
    std::vector<std::string> words{"--inputs", absolute(data.inputs)};
    const auto add = [&words](const char *option, const std::string &value) {
        if (!value.empty())
            words.insert(words.end(), {option, value});
    };
    add("--preprocess", absolute(data.preprocess));
    add("--labels", absolute(data.labels));
    if (m_request.task != HostTask::Calibrate) {
        add("--targets", absolute(data.targets));
        add("--metric", data.metric ? std::string(tasks::nameOf(*data.metric)) : std::string());
    }
    add("--examples", data.examples > 0 ? std::to_string(data.examples) : std::string());
    return words;
}

std::vector<std::string> HostRun::command() const
{
    const io::LoadedModel &source = *m_request.snapshot->source;
    const bool isCalibration = m_request.task == HostTask::Calibrate;
    std::vector<std::string> words{kCommands[static_cast<std::size_t>(m_request.task)],
                                   absolute(source.modelPath)};
    const auto add = [&words](const std::vector<std::string> &more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    if (!source.paramsPath.empty())
        add({"--params", absolute(source.paramsPath)});
    std::vector<std::string> shapes;
    for (const auto &[name, shape] : m_request.shapes) {
        if (!shape.isComplete())
            continue;
        std::string text = name + '=';
        for (std::size_t k = 0; k < shape.rank(); ++k)
            text += (k > 0 ? "," : "") + std::to_string(shape[k]);
        shapes.push_back(std::move(text));
    }
    std::ranges::sort(shapes);
    for (const std::string &shape : shapes)
        add({"--shape", shape});
    add(dataWords(isCalibration ? m_request.calibrate.examples : m_request.compare.examples));
    add({"--backend", isCalibration ? m_request.calibrate.backend : m_request.compare.backend});
    if (isCalibration) {
        const calibration::ThresholdOptions &threshold = m_request.calibrate.threshold;
        add({"--method", std::string(calibration::nameOf(threshold.method)), "--percentile",
             shortest(threshold.percentile), "--dtype",
             threshold.codes == calibration::CodeType::Auto        ? "auto"
                 : threshold.codes == calibration::CodeType::Uint8 ? "uint8"
                                                                   : "int8"});
        return words;
    }
    constexpr std::size_t kMebibyte = std::size_t{1} << 20;
    add({"--memory",
         std::to_string(std::max<std::size_t>(m_request.compare.settings.memoryLimit / kMebibyte, 1)),
         "--policy", inFolder("policy.json")});
    if (m_request.task == HostTask::Compare) {
        add({"--effect", m_request.isolated ? "both" : "cumulative"});
        if (needsTable())
            add({"--table", inFolder("ranges.json")});
        return words;
    }
    if (m_request.compare.threads > 0)
        add({"--threads", std::to_string(m_request.compare.threads)});
    if (m_request.hasInt8)
        add({"--int8"});
    if (m_request.limit)
        add({"--limit",
             (m_request.limit->metric == tune::Limit::Metric::Sqnr ? "sqnr=" : "top1=")
                 + shortest(m_request.limit->value)});
    return words;
}

Result<void> HostRun::writeTable() const
{
    const walks::CalibrateOutcome &table = *m_request.snapshot->calibration;
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(inFolder("ranges.json")));
    HALFTONE_CHECK(report::writeCalibration(table.tensors, m_request.calibrate.threshold.method,
                                            table.examples, table.seconds,
                                            [&file](std::string_view piece) { return file.write(piece); }));
    return file.commit();
}

Result<std::vector<std::string>> HostRun::prepare(const HostPlace &place) const
{
    std::error_code failure;
    fs::create_directories(m_folder, failure);
    if (failure)
        return inFile(badInput({}, failure.message(), "a folder that can be created"), m_folder);
    fs::remove(statistics(), failure); // of a run before
    if (m_request.task != HostTask::Calibrate)
        HALFTONE_CHECK(writeWhole(inFolder("policy.json"), m_policy));
    if (needsTable())
        HALFTONE_CHECK(writeTable());
    const Ranks ranks = ranksOn(place.hosts, m_request.task == HostTask::Tune);
    HALFTONE_CHECK(writeWhole(inFolder("hosts"), ranks.hostfile));
    // Shards are programs that ranks start: bound as a rank is, they would share one core.
    std::vector<std::string> words{
        place.mpirun, "--hostfile", inFolder("hosts"), "-n", std::to_string(ranks.count),
        "--bind-to",  "none"};
    if (place.isRoot)
        words.emplace_back("--allow-run-as-root");
    words.push_back(place.program);
    const std::vector<std::string> called = command();
    words.insert(words.end(), called.begin(), called.end());
    words.insert(words.end(),
                 {"--out", inFolder("result.json"), "--statistics", statistics(), "--time-limit",
                  shortest(place.timeLimit)});
    return words;
}

void HostRun::forget() const
{
    std::error_code none;
    fs::remove_all(m_folder, none);
}

} // namespace halftone::app

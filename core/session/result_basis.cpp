#include "core/session/result_basis.h"

#include "core/backends/backends.h"
#include "core/base/fnv1a.h"
#include "core/base/hex.h"
#include "core/base/memory.h"
#include "core/io/pictures/preprocess.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace halftone::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBasisVersion = "2"; ///< another one where the same input gives other figures

std::string traceOf(const fs::path &file)
{
    std::error_code failed;
    const auto size = fs::file_size(file, failed);
    if (failed)
        return file.filename().string() + " absent";
    const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
    return file.filename().string() + ' ' + std::to_string(size) + ' ' + std::to_string(time);
}

/// Of a folder: all files below it, in the order of their paths.
std::vector<std::string> tracesOf(const fs::path &path)
{
    std::error_code failed;
    if (!fs::is_directory(path, failed))
        return {traceOf(path)};
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed)) {
        if (std::error_code unknown; at->is_regular_file(unknown))
            files.push_back(at->path());
    }
    checkMemory(failed);
    std::ranges::sort(files);
    std::vector<std::string> traces;
    traces.reserve(files.size());
    for (const fs::path &file : files)
        traces.push_back(file.parent_path().lexically_relative(path).string() + '/' + traceOf(file));
    return traces;
}

std::string hashOf(const std::vector<std::string> &lines)
{
    Fnv1a hash;
    for (const std::string &line : lines)
        hash.add(line + '\n');
    return hexDigits(hash.value());
}

std::string deviceOf(std::string_view backend)
{
    for (const backends::BackendInfo &one : backends::allBackends()) {
        if (one.name == backend)
            return one.name + ", " + one.device;
    }
    return std::string(backend);
}

} // namespace

std::string comparisonBasis(const walks::CompareOptions &options, const std::string &modelPath)
{
    const walks::ExampleOptions &data = options.examples;
    std::vector<std::string> lines
        = data.arrays ? std::vector{hexDigits(walks::hashOfArrays(data))} : tracesOf(data.inputs);
    lines.push_back(traceOf(data.preprocess.empty() ? io::preprocessBeside(modelPath) : data.preprocess));
    if (!data.labels.empty())
        lines.push_back(traceOf(data.labels));
    if (!data.targets.empty())
        std::ranges::copy(tracesOf(data.targets), std::back_inserter(lines));
    if (data.metric)
        lines.emplace_back(tasks::nameOf(*data.metric));
    return std::string(kBasisVersion) + "; data " + hashOf(lines) + "; examples "
        + std::to_string(data.examples) + "; " + deviceOf(options.backend) + "; threads "
        + std::to_string(options.threads);
}

std::string latencyBasis(const LatencyOptions &options)
{
    const std::string precision = options.precision == tensor::DType::Unknown
        ? std::string()
        : "; in " + std::string(tensor::nameOf(options.precision));
    return std::string(kBasisVersion) + "; " + deviceOf(options.backend) + precision + "; threads "
        + std::to_string(options.threads) + "; runs " + std::to_string(options.settings.repeats);
}

} // namespace halftone::session

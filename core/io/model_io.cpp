#include "core/io/model_io.h"

#include "core/dialect/dialect.h"
#include "core/io/foreign_formats.h"
#include "core/io/sniff.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace halftone::io {
namespace {

namespace fs = std::filesystem;

Result<LoadedModel> readOnce(const std::string &path, const LoadOptions &options, bool &isChanging)
{
    if (std::error_code none; fs::is_directory(path, none)) {
        if (const ForeignFormat *const foreign = foreignFormatOfFolder(path))
            return inFile(badInput({}, std::string(foreign->title), std::string(foreign->way)), path);
    }
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    const auto format = sniff(file->bytes(), path);
    if (!format.ok())
        return inFile(format.error(), path);
    return format.value()->load(file, options, isChanging);
}

} // namespace

bool LoadOptions::leavesOutParameters() const
{
    return noParams || params == "none";
}

std::vector<std::string> outputFiles(const std::string &prefix, const ModelFormat &format, bool hasParameters)
{
    const OutputNames names = format.outputNames(prefix);
    std::vector<std::string> files{names.model};
    if (hasParameters && format.hasParameterFile)
        files.push_back(names.values);
    return files;
}

std::optional<std::string> paramsBeside(const std::string &modelPath)
{
    const ModelFormat *const format = formatOfName(modelPath);
    return format != nullptr && format->parametersBeside != nullptr ? format->parametersBeside(modelPath)
                                                                    : std::nullopt;
}

Result<LoadedModel> loadModel(const std::string &path, const LoadOptions &options)
{
    constexpr int kAttempts = 20;
    constexpr std::chrono::milliseconds kWait(50);
    for (int attempt = 1;; ++attempt) {
        bool isChanging = false;
        auto loaded = readOnce(path, options, isChanging);
        if (!isChanging || attempt == kAttempts)
            return loaded;
        std::this_thread::sleep_for(kWait);
        if (options.stop.stop_requested())
            return cancelled();
    }
}

ModelOutput::ModelOutput(const ModelFormat &format, OutputNames names, OutputLock lock)
    : m_format(&format)
    , m_names(std::move(names))
    , m_lock(std::move(lock))
{
}

Result<ModelOutput> ModelOutput::claim(const std::string &prefix, const ModelFormat &format)
{
    const std::string name = fs::path(prefix).filename().string();
    if (name.empty() || name == "." || name == "..")
        return Error{Errc::BadCall, prefix, {}, "no file name", "FOLDER/NAME or NAME"};
    OutputNames names = format.outputNames(prefix);
    HALFTONE_TRY(OutputLock lock, OutputLock::take(names.common));
    return ModelOutput(format, std::move(names), std::move(lock));
}

tensor::DType declaredOutputType(const LoadedModel &loaded, std::size_t k)
{
    if (!loaded.facts || k >= loaded.facts->outputs.size())
        return tensor::DType::Unknown;
    return tensor::dtypeNamed(loaded.facts->outputs[k].dtype).value_or(tensor::DType::Unknown);
}

/// Refuses to write over what is still being read.
Result<AtomicFile> createOutput(const std::string &path, const LoadedModel &source)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    if (file.replaces()
        && std::ranges::find(source.files, *file.replaces(), &MappedFile::identity) != source.files.end())
        return Error{Errc::BadCall,
                     path,
                     {},
                     "the output would overwrite the model that is being read",
                     "; choose another file name"};
    return file;
}

Result<std::vector<std::string>> saveModel(const graph::Model &model, const ModelOutput &output,
                                           const LoadedModel &source,
                                           std::span<const tensor::DType> outputTypes)
{
    const ModelFormat &format = output.format();
    if (formatOf(model.graph) != &format)
        return inFile(unsupported({},
                                  std::string(dialect::of(model.graph).title())
                                      + " models cannot be written as " + std::string(format.title)),
                      output.modelPath());
    return format.save(model, output, source, outputTypes);
}

Result<std::vector<std::string>> saveModel(const graph::Model &model, const std::string &prefix,
                                           const LoadedModel &source)
{
    HALFTONE_TRY(const ModelOutput output, ModelOutput::claim(prefix, outputFormat(prefix, model.graph)));
    return saveModel(model, output, source);
}

} // namespace halftone::io

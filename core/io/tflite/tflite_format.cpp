#include "core/io/tflite/tflite_format.h"

#include "core/base/atomic_file.h"
#include "core/io/model_io.h"
#include "core/io/tflite/tflite_file.h"

namespace halftone::io {
namespace {

constexpr std::string_view kTfliteEnding = ".tflite";

Likeness sniffTflite(std::span<const std::byte> content, std::string_view path)
{
    constexpr std::size_t kIdentifierAt = 4;
    const std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
    if (text.size() > kIdentifierAt && text.substr(kIdentifierAt).starts_with("TFL3"))
        return Likeness::Certain;
    return path.ends_with(kTfliteEnding) ? Likeness::Name : Likeness::None;
}

Result<LoadedModel> loadTflite(const std::shared_ptr<const MappedFile> &file, const LoadOptions &options,
                               bool &)
{
    if (!options.params.empty() && !options.leavesOutParameters())
        return badCall(halftone::Field::Params, "a TensorFlow Lite model contains its parameters",
                       "; leave the parameter file out");
    LoadedModel loaded;
    HALFTONE_TRY(TfliteModel read, readTflite(file, loaded.notes, options.stop));
    loaded.model = std::move(read.model);
    loaded.facts = std::move(read.facts);
    if (options.leavesOutParameters()) {
        loaded.model.parameters.clear();
        loaded.model.hasParameters = false;
    }
    loaded.modelPath = file->path();
    loaded.files = {file};
    return loaded;
}

OutputNames tfliteOutputNames(const std::string &prefix)
{
    const std::string name = prefix.ends_with(kTfliteEnding) ? prefix : prefix + std::string(kTfliteEnding);
    return {name, name, {}};
}

Result<std::vector<std::string>> saveTflite(const graph::Model &, const ModelOutput &output,
                                            const LoadedModel &, std::span<const tensor::DType>)
{
    return inFile(unsupported({}, "TensorFlow Lite models are read, not yet written",
                              "; name an output of another format"),
                  output.modelPath());
}

} // namespace

const ModelFormat &tfliteFormat()
{
    static const ModelFormat kFormat{
        .name = "tflite",
        .title = "TensorFlow Lite",
        .model = "a TensorFlow Lite model",
        .files = "a TensorFlow Lite model",
        .infoName = "tflite",
        .placeholder = "MODEL.tflite",
        .readHelp = "NAME.tflite",
        .writeHelp = "P.tflite",
        .ending = kTfliteEnding,
        .isReadable = hasTfliteReader(),
        .isCopiedByDefault = true,
        .sniff = sniffTflite,
        .load = loadTflite,
        .outputNames = tfliteOutputNames,
        .save = saveTflite,
    };
    return kFormat;
}

} // namespace halftone::io

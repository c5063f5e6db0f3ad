#include "core/io/tflite/tflite_format.h"

#include "core/base/atomic_file.h"
#include "core/io/model_io.h"
#include "core/io/tflite/tflite_file.h"

#include <algorithm>

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

/// Is the model what was read, with nothing changed?
bool isAsRead(const graph::Model &model, const graph::Model &read)
{
    const graph::Graph &a = model.graph;
    const graph::Graph &b = read.graph;
    if (a.nodeCount() != b.nodeCount() || !std::ranges::equal(a.heads(), b.heads())
        || model.parameters.size() != read.parameters.size())
        return false;
    for (graph::NodeId id = 0; id < a.nodeCount(); ++id)
        if (a.sharedNode(id) != b.sharedNode(id) || !std::ranges::equal(a.inputs(id), b.inputs(id)))
            return false;
    return std::ranges::equal(model.parameters, read.parameters,
                              [](const tensor::Array &one, const tensor::Array &other) {
                                  return one.name == other.name && one.values.place() == other.values.place();
                              });
}

/// A model that was not changed has the bytes of its file.
Result<std::vector<std::string>> saveTflite(const graph::Model &model, const ModelOutput &output,
                                            const LoadedModel &source, std::span<const tensor::DType>)
{
    if (source.files.size() != 1 || !isAsRead(model, source.model))
        return inFile(unsupported({}, "TensorFlow Lite models are not yet written with changes",
                                  "; name an output that ends in .onnx"),
                      output.modelPath());
    HALFTONE_TRY(AtomicFile file, createOutput(output.modelPath(), source));
    HALFTONE_CHECK(file.write(source.files[0]->bytes()));
    HALFTONE_CHECK(file.commit());
    return std::vector{file.path()};
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

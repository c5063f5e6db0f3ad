#include "core/io/onnx/onnx_format.h"

#include "core/base/atomic_file.h"
#include "core/io/model_io.h"
#include "core/io/onnx/onnx_file.h"

#include <array>
#include <filesystem>

namespace halftone::io {
namespace {

constexpr std::string_view kOnnxEnding = ".onnx";
constexpr std::string_view kDataEnding = ".data";

/// ONNX is a protobuf message that starts with its IR version (field 1, a small number), then a text (field 2
/// or 3) or another field.
bool looksLikeOnnx(std::string_view text)
{
    constexpr char kIrVersion = 0x08;
    constexpr std::string_view kNextFields = "\x12\x1A\x22\x2A\x32\x3A\x42";
    return text.size() > 3 && text[0] == kIrVersion && text[1] > 0 && text[1] < 32
        && kNextFields.find(text[2]) != std::string_view::npos;
}

/// Could it be a damaged or unusually ordered model, given that its name says that it is one?
bool mayBeOnnx(std::string_view text)
{
    constexpr std::string_view kFirstFields = "\x08\x12\x1A\x22\x28\x32\x3A\x42\x72";
    return !text.empty() && kFirstFields.find(text.front()) != std::string_view::npos;
}

Likeness sniffOnnx(std::span<const std::byte> content, std::string_view path)
{
    const std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
    if (path.ends_with(kOnnxEnding) && mayBeOnnx(text))
        return Likeness::Name;
    return looksLikeOnnx(text) ? Likeness::Content : Likeness::None;
}

Result<LoadedModel> loadOnnx(const std::shared_ptr<const MappedFile> &file, const LoadOptions &options,
                             bool &)
{
    if (!options.params.empty() && !options.leavesOutParameters())
        return badCall(halftone::Field::Params, "an ONNX model contains its parameters",
                       "; leave the parameter file out");
    LoadedModel loaded;
    HALFTONE_TRY(loaded.model, readOnnx(file, loaded.notes, options.stop));
    if (options.leavesOutParameters()) {
        loaded.model.parameters.clear();
        loaded.model.hasParameters = false;
    }
    loaded.modelPath = file->path();
    loaded.facts = onnxFacts(loaded.model.graph);
    loaded.files = externalFilesOf(loaded.model.graph);
    loaded.files.insert(loaded.files.begin(), file);
    return loaded;
}

OutputNames onnxOutputNames(const std::string &prefix)
{
    const std::string name = prefix.ends_with(kOnnxEnding) ? prefix : prefix + std::string(kOnnxEnding);
    return {name, name, name + std::string(kDataEnding)};
}

Result<void> writePieces(std::span<const FilePiece> pieces, const BytesWriter &write)
{
    for (const FilePiece &piece : pieces) {
        Result<void> written;
        piece.inPieces([&](std::span<const std::byte> bytes) {
            written = write(bytes);
            return written.ok();
        });
        HALFTONE_CHECK(std::move(written));
    }
    return {};
}

Result<void> writePieces(std::span<const FilePiece> pieces, AtomicFile &file)
{
    return writePieces(pieces, [&file](std::span<const std::byte> bytes) { return file.write(bytes); });
}

Result<void> onnxToBytes(const graph::Model &model, std::span<const tensor::DType> outputTypes,
                         const BytesWriter &write)
{
    HALFTONE_TRY(const OnnxBytes bytes, writeOnnx(model, {}, outputTypes));
    return writePieces(bytes.message, write);
}

using Shapes = std::unordered_map<std::string, tensor::Shape>;

Result<std::vector<std::string>> write(const graph::Model &model, const ModelOutput &output,
                                       const LoadedModel &source, std::span<const tensor::DType> outputTypes,
                                       const Shapes *handedOver)
{
    const std::string apart = std::filesystem::path(output.valuesPath()).filename().string();
    auto bytes
        = writeOnnx(model, output.hasSeparateValues() ? apart : std::string(), outputTypes, handedOver);
    if (!output.hasSeparateValues() && !bytes.ok() && bytes.error().code == Errc::Unsupported)
        bytes = writeOnnx(model, apart, outputTypes, handedOver);
    if (!bytes.ok())
        return inFile(std::move(bytes).error(), output.modelPath());
    HALFTONE_TRY(AtomicFile file, createOutput(output.modelPath(), source));
    HALFTONE_CHECK(writePieces(bytes.value().message, file));
    if (bytes.value().data.empty()) {
        HALFTONE_CHECK(file.commit());
        return std::vector{file.path()};
    }
    HALFTONE_TRY(AtomicFile data, createOutput(output.valuesPath(), source));
    HALFTONE_CHECK(writePieces(bytes.value().data, data));
    const std::array both{&data, &file};
    HALFTONE_CHECK(AtomicFile::commitTogether(both));
    return std::vector{file.path(), data.path()};
}

Result<std::vector<std::string>> saveOnnx(const graph::Model &model, const ModelOutput &output,
                                          const LoadedModel &source,
                                          std::span<const tensor::DType> outputTypes)
{
    return write(model, output, source, outputTypes, nullptr);
}

Result<std::vector<std::string>> handOverOnnx(const graph::Model &model, const ModelOutput &output,
                                              std::span<const tensor::DType> outputTypes,
                                              const Shapes &shapes)
{
    return write(model, output, {}, outputTypes, &shapes);
}

} // namespace

const ModelFormat &onnxFormat()
{
    static const ModelFormat kFormat{
        .name = "onnx",
        .title = "ONNX",
        .model = "an ONNX model",
        .files = "an ONNX model",
        .infoName = "onnx",
        .placeholder = "MODEL.onnx",
        .readHelp = "NAME.onnx",
        .writeHelp = "P.onnx",
        .ending = kOnnxEnding,
        .declaresOutputTypes = true,
        .mayHaveSeparateValues = true,
        .isReadable = hasOnnxReader(),
        .isCopiedByDefault = true,
        .sniff = sniffOnnx,
        .load = loadOnnx,
        .outputNames = onnxOutputNames,
        .save = saveOnnx,
        .handOver = handOverOnnx,
        .toBytes = onnxToBytes,
    };
    return kFormat;
}

} // namespace halftone::io

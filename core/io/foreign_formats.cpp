#include "core/io/foreign_formats.h"

#include "core/base/text.h"
#include "core/io/arrays/zip_handles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

namespace halftone::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kFormats{
    ForeignFormat{"graphdef", "a TensorFlow GraphDef (frozen graph)",
                  "an ONNX model: python -m tf2onnx.convert --graphdef FILE --inputs X:0 --outputs Y:0 "
                  "--output MODEL.onnx"},
    ForeignFormat{"savedmodel", "a TensorFlow SavedModel",
                  "an ONNX model: python -m tf2onnx.convert --saved-model FOLDER --output MODEL.onnx"},
    ForeignFormat{
        "checkpoint", "a TensorFlow checkpoint",
        "an ONNX model: python -m tf2onnx.convert --checkpoint NAME.meta --inputs X:0 --outputs Y:0 --output "
        "MODEL.onnx"},
    ForeignFormat{"tfjs", "a TensorFlow.js model",
                  "an ONNX model: python -m tf2onnx.convert --tfjs FILE --output MODEL.onnx"},
    ForeignFormat{"keras", "a Keras model",
                  "an ONNX model: keras.saving.load_model(\"FILE\").export(\"MODEL.onnx\", format=\"onnx\")"},
    ForeignFormat{"hdf5", "an HDF5 file, as older Keras versions write",
                  "an ONNX model: keras.saving.load_model(\"FILE\").export(\"MODEL.onnx\", format=\"onnx\")"},
    ForeignFormat{"coreml", "a Core ML model",
                  "an ONNX model: onnxmltools.convert_coreml(coremltools.utils.load_spec(\"FILE\")), or for "
                  "an ML program "
                  "an export of the model that it was made from"},
    ForeignFormat{
        "pytorch", "a PyTorch checkpoint",
        "an ONNX model: load it into its module, then torch.onnx.export(module, args, \"MODEL.onnx\")"},
    ForeignFormat{
        "torchscript", "a TorchScript module",
        "an ONNX model: torch.onnx.export(torch.jit.load(\"FILE\"), args, \"MODEL.onnx\", dynamo=False)"},
    ForeignFormat{
        "pt2", "a PyTorch exported program",
        "an ONNX model: torch.onnx.export(torch.export.load(\"FILE\"), dynamo=True).save(\"MODEL.onnx\")"},
    ForeignFormat{"safetensors", "a safetensors file, which holds weights alone",
                  "an ONNX model: optimum-cli export onnx --model FOLDER OUTPUT"},
    ForeignFormat{"gguf", "a GGUF model",
                  "an ONNX model of what it was made from: optimum-cli export onnx --model FOLDER OUTPUT"},
    ForeignFormat{"openvino", "an OpenVINO IR model",
                  "the ONNX model that it was made from; OpenVINO does not export ONNX"},
    ForeignFormat{"paddle", "a PaddlePaddle model",
                  "an ONNX model: paddle2onnx --model_dir FOLDER --model_filename FILE --params_filename "
                  "NAME.pdiparams "
                  "--save_file MODEL.onnx"},
    ForeignFormat{"ncnn", "an ncnn model", "the ONNX model that it was made from; ncnn does not export ONNX"},
    ForeignFormat{"tensorrt", "a TensorRT engine",
                  "the ONNX model that it was built from; an engine cannot be converted back"},
    ForeignFormat{"ort", "a model in the ORT format of ONNX Runtime",
                  "the ONNX model that it was made from; ONNX Runtime does not convert it back"},
    ForeignFormat{"onnxtxt", "an ONNX model as text",
                  "its binary form: onnx.save(onnx.load(\"FILE\", format=\"onnxtxt\"), \"MODEL.onnx\")"},
    ForeignFormat{"onnxtextproto", "an ONNX model as protobuf text",
                  "its binary form: onnx.save(onnx.load(\"FILE\", format=\"textproto\"), \"MODEL.onnx\")"},
    ForeignFormat{"onnxjson", "an ONNX model as JSON",
                  "its binary form: onnx.save(onnx.load(\"FILE\", format=\"json\"), \"MODEL.onnx\")"},
};

/// A field of a protobuf message (protobuf.dev, Encoding).
struct WireField
{
    std::uint64_t number;
    bool isText; ///< length-delimited: text, bytes or a message, which `content` holds
    std::string_view content;
};

std::optional<std::uint64_t> takeVarint(std::string_view &bytes)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7Fu} << shift;
        if ((byte & 0x80u) == 0)
            return value;
    }
    return std::nullopt;
}

/// Takes the bytes of a field's value off; nothing where it is cut or of an unknown wire type.
std::optional<std::string_view> takeValue(std::uint64_t wireType, std::string_view &bytes)
{
    constexpr std::uint64_t kVarint = 0, kEightBytes = 1, kDelimited = 2, kFourBytes = 5;
    std::optional<std::uint64_t> length;
    if (wireType == kVarint)
        return takeVarint(bytes) ? std::optional(std::string_view()) : std::nullopt;
    if (wireType == kDelimited)
        length = takeVarint(bytes);
    else if (wireType == kEightBytes || wireType == kFourBytes)
        length = wireType == kEightBytes ? 8 : 4;
    if (!length || *length > bytes.size())
        return std::nullopt;
    const std::string_view value = bytes.substr(0, *length);
    bytes.remove_prefix(*length);
    return value;
}

/// The first fields of a message; empty where the bytes are not one.
std::vector<WireField> firstFieldsOf(std::string_view bytes)
{
    constexpr std::size_t kFieldsSeen = 64;
    std::vector<WireField> fields;
    while (!bytes.empty() && fields.size() < kFieldsSeen) {
        const auto key = takeVarint(bytes);
        const auto value = key ? takeValue(*key & 7, bytes) : std::nullopt;
        if (!value || (*key >> 3) == 0)
            return {};
        fields.push_back({*key >> 3, (*key & 7) == 2, *value});
    }
    return fields;
}

bool hasField(std::span<const WireField> fields, std::uint64_t number)
{
    return std::ranges::find(fields, number, &WireField::number) != fields.end();
}

bool begins(std::span<const WireField> fields, std::size_t at, std::uint64_t number, bool isText)
{
    return at < fields.size() && fields[at].number == number && fields[at].isText == isText;
}

/// tensorflow/core/framework/node_def.proto: 1 name, 2 op.
bool isNodeDef(std::string_view bytes)
{
    const auto fields = firstFieldsOf(bytes);
    return begins(fields, 0, 1, true) && begins(fields, 1, 2, true) && !fields[1].content.empty()
        && std::ranges::all_of(fields[1].content, [](char c) { return c > ' ' && c < '\x7F'; });
}

/// tensorflow/core/framework/graph.proto: 1 node, 2 library, 3 version, 4 versions.
bool isGraphDef(std::span<const WireField> fields)
{
    return begins(fields, 0, 1, true) && isNodeDef(fields.front().content)
        && std::ranges::all_of(fields, [](const WireField &field) { return field.number <= 5; });
}

/// tensorflow/core/protobuf/meta_graph.proto: 1 meta_info_def, 2 graph_def.
bool isMetaGraph(std::span<const WireField> fields)
{
    return begins(fields, 0, 1, true) && begins(fields, 1, 2, true)
        && isGraphDef(firstFieldsOf(fields[1].content));
}

/// paddle/fluid/framework/framework.proto: ProgramDesc has 1 blocks, and a block 1 idx, 2 parent_idx.
bool isPaddleProgram(std::span<const WireField> fields)
{
    if (!begins(fields, 0, 1, true))
        return false;
    const auto block = firstFieldsOf(fields.front().content);
    return begins(block, 0, 1, false) && begins(block, 1, 2, false);
}

constexpr std::uint64_t kOnnxGraph = 7; // ModelProto.graph

/// tensorflow/core/protobuf/saved_model.proto: 1 version, 2 meta_graphs.
bool isSavedModel(std::span<const WireField> fields)
{
    return begins(fields, 0, 1, false) && begins(fields, 1, 2, true) && !hasField(fields, kOnnxGraph)
        && isMetaGraph(firstFieldsOf(fields[1].content));
}

/// coremltools' Model.proto: 1 specificationVersion, 2 description, and the kind of model at 200 or more.
bool isCoreMl(std::span<const WireField> fields)
{
    return begins(fields, 0, 1, false) && begins(fields, 1, 2, true) && !hasField(fields, kOnnxGraph)
        && std::ranges::any_of(fields, [](const WireField &field) { return field.number >= 200; });
}

std::string_view messageFormat(std::string_view bytes)
{
    const auto fields = firstFieldsOf(bytes);
    if (isSavedModel(fields))
        return "savedmodel";
    if (isCoreMl(fields))
        return "coreml";
    if (isMetaGraph(fields))
        return "checkpoint";
    if (isGraphDef(fields))
        return "graphdef";
    return isPaddleProgram(fields) ? "paddle" : "";
}

/// Format of a zip archive by its entries' names.
std::string_view archiveFormat(std::string_view bytes)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t *const opened = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
    zip_error_fini(&error);
    if (opened == nullptr) {
        zip_source_free(source);
        return {};
    }
    const ZipArchive archive(opened);
    constexpr zip_int64_t kNamesSeen = 4096;
    std::string_view found;
    for (zip_int64_t k = 0; k < std::min(kNamesSeen, zip_get_num_entries(opened, 0)); ++k) {
        const char *const raw = zip_get_name(opened, static_cast<zip_uint64_t>(k), ZIP_FL_ENC_RAW);
        const std::string_view name = raw == nullptr ? std::string_view() : raw;
        if (name == "model.weights.h5")
            return "keras";
        if (name.ends_with("archive_format") || name.ends_with("serialized_exported_program.json"))
            return "pt2";
        if (name.ends_with("/constants.pkl"))
            found = "torchscript";
        else if (name.ends_with("/data.pkl") && found.empty())
            found = "pytorch";
    }
    return found;
}

bool isSafetensors(std::string_view bytes)
{
    std::uint64_t header = 0;
    if (bytes.size() <= sizeof(header) || bytes[sizeof(header)] != '{')
        return false;
    std::memcpy(&header, bytes.data(), sizeof(header)); // little-endian, as this machine is
    constexpr std::uint64_t kLongestHeader = 100'000'000;
    return header >= 2 && header <= kLongestHeader && header <= bytes.size() - sizeof(header);
}

struct NamedSignature
{
    std::size_t at;
    std::string_view bytes;
    std::string_view name;
};

constexpr std::array kSignatures{
    NamedSignature{4, "ORTM"sv, "ort"},
    NamedSignature{0, "\x89HDF\r\n\x1A\n"sv, "hdf5"},
    NamedSignature{0, "GGUF"sv, "gguf"},
    NamedSignature{0, "ptrt"sv, "tensorrt"},
    NamedSignature{0, "ftrt"sv, "tensorrt"},
    NamedSignature{0, "7767517\n"sv, "ncnn"},
    NamedSignature{0, "7767517\r\n"sv, "ncnn"},
    NamedSignature{0, "model_checkpoint_path:"sv, "checkpoint"},
    // A pickle of protocol 2 whose first value is torch.save()'s magic number.
    NamedSignature{0, "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19"sv, "pytorch"},
};

std::string_view signatureFormat(std::string_view bytes)
{
    constexpr std::string_view kTableEnd
        = "\x57\xFB\x80\x8B\x24\x75\x47\xDB"sv; // of a checkpoint's index, an SSTable
    for (const NamedSignature &known : kSignatures) {
        if (bytes.size() >= known.at && bytes.substr(known.at).starts_with(known.bytes))
            return known.name;
    }
    if (bytes.ends_with(kTableEnd))
        return "checkpoint";
    return isSafetensors(bytes) ? "safetensors" : "";
}

bool saysAny(std::string_view text, std::initializer_list<std::string_view> words)
{
    return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Does `text` begin with a field of ONNX's ModelProto, followed by ':' or `after`?
bool beginsModelProto(std::string_view text, char after)
{
    constexpr std::string_view kFirstFields[]{"ir_version", "opset_import", "producer_name", "graph"};
    return std::ranges::any_of(kFirstFields, [&](std::string_view field) {
        const std::string_view rest = text.starts_with(field) ? trimmed(text.substr(field.size())) : "";
        return rest.starts_with(':') || rest.starts_with(after);
    });
}

std::string_view textFormat(std::string_view content)
{
    if (content.starts_with('{')) {
        if (saysAny(content, {"\"irVersion\"", "\"ir_version\"", "\"opsetImport\"", "\"opset_import\""}))
            return "onnxjson";
        if (saysAny(content, {"\"graph-model\"", "\"layers-model\""}))
            return "tfjs";
        return saysAny(content, {"\"base_code\""}) && saysAny(content, {"\"pir\""}) ? "paddle" : "";
    }
    if (content.starts_with('<')) {
        if (beginsModelProto(trimmed(content.substr(1)), ':'))
            return "onnxtxt";
        return saysAny(content, {"<net "}) && saysAny(content, {"<layers"}) ? "openvino" : "";
    }
    while (content.starts_with('#') && content.find('\n') != content.npos)
        content = trimmed(content.substr(content.find('\n')));
    return beginsModelProto(content, '{') ? "onnxtextproto" : "";
}

const ForeignFormat *rowOf(std::string_view name)
{
    const auto row = std::ranges::find(kFormats, name, &ForeignFormat::name);
    return row == kFormats.end() ? nullptr : &*row;
}

} // namespace

std::span<const ForeignFormat> foreignFormats()
{
    return kFormats;
}

const ForeignFormat *foreignFormatOf(std::span<const std::byte> bytes)
{
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (const auto *row = rowOf(signatureFormat(text)))
        return row;
    if (text.starts_with("PK\x03\x04"))
        return rowOf(archiveFormat(text));
    if (const auto *row = rowOf(messageFormat(text)))
        return row;
    constexpr std::size_t kTextSeen = 4096;
    return rowOf(textFormat(trimmed(text.substr(0, kTextSeen))));
}

const ForeignFormat *foreignFormatOfFolder(const std::string &path)
{
    const auto has = [folder = std::filesystem::path(path)](const char *name) {
        std::error_code none;
        return std::filesystem::exists(folder / name, none);
    };
    if (has("saved_model.pb") || has("saved_model.pbtxt"))
        return rowOf("savedmodel");
    return has("Manifest.json") && has("Data/com.apple.CoreML") ? rowOf("coreml") : nullptr;
}

} // namespace halftone::io

#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/function_body.h"
#include "core/io/onnx/graph_writer.h"
#include "core/io/onnx/onnx_file.h"
#include "core/io/onnx/raised_function.h"
#include "core/io/onnx/wire.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

namespace halftone::io {
namespace onnx {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kLargeTensor = std::size_t{1} << 20;
constexpr std::size_t kMostHead = 16; ///< what a field of values and the longer lengths around it take

/// Moves the values of all initializers into one file beside the model.
std::vector<FilePiece> movedOut(::onnx::GraphProto &graph, const ValuesApart &apart, const std::string &file)
{
    std::vector<FilePiece> data;
    std::size_t end = 0;
    for (auto &tensor : *graph.mutable_initializer()) {
        const auto large = apart.find(&tensor);
        FilePiece piece = large == apart.end() ? FilePiece{tensor.raw_data()}
                                               : FilePiece{{}, large->second.values, large->second.mapped};
        const std::size_t size = piece.size();
        if (size == 0)
            continue;
        const std::size_t step = size >= kLargeTensor ? kPageBytes : kLineBytes;
        const std::size_t offset = (end + step - 1) / step * step;
        piece.text.insert(0, offset - end, '\0');
        const auto set = [&tensor](const char *key, std::string value) {
            auto &entry = *tensor.add_external_data();
            entry.set_key(key);
            entry.set_value(std::move(value));
        };
        tensor.clear_external_data();
        set("location", file);
        set("offset", std::to_string(offset));
        set("length", std::to_string(size));
        tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
        data.push_back(std::move(piece));
        end = offset + size;
        tensor.clear_raw_data();
    }
    return data;
}

/// The message with the values inside. fails: more than protobuf reads
Result<std::vector<FilePiece>> messageOf(const ::onnx::ModelProto &proto, const ValuesApart &apart)
{
    std::vector<JoinedValues> places;
    std::vector<FilePiece> pieces;
    std::size_t size = proto.ByteSizeLong();
    for (int k = 0; k < proto.graph().initializer_size(); ++k) {
        const auto values = apart.find(&proto.graph().initializer(k));
        if (values == apart.end())
            continue;
        places.push_back({static_cast<std::size_t>(k), values->second.size()});
        pieces.push_back({{}, values->second.values, values->second.mapped});
        size += values->second.size() + kMostHead;
    }
    if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        return unsupported({}, "the model exceeds 2 GB, the limit of a single file",
                           "; store its weights in a separate file");
    std::string message;
    if (!proto.SerializeToString(&message))
        return unsupported({}, "protobuf cannot write this model");
    // Each piece has its text before its values; the last has none.
    pieces.emplace_back();
    std::vector<std::string> parts = joinModel(message, places);
    for (std::size_t k = 0; k < parts.size(); ++k)
        pieces[k].text = std::move(parts[k]);
    return pieces;
}

/// The version of the file format that came with an opset (ONNX, Versioning.md, "Released Versions").
std::int64_t irVersionOf(int opset)
{
    constexpr std::array kRisenAt{9, 10, 11, 12, 15, 19, 21, 23, 24, 25};
    return 3 + std::ranges::count_if(kRisenAt, [opset](int since) { return since <= opset; });
}

void writeHeader(const GraphData *data, const graph::Graph &graph, ::onnx::ModelProto &model)
{
    if (data == nullptr) {
        model.set_ir_version(8);
        model.set_producer_name("Halftone");
        auto &import = *model.add_opset_import();
        import.set_version(dialect::onnx::opsetOf(dialect::of(graph)));
        return;
    }
    const ::onnx::ModelProto &source = data->source->model;
    if (source.has_ir_version())
        model.set_ir_version(source.ir_version());
    model.mutable_opset_import()->CopyFrom(source.opset_import());
    if (source.has_producer_name())
        model.set_producer_name(source.producer_name());
    if (source.has_producer_version())
        model.set_producer_version(source.producer_version());
    if (source.has_domain())
        model.set_domain(source.domain());
    if (source.has_model_version())
        model.set_model_version(source.model_version());
    if (source.has_doc_string())
        model.set_doc_string(source.doc_string());
    model.mutable_metadata_props()->CopyFrom(source.metadata_props());
    model.mutable_training_info()->CopyFrom(source.training_info());
    model.mutable_functions()->CopyFrom(source.functions());
    model.mutable_configuration()->CopyFrom(source.configuration());
    model.mutable_unknown_fields()->append(source.unknown_fields());
    // The opset of the graph's dialect is what its nodes are those of now.
    const int opset = dialect::onnx::opsetOf(dialect::of(graph));
    for (auto &import : *model.mutable_opset_import()) {
        if (onnx::domainOf(import.domain()) != onnx::kMainDomain || import.version() >= opset)
            continue;
        import.set_version(opset);
        model.set_ir_version(std::max(model.ir_version(), irVersionOf(opset)));
    }
}

/// Domains of nodes that the source had none of.
void importDomains(::onnx::ModelProto &model)
{
    std::unordered_set<std::string> imported;
    for (const auto &import : model.opset_import())
        imported.insert(domainOf(import.domain()));
    for (const auto &node : model.graph().node())
        if (imported.insert(domainOf(node.domain())).second) {
            auto &import = *model.add_opset_import();
            import.set_domain(node.domain());
            import.set_version(1);
        }
}

/// Up to version 3 every initializer is an input; new ones are none.
void raiseVersion(const GraphData *data, ::onnx::ModelProto &model)
{
    constexpr std::int64_t kFreeInitializers = 4;
    if (data == nullptr || model.ir_version() >= kFreeInitializers)
        return;
    std::unordered_set<std::string_view> known;
    for (const auto &tensor : data->source->model.graph().initializer())
        known.insert(tensor.name());
    const bool isFree = std::ranges::any_of(
        model.graph().initializer(), [&known](const auto &tensor) { return !known.contains(tensor.name()); });
    if (isFree)
        model.set_ir_version(kFreeInitializers);
}

} // namespace
} // namespace onnx

Result<OnnxBytes> writeOnnx(const graph::Model &model, const std::string &dataFile,
                            std::span<const tensor::DType> outputTypes,
                            const std::unordered_map<std::string, tensor::Shape> *handedOver)
{
    const auto *const data = dynamic_cast<const onnx::GraphData *>(model.graph.format().get());
    ::onnx::ModelProto proto;
    onnx::writeHeader(data, model.graph, proto);
    const dialect::StoredArrays parameters = dialect::storedArrays(model);
    onnx::GraphWriter writer(model.graph, &parameters);
    writer.sayOutputTypes(outputTypes);
    if (handedOver != nullptr)
        writer.handOver(*handedOver);
    onnx::ValuesApart apart;
    writer.keepApart(apart);
    HALFTONE_CHECK(writer.write(*proto.mutable_graph()));
    onnx::raiseVersion(data, proto);
    onnx::importDomains(proto);
    if (data != nullptr && proto.functions_size() > 0) {
        onnx::Functions::removeUncalled(data->source->model, proto);
        HALFTONE_CHECK(
            onnx::raiseFunctions(*data->source, dialect::onnx::opsetOf(dialect::of(model.graph)), proto));
    }
    OnnxBytes bytes;
    if (!dataFile.empty()) {
        bytes.data = onnx::movedOut(*proto.mutable_graph(), apart, dataFile);
        apart.clear();
    }
    HALFTONE_TRY(bytes.message, onnx::messageOf(proto, apart));
    return bytes;
}

} // namespace halftone::io

#include "core/base/text.h"
#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/graph_reader.h"
#include "core/io/onnx/onnx_file.h"
#include "core/io/onnx/wire.h"

#include <algorithm>
#include <set>

namespace halftone::io {
namespace onnx {
namespace {

namespace names = dialect::onnx;

constexpr std::int64_t kNewestIr = 13;

Result<std::shared_ptr<Source>> parse(const std::shared_ptr<const MappedFile> &file)
{
    HALFTONE_TRY(const StrippedModel stripped, stripModel(file->bytes()));
    auto source = std::make_shared<Source>();
    source->file = file;
    // A message that lacks what its schema requires, or that is nested deeper than protobuf reads, is none.
    if (stripped.message.size() > std::size_t{1} << 31
        || !source->model.ParseFromArray(stripped.message.data(), static_cast<int>(stripped.message.size())))
        return badInput("byte 0", "invalid protobuf (damaged or nested too deeply)", "an ONNX model");
    for (const StrippedModel::Values &values : stripped.values)
        source->values.emplace(&source->model.graph().initializer(static_cast<int>(values.initializer)),
                               values.bytes);
    return source;
}

/// The opset of ai.onnx.
Result<int> checkVersions(const ::onnx::ModelProto &model)
{
    if (!model.has_graph())
        return badInput("graph", "missing", "the graph of the model");
    if (model.ir_version() > kNewestIr || model.ir_version() < 0)
        return badInput("ir_version", std::to_string(model.ir_version()),
                        "at most " + std::to_string(kNewestIr));
    std::optional<std::int64_t> opset;
    for (const auto &import : model.opset_import()) {
        if (domainOf(import.domain()) != kMainDomain)
            continue;
        if (import.version() > names::kNewestOpset || import.version() < 1)
            return badInput("opset_import", "opset " + std::to_string(import.version()) + " of ai.onnx",
                            "1 to " + std::to_string(names::kNewestOpset));
        opset = std::max(opset.value_or(0), import.version());
    }
    // Version 1 of the format had no field for it.
    if (!opset && (model.opset_import_size() > 0 || model.ir_version() >= 3 || !model.has_ir_version())) {
        const bool needsMain = std::ranges::any_of(
            model.graph().node(), [](const auto &node) { return domainOf(node.domain()) == kMainDomain; });
        if (needsMain)
            return badInput("opset_import", "no opset for ai.onnx", "the opset of its operators");
    }
    return static_cast<int>(opset.value_or(opset ? *opset : names::kNewestOpset));
}

Result<graph::Model> read(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &notes,
                          const std::stop_token &stop)
{
    HALFTONE_TRY(std::shared_ptr<Source> source, parse(file));
    HALFTONE_TRY(const int opset, checkVersions(source->model));
    HALFTONE_CHECK(Functions::check(source->model));
    if (opset < names::kOldestOpset)
        notes.push_back("opset " + std::to_string(opset) + ": operators that changed before opset "
                        + std::to_string(names::kOldestOpset) + " are shown but cannot be run");
    const Functions functions(source->model);
    BodyBudget budget;
    ReadContext context;
    context.functions = &functions;
    context.budget = &budget;
    context.stop = stop;
    context.source = source;
    context.dialect = &names::onnxDialect(opset);
    context.domains.emplace(kMainDomain);
    for (const auto &import : source->model.opset_import())
        context.domains.insert(domainOf(import.domain()));
    GraphReader reader(context, source->model.graph(), nullptr);
    graph::Model model;
    HALFTONE_TRY(model.graph, reader.read());
    model.parameters = std::move(context.parameters);
    model.hasParameters = true;
    return model;
}

FileFacts::Value valueOf(const ::onnx::ValueInfoProto &info)
{
    FileFacts::Value value;
    value.name = info.name();
    const auto &type = info.type().tensor_type();
    value.dtype = names::nameOfCode(type.elem_type());
    if (type.has_shape()) {
        auto &dims = value.shape.emplace();
        for (const auto &dim : type.shape().dim())
            dims.push_back(dim.has_dim_value()           ? std::to_string(dim.dim_value())
                               : dim.dim_param().empty() ? "?"
                                                         : dim.dim_param());
    }
    return value;
}

} // namespace
} // namespace onnx

bool hasOnnxReader()
{
    return true;
}

Result<graph::Model> readOnnx(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &notes,
                              const std::stop_token &stop)
{
    auto model = onnx::read(file, notes, stop);
    return model.ok() ? std::move(model) : inFile(std::move(model).error(), file->path());
}

FileFacts onnxFacts(const graph::Graph &graph)
{
    FileFacts facts;
    const auto *const data = dynamic_cast<const onnx::GraphData *>(graph.format().get());
    if (data == nullptr)
        return facts;
    const ::onnx::ModelProto &model = data->source->model;
    facts.formatVersion = model.ir_version();
    for (const auto &import : model.opset_import())
        facts.operatorSets[onnx::domainOf(import.domain())] = import.version();
    facts.producer = model.producer_name();
    if (!model.producer_version().empty())
        facts.producer += ' ' + model.producer_version();
    for (const auto &entry : model.metadata_props())
        facts.metadata.emplace_back(entry.key(), entry.value());
    for (const auto &function : model.functions())
        facts.functions.push_back(function.domain() + '.' + function.name());
    std::set<std::string_view> held;
    for (const auto &tensor : model.graph().initializer())
        held.insert(tensor.name());
    for (const auto &input : model.graph().input())
        if (!held.contains(input.name()))
            facts.inputs.push_back(onnx::valueOf(input));
        else if (facts.formatVersion >= 4) // before, all are listed among the inputs
            facts.replaceable.push_back(input.name());
    for (const auto &output : model.graph().output())
        facts.outputs.push_back(onnx::valueOf(output));
    facts.externalFiles = data->source->externalFiles;
    facts.externalBytes = data->source->externalBytes;
    return facts;
}

std::vector<std::shared_ptr<const MappedFile>> externalFilesOf(const graph::Graph &graph)
{
    std::vector<std::shared_ptr<const MappedFile>> files;
    if (const auto *const data = dynamic_cast<const onnx::GraphData *>(graph.format().get()))
        for (const std::string &location : data->source->externalFiles)
            files.push_back(data->source->external.at(location));
    return files;
}

} // namespace halftone::io

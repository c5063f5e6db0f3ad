#include "core/base/cpu_kind.h"
#include "core/base/mapped_file.h"
#include "core/base/xxh64.h"
#include "core/shards/statistics_file.h"

#include <filesystem>

namespace halftone::shards {
namespace {

/// Texts and numbers one after another, each with its length.
class Hash
{
public:
    void add(std::string_view text)
    {
        add(text.size());
        m_hash.add(std::as_bytes(std::span(text)));
    }
    void add(std::uint64_t number) { m_hash.add(std::as_bytes(std::span(&number, 1))); }
    void add(std::span<const std::byte> bytes)
    {
        add(bytes.size());
        m_hash.add(bytes);
    }
    std::uint64_t value() const { return m_hash.value(); }

private:
    Xxh64 m_hash;
};

void addGraph(const graph::Graph &graph, Hash &hash)
{
    hash.add(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        hash.add(node.op);
        hash.add(node.name);
        for (const auto &[key, value] : node.attributes) {
            hash.add(key);
            hash.add(value);
        }
        for (const auto &[key, tensor] : node.tensors) {
            hash.add(key);
            hash.add(tensor.bytes());
        }
        for (const graph::Entry &input : graph.inputs(id)) {
            hash.add(input.node);
            hash.add(input.output);
        }
        for (const auto &body : node.subgraphs)
            addGraph(*body, hash);
    }
    for (const graph::Entry &head : graph.heads()) {
        hash.add(head.node);
        hash.add(head.output);
    }
}

} // namespace

std::uint64_t hashOf(const graph::Model &model)
{
    Hash hash;
    addGraph(model.graph, hash);
    for (const tensor::Array &array : model.parameters) {
        hash.add(array.name);
        hash.add(static_cast<std::uint64_t>(array.values.dtype()));
        hash.add(array.values.bytes());
    }
    return hash.value();
}

Result<std::uint64_t> hashOf(const walks::ExampleOptions &options, const std::string &modelPath)
{
    std::error_code none;
    const bool arePictures = std::filesystem::is_directory(options.inputs, none);
    Hash hash;
    hash.add(options.examples);
    hash.add(options.metric ? nameOf(*options.metric) : std::string_view());
    if (options.arrays)
        hash.add(hashOfArrays(options));
    if (!options.nextToken.empty())
        hash.add(options.nextToken);
    for (const walks::FieldFile &one : exampleFiles(options, modelPath)) {
        hash.add(std::filesystem::path(one.path).filename().string());
        if (one.field == Field::Inputs && arePictures) {
            hash.add(std::filesystem::file_size(one.path, none));
        } else if (std::filesystem::exists(one.path, none)) {
            HALFTONE_TRY(const auto file, MappedFile::open(one.path));
            hash.add(file->bytes());
        }
    }
    return hash.value();
}

Result<StatisticsOrigin> originOf(const graph::Model &model, const std::string &modelPath,
                                  const walks::ExampleOptions &data, std::string settings)
{
    StatisticsOrigin origin;
    origin.model = std::filesystem::path(modelPath).filename().string();
    origin.modelHash = hashOf(model);
    HALFTONE_TRY(origin.dataHash, hashOf(data, modelPath));
    origin.settings = std::move(settings);
    origin.cpu = cpuKind();
    return origin;
}

} // namespace halftone::shards

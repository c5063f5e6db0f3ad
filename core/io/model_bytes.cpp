#include "core/io/model_bytes.h"

#include "core/base/huge_pages.h"
#include "core/dialect/dialect.h"
#include "core/io/sniff.h"

namespace halftone::io {

Result<LoadedModel> readModel(std::vector<std::byte> bytes, const std::string &path,
                              const LoadOptions &options)
{
    constexpr const char *kNameless = "model in memory";
    const auto file = MappedFile::ofBytes(path.empty() ? kNameless : path, std::move(bytes));
    const auto format = sniff(file->bytes(), path);
    if (!format.ok())
        return inFile(format.error(), file->path());
    bool isChanging = false;
    HALFTONE_TRY(LoadedModel loaded, format.value()->load(file, options, isChanging));
    if (path.empty() && loaded.facts && !loaded.facts->externalFiles.empty())
        return inFile(badInput("external data", "the model's weights are in other files",
                               "; pass the path of the model"),
                      file->path());
    return loaded;
}

Result<std::vector<std::byte>> modelBytes(const graph::Model &model,
                                          std::span<const tensor::DType> outputTypes)
{
    const ModelFormat *const format = formatOf(model.graph);
    if (format == nullptr || format->toBytes == nullptr)
        return unsupported({},
                           std::string(dialect::of(model.graph).title()) + " models are more than one file",
                           "; save the model instead");
    constexpr std::size_t kGraph = std::size_t{1} << 20; // what nodes and names take, mostly
    std::vector<std::byte> bytes;
    bytes.reserve(graph::parameterBytes(model) + kGraph);
    wantHugePages(bytes.data(), bytes.capacity());
    HALFTONE_CHECK(format->toBytes(model, outputTypes, [&bytes](std::span<const std::byte> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        return Result<void>();
    }));
    return bytes;
}

} // namespace halftone::io

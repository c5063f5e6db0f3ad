#include "core/base/text.h"
#include "core/io/tflite/graph_reader.h"
#include "core/io/tflite/tflite_file.h"

#include <algorithm>

namespace halftone::io {
namespace tflite {
namespace {

/// What the verifier reads in all; tables that several others share count each time.
constexpr flatbuffers::uoffset_t kMostTables = 1U << 21;
constexpr flatbuffers::uoffset_t kDeepestTables = 16;
constexpr std::uint32_t kSchemaVersion = 3;

Result<Source> open(const std::shared_ptr<const MappedFile> &file)
{
    const auto bytes = file->bytes();
    const auto *const data = reinterpret_cast<const std::uint8_t *>(bytes.data());
    constexpr std::size_t kLeast = 8;
    if (bytes.size() < kLeast || !schema::ModelBufferHasIdentifier(data))
        return badInput("byte 4", "no identifier TFL3", "a TensorFlow Lite model");
    // Values beyond what a flatbuffer may hold lie behind it.
    const std::size_t size = std::min<std::size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
    flatbuffers::Verifier verifier(data, size, kDeepestTables, kMostTables);
    if (!schema::VerifyModelBuffer(verifier))
        return badInput("byte 0", "tables that lie beyond the file or overlap (damaged or cut)",
                        "a TensorFlow Lite model");
    const schema::Model *const model = schema::GetModel(data);
    if (model->version() != kSchemaVersion)
        return badInput("version", std::to_string(model->version()), std::to_string(kSchemaVersion));
    if (model->subgraphs() == nullptr || model->subgraphs()->size() == 0)
        return badInput("subgraphs", "none", "the graph of the model");
    return Source{file, model};
}

void addFacts(const Source &source, FileFacts &facts)
{
    facts.formatVersion = source.model->version();
    facts.producer = textOf(source.model->description());
    if (source.model->metadata() != nullptr) {
        for (const schema::Metadata *const one : *source.model->metadata()) {
            const auto bytes = bufferBytes(source, one->buffer(), "metadata");
            if (!bytes.ok())
                continue;
            const std::string_view text(reinterpret_cast<const char *>(bytes.value().data()),
                                        bytes.value().size());
            const std::string_view shown = text.substr(0, text.find('\0'));
            const bool isText = isUtf8(shown) && !shown.empty() && shown.size() < 80
                && text.find_first_not_of('\0', shown.size()) == std::string_view::npos;
            facts.metadata.emplace_back(textOf(one->name()),
                                        isText ? std::string(shown) : humanBytes(text.size()));
        }
    }
    if (source.model->signature_defs() != nullptr)
        for (const schema::SignatureDef *const one : *source.model->signature_defs())
            facts.metadata.emplace_back("signature", textOf(one->signature_key()));
}

Result<TfliteModel> read(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &notes,
                         const std::stop_token &stop)
{
    HALFTONE_TRY(const Source source, open(file));
    GraphReader reader(source, *source.model->subgraphs()->Get(0), stop);
    TfliteModel result;
    HALFTONE_TRY(result.model, reader.read());
    result.facts.inputs = reader.inputs();
    result.facts.outputs = reader.outputs();
    addFacts(source, result.facts);
    for (const auto &[op, reason] : reader.shownOnly())
        notes.push_back(printable(op) + " is shown and not computed: " + reason);
    return result;
}

} // namespace
} // namespace tflite

Result<TfliteModel> readTflite(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &notes,
                               const std::stop_token &stop)
{
    auto model = tflite::read(file, notes, stop);
    return model.ok() ? std::move(model) : inFile(std::move(model).error(), file->path());
}

bool hasTfliteReader()
{
    return true;
}

} // namespace halftone::io

#include "tests/fuzz/properties.h"

#include "core/base/mapped_file.h"
#include "core/base/xxh64.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/infer_types.h"
#include "core/infer/variables.h"
#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/io/onnx/onnx_file.h"
#include "core/io/tflite/tflite_file.h"
#include "core/policy/policy_json.h"
#include "core/shards/statistics_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::fuzz {
namespace {

void require(bool holds, const std::string &what)
{
    if (holds)
        return;
    std::fprintf(stderr, "property violated: %s\n", what.c_str());
    std::abort();
}

std::string_view textOf(std::span<const std::byte> input)
{
    return {reinterpret_cast<const char *>(input.data()), input.size()};
}

void requireOneLine(const Error &error)
{
    const std::string message = error.message();
    require(!message.empty() && message.find('\n') == std::string::npos, "an error is one line");
}

std::vector<std::byte> paramsBytes(const std::vector<tensor::Array> &arrays)
{
    std::vector<std::byte> bytes;
    const auto outcome = io::writeParams(arrays, [&bytes](std::span<const std::byte> part) {
        bytes.insert(bytes.end(), part.begin(), part.end());
        return Result<void>();
    });
    require(outcome.ok(), "parameters that were read can be written");
    return bytes;
}

/// A folder of its own for what is read from files; gone when the program ends.
class Folder
{
public:
    Folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "halftone-fuzz-XXXXXX").string();
        require(mkdtemp(name.data()) != nullptr, "a folder can be made");
        m_path = name;
        std::vector<std::byte> values(256);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = static_cast<std::byte>(k);
        write("values.bin", values);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }

    std::string write(const std::string &name, std::span<const std::byte> bytes) const
    {
        const std::filesystem::path path = m_path / name;
        std::filesystem::remove(path); // whoever has it open keeps it
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        require(file.flush().good(), "a file can be written");
        return path.string();
    }

private:
    std::filesystem::path m_path;
};

Result<graph::Model> readModel(const std::string &path)
{
    std::vector<std::string> notes;
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    return io::readOnnx(file, notes);
}

/// Types and shapes of a graph that may contradict itself.
void infer(const graph::Model &model)
{
    std::unordered_map<std::string, tensor::Shape> known;
    for (const tensor::Array &array : model.parameters)
        known.try_emplace(array.name, array.shape);
    if (const auto shapes = infer::inferShapes(model.graph, known); !shapes.ok())
        requireOneLine(shapes.error());
    std::vector<policy::Warning> warnings;
    const auto variables = infer::classifyVariables(model, policy::Policy(), warnings);
    if (!variables.ok())
        return requireOneLine(variables.error());
    std::vector<tensor::DType> types;
    for (const infer::Variable &variable : variables.value())
        types.push_back(variable.type);
    if (const auto inferred = infer::inferTypes(model.graph, types); !inferred.ok())
        requireOneLine(inferred.error());
}

/// What the pieces of a file amount to.
std::vector<std::byte> wholeOf(std::span<const io::FilePiece> pieces)
{
    std::vector<std::byte> whole;
    for (const io::FilePiece &piece : pieces)
        piece.inPieces([&whole](std::span<const std::byte> bytes) {
            whole.insert(whole.end(), bytes.begin(), bytes.end());
            return true;
        });
    return whole;
}

io::OnnxBytes onnxBytes(const graph::Model &model, const std::string &dataFile)
{
    auto bytes = io::writeOnnx(model, dataFile);
    require(bytes.ok(),
            "a model that was read can be written: "
                + (bytes.ok() ? std::string() : bytes.error().message()));
    return std::move(bytes).value();
}

} // namespace

void checkSymbolJson(std::span<const std::byte> input)
{
    std::vector<std::string> notes;
    const auto graph = io::readSymbol(textOf(input), notes);
    if (!graph.ok())
        return requireOneLine(graph.error());
    const std::string written = io::writeSymbol(graph.value());
    const auto again = io::readSymbol(written, notes);
    require(again.ok(),
            "a written symbol can be read: " + (again.ok() ? std::string() : again.error().message()));
    require(io::writeSymbol(again.value()) == written, "a symbol that was read again writes the same");
}

void checkParams(std::span<const std::byte> input)
{
    const auto owner = std::make_shared<const std::vector<std::byte>>(input.begin(), input.end());
    const auto arrays = io::readParams(*owner, owner);
    if (!arrays.ok())
        return requireOneLine(arrays.error());
    const auto written = std::make_shared<const std::vector<std::byte>>(paramsBytes(arrays.value()));
    const auto again = io::readParams(*written, written);
    require(again.ok(),
            "written parameters can be read: " + (again.ok() ? std::string() : again.error().message()));
    require(again.value().size() == arrays.value().size(), "no array is lost");
    require(paramsBytes(again.value()) == *written, "parameters that were read again write the same");
}

void checkPolicy(std::span<const std::byte> input)
{
    const auto policy = policy::readPolicy(textOf(input));
    if (!policy.ok())
        return requireOneLine(policy.error());
    const auto again = policy::readPolicy(policy::writePolicy(policy.value()));
    require(again.ok(),
            "a written policy can be read: " + (again.ok() ? std::string() : again.error().message()));
    require(again.value() == policy.value(), "a policy that was read again is the same");
}

void checkOnnx(std::span<const std::byte> input)
{
    static const Folder folder;
    const auto model = readModel(folder.write("model.onnx", input));
    if (!model.ok())
        return requireOneLine(model.error());
    infer(model.value());
    for (const std::string dataFile : {"", "again.data"}) {
        const io::OnnxBytes written = onnxBytes(model.value(), dataFile);
        const std::vector<std::byte> message = wholeOf(written.message);
        const std::vector<std::byte> data = wholeOf(written.data);
        folder.write("again.data", data);
        const auto again = readModel(folder.write("again.onnx", message));
        require(again.ok(),
                "a written model can be read: " + (again.ok() ? std::string() : again.error().message()));
        const io::OnnxBytes twice = onnxBytes(again.value(), dataFile);
        require(wholeOf(twice.message) == message && wholeOf(twice.data) == data,
                "a model that was read again writes the same");
    }
}

void checkTflite(std::span<const std::byte> input)
{
    const auto file = MappedFile::ofBytes("model.tflite", {input.begin(), input.end()});
    std::vector<std::string> notes;
    const auto read = io::readTflite(file, notes, {});
    if (!read.ok())
        return requireOneLine(read.error());
    infer(read.value().model);
}

void checkStatistics(std::span<const std::byte> input)
{
    constexpr std::size_t kChecksum = 8;
    std::vector<std::byte> mended(input.begin(), input.end());
    if (mended.size() > kChecksum) {
        Xxh64 hash;
        hash.add(std::span(mended).first(mended.size() - kChecksum));
        const std::uint64_t checksum = hash.value();
        std::memcpy(mended.data() + mended.size() - kChecksum, &checksum, kChecksum);
    }
    for (const std::span<const std::byte> bytes : {input, std::span<const std::byte>(mended)}) {
        const auto shard = shards::readStatistics(bytes);
        if (!shard.ok()) {
            requireOneLine(shard.error());
            continue;
        }
        const std::string written = shards::statisticsBytes(shard.value());
        const auto again = shards::readStatistics(std::as_bytes(std::span(written)));
        require(again.ok(),
                "written statistics can be read: " + (again.ok() ? std::string() : again.error().message()));
        require(shards::statisticsBytes(again.value()) == written,
                "statistics that were read again are the same");
    }
}

} // namespace halftone::fuzz

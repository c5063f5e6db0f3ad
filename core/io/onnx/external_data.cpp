#include "core/io/onnx/external_data.h"

#include "core/base/checked_math.h"
#include "core/base/sha1.h"
#include "core/base/text.h"
#include "core/dialect/onnx/element_type.h"
#include "core/tensor/packed.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace halftone::io::onnx {
namespace {

namespace fs = std::filesystem;
using tensor::Shape;
using tensor::Tensor;

struct Place
{
    std::string location;
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;
    std::string checksum; ///< of the whole file (onnx.proto: SHA-1); empty: not said
};

Result<std::uint64_t> number(const std::string &text, const std::string &where, const char *key)
{
    const auto value = parseInteger(text);
    if (!value || *value < 0)
        return badInput(where, std::string(key) + " \"" + printable(text, 60) + '"', "0 or more");
    return static_cast<std::uint64_t>(*value);
}

Result<Place> placeOf(const ::onnx::TensorProto &proto, const std::string &where)
{
    Place place;
    for (const auto &entry : proto.external_data()) {
        if (entry.key() == "location")
            place.location = entry.value();
        if (entry.key() == "offset") {
            HALFTONE_TRY(place.offset, number(entry.value(), where, "offset"));
        }
        if (entry.key() == "length") {
            HALFTONE_TRY(place.length, number(entry.value(), where, "length"));
        }
        if (entry.key() == "checksum")
            place.checksum = entry.value();
    }
    if (place.location.empty())
        return badInput(where, "external data without a location", "a file name");
    return place;
}

/// The file of that location, resolved and inside `folder`.
Result<std::string> resolved(const std::string &modelPath, const std::string &location,
                             const std::string &where)
{
    const Error unsafe
        = badInput(where, "external data at \"" + printable(location, 100) + "\" (unsafe_external_data)",
                   "a file inside the model's folder");
    const fs::path relative(location);
    if (location.find('\0') != std::string::npos || location.find('\\') != std::string::npos
        || relative.is_absolute() || std::ranges::find(relative, fs::path("..")) != relative.end())
        return unsafe;
    std::error_code error;
    fs::path folder = fs::path(modelPath).parent_path();
    folder = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    if (error)
        return unsafe;
    const fs::path file = fs::canonical(folder / relative, error);
    if (error)
        return badInput(where, "external data at \"" + printable(location, 100) + "\", which cannot be read",
                        "a file inside the model's folder");
    const auto [inFolder, inFile] = std::ranges::mismatch(folder, file);
    if (inFolder != folder.end() || inFile == file.end())
        return unsafe;
    return file.string();
}

/// Is the file the one that the model was written with? It is read once, whatever the number of its tensors.
Result<void> checkSum(Source &source, const Place &place, const MappedFile &file, const std::string &where)
{
    if (place.checksum.empty())
        return {};
    std::string &digest = source.digests[place.location];
    if (digest.empty())
        digest = sha1(file.bytes());
    if (lowerCase(place.checksum) == digest)
        return {};
    return badInput(where,
                    "external data at \"" + printable(place.location, 100) + "\" with the SHA-1 " + digest,
                    "the checksum in the model, " + printable(place.checksum, 60));
}

} // namespace

Result<Tensor> readExternal(Source &source, const ::onnx::TensorProto &proto, tensor::DType type, Shape shape,
                            const std::string &where)
{
    HALFTONE_TRY(const Place place, placeOf(proto, where));
    std::shared_ptr<const MappedFile> &file = source.external[place.location];
    if (file == nullptr) {
        HALFTONE_TRY(const std::string path, resolved(source.file->path(), place.location, where));
        auto opened = MappedFile::open(path);
        if (!opened.ok())
            return badInput(where,
                            "external data at \"" + printable(place.location, 100)
                                + "\" (unsafe_external_data): " + opened.error().found,
                            "a regular file inside the model's folder");
        file = std::move(opened).value();
        source.externalFiles.push_back(place.location);
    }
    HALFTONE_CHECK(checkSum(source, place, *file, where));
    const auto bits = shape.elementCount()
        ? checkedMultiply(*shape.elementCount(), std::int64_t{dialect::onnx::bitsOfCode(proto.data_type())})
        : std::nullopt;
    if (!bits)
        return badInput(where, "shape " + shape.toString(), "fewer elements");
    const auto size = static_cast<std::uint64_t>(*bits / 8 + (*bits % 8 != 0 ? 1 : 0));
    const std::size_t held = file->bytes().size();
    if (place.length && *place.length != size)
        return badInput(where, "length " + std::to_string(*place.length), std::to_string(size));
    if (place.offset > held || size > held - place.offset)
        return badInput(where,
                        std::to_string(size) + " bytes at offset " + std::to_string(place.offset)
                            + " in a file of " + std::to_string(held),
                        "values inside the file");
    source.externalBytes += static_cast<std::size_t>(size);
    const auto bytes = file->bytes().subspan(static_cast<std::size_t>(place.offset), size);
    source.values.emplace(&proto, bytes);
    if (type == tensor::DType::Unknown)
        return Tensor();
    return tensor::unpacked(type, std::move(shape), bytes, file);
}

} // namespace halftone::io::onnx

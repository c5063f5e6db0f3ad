#include "core/base/checked_math.h"
#include "core/base/text.h"
#include "core/io/tflite/source.h"
#include "core/tensor/packed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace halftone::io::tflite {
namespace {

using tensor::DType;

struct TypeRow
{
    std::string_view name;
    DType type;
    int bits; ///< of an element; 0: of no fixed size
};

/// By TensorType of the schema.
constexpr std::array kElementTypes{
    TypeRow{"FLOAT32", DType::F32, 32},       TypeRow{"FLOAT16", DType::F16, 16},
    TypeRow{"INT32", DType::I32, 32},         TypeRow{"UINT8", DType::U8, 8},
    TypeRow{"INT64", DType::I64, 64},         TypeRow{"STRING", DType::Unknown, 0},
    TypeRow{"BOOL", DType::Bool, 8},          TypeRow{"INT16", DType::I16, 16},
    TypeRow{"COMPLEX64", DType::Unknown, 64}, TypeRow{"INT8", DType::I8, 8},
    TypeRow{"FLOAT64", DType::F64, 64},       TypeRow{"COMPLEX128", DType::Unknown, 128},
    TypeRow{"UINT64", DType::U64, 64},        TypeRow{"RESOURCE", DType::Unknown, 0},
    TypeRow{"VARIANT", DType::Unknown, 0},    TypeRow{"UINT32", DType::U32, 32},
    TypeRow{"UINT16", DType::U16, 16},        TypeRow{"INT4", DType::I4, 4},
    TypeRow{"BFLOAT16", DType::BF16, 16},     TypeRow{"INT2", DType::I2, 2},
};

/// Axes that a tensor may have.
constexpr std::size_t kMostTensorAxes = 32;

Result<std::vector<std::int64_t>> extents(const flatbuffers::Vector<std::int32_t> *dims, std::int32_t least,
                                          const std::string &where)
{
    std::vector<std::int64_t> result;
    if (dims == nullptr)
        return result;
    if (dims->size() > kMostTensorAxes)
        return badInput(where + ": shape", std::to_string(dims->size()) + " axes",
                        "at most " + std::to_string(kMostTensorAxes));
    for (const std::int32_t dim : *dims) {
        if (dim < least)
            return badInput(where + ": shape", "an extent of " + std::to_string(dim), "0 or more");
        result.push_back(dim);
    }
    return result;
}

Result<std::optional<Codes>> readCodes(const schema::Tensor &tensor, const TensorFacts &facts,
                                       const std::string &where)
{
    const schema::Quantization *const written = tensor.quantization();
    if (written == nullptr || written->scale() == nullptr || written->scale()->size() == 0
        || tensor::isFloat(facts.type))
        return std::optional<Codes>();
    Codes codes;
    codes.scales.assign(written->scale()->begin(), written->scale()->end());
    codes.axis = written->quantized_dimension();
    const std::size_t count = codes.scales.size();
    codes.zeros.assign(count, 0);
    if (const auto *const zeros = written->zero_point(); zeros != nullptr && zeros->size() > 0) {
        if (zeros->size() != count && zeros->size() != 1)
            return badInput(where + ": zero_point", std::to_string(zeros->size()) + " values",
                            "as many as scales, " + std::to_string(count));
        for (std::size_t k = 0; k < count; ++k)
            codes.zeros[k] = zeros->Get(static_cast<flatbuffers::uoffset_t>(zeros->size() == 1 ? 0 : k));
    }
    if (count == 1)
        codes.axis = 0;
    else if (codes.axis < 0 || codes.axis >= std::ssize(facts.shape)
             || facts.shape[static_cast<std::size_t>(codes.axis)] != static_cast<std::int64_t>(count))
        return badInput(where + ": scale", std::to_string(count) + " values",
                        "one, or one for each place of axis " + std::to_string(codes.axis));
    return std::optional<Codes>(std::move(codes));
}

/// Bytes of that many elements; nothing where that is beyond what can be counted.
std::optional<std::int64_t> bytesOf(const std::vector<std::int64_t> &shape, int bits)
{
    const auto count = tensor::Shape(shape).elementCount();
    const auto all = count ? checkedMultiply<std::int64_t>(*count, bits) : std::nullopt;
    return all ? std::optional((*all + 7) / 8) : std::nullopt;
}

std::string shortReal(double value)
{
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<float>(value));
    return {buffer.data(), end.ptr};
}

} // namespace

Result<std::span<const std::byte>> bufferBytes(const Source &source, std::uint32_t index,
                                               const std::string &where)
{
    const auto *const buffers = source.model->buffers();
    const std::size_t count = buffers == nullptr ? 0 : buffers->size();
    if (index >= count) {
        if (index == 0)
            return std::span<const std::byte>();
        return badInput(where, "buffer " + std::to_string(index), "one of " + std::to_string(count));
    }
    const schema::Buffer *const buffer = buffers->Get(index);
    if (const auto *const data = buffer->data(); data != nullptr && data->size() > 0)
        return std::as_bytes(std::span(data->data(), data->size()));
    constexpr std::uint64_t kFirstOutside = 2; // smaller offsets say that there is none
    if (buffer->offset() < kFirstOutside)
        return std::span<const std::byte>();
    const auto file = source.file->bytes();
    if (buffer->offset() > file.size() || buffer->size() > file.size() - buffer->offset())
        return badInput(where,
                        "buffer " + std::to_string(index) + " with bytes " + std::to_string(buffer->offset())
                            + " to " + std::to_string(buffer->offset() + buffer->size()),
                        "bytes of the file, which has " + std::to_string(file.size()));
    return file.subspan(static_cast<std::size_t>(buffer->offset()), static_cast<std::size_t>(buffer->size()));
}

Result<TensorFacts> readTensor(const Source &source, const schema::Tensor &tensor, const std::string &where)
{
    TensorFacts facts;
    facts.name = textOf(tensor.name());
    const int code = tensor.type();
    if (code < 0)
        return badInput(where, "type code " + std::to_string(code), "a type of the schema");
    const bool isKnown = static_cast<std::size_t>(code) < kElementTypes.size();
    const TypeRow row = isKnown ? kElementTypes[static_cast<std::size_t>(code)] : TypeRow{};
    facts.type = row.type;
    facts.typeName = isKnown ? std::string(row.name) : "type " + std::to_string(code);
    HALFTONE_TRY(facts.shape, extents(tensor.shape(), 0, where));
    HALFTONE_TRY(facts.signature, extents(tensor.shape_signature(), -1, where));
    if (facts.signature.size() != facts.shape.size())
        facts.signature = facts.shape;
    facts.isState = tensor.is_variable();
    HALFTONE_TRY(facts.codes, readCodes(tensor, facts, where));
    HALFTONE_TRY(const auto bytes, bufferBytes(source, tensor.buffer(), where));
    facts.hasBytes = !bytes.empty();
    if (bytes.empty() || row.type == DType::Unknown || tensor.sparsity() != nullptr)
        return facts;
    const auto size = bytesOf(facts.shape, row.bits);
    if (!size || !std::cmp_equal(*size, bytes.size()))
        return badInput(where, std::to_string(bytes.size()) + " bytes of values",
                        size ? std::to_string(*size) + ", of its shape" : "a smaller shape");
    facts.values = tensor::unpacked(row.type, tensor::Shape(facts.shape), bytes, source.file);
    return facts;
}

std::string textOf(const Codes &codes)
{
    if (codes.scales.size() != 1)
        return std::to_string(codes.scales.size()) + " scales along axis " + std::to_string(codes.axis);
    const std::int64_t zero = codes.zeros[0];
    if (zero == 0)
        return "code · " + shortReal(codes.scales[0]);
    const std::string number = std::to_string(zero);
    return "(code " + (zero < 0 ? "+ " + number.substr(1) : "- " + number) + ") · "
        + shortReal(codes.scales[0]);
}

} // namespace halftone::io::tflite

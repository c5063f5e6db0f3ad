#include "core/io/onnx/tensor_values.h"

#include "core/base/checked_math.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/element_type.h"
#include "core/io/onnx/external_data.h"
#include "core/tensor/packed.h"

#include <cstring>

namespace halftone::io::onnx {
namespace {

namespace names = dialect::onnx;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr int kMostDimensions = 64;

/// Bytes that the elements take, two or more of the small ones in a byte.
std::optional<std::int64_t> bytesFor(const Shape &shape, int bits)
{
    const auto count = shape.elementCount();
    const auto inBits = count ? checkedMultiply(*count, std::int64_t{bits}) : std::nullopt;
    const auto rounded = inBits ? checkedAdd(*inBits, std::int64_t{7}) : std::nullopt;
    return rounded ? std::optional(*rounded / 8) : std::nullopt;
}

/// How many numbers lie in the field for the type, and in others.
struct TypedFields
{
    std::int64_t own = 0;
    std::int64_t others = 0;
};

TypedFields typedFields(const ::onnx::TensorProto &proto)
{
    using P = ::onnx::TensorProto;
    const std::int64_t counts[] = {proto.float_data_size(), proto.int32_data_size(), proto.int64_data_size(),
                                   proto.double_data_size(), proto.uint64_data_size()};
    std::size_t own = 1; // most types lie in int32_data
    switch (proto.data_type()) {
    case P::FLOAT:
    case P::COMPLEX64:
        own = 0;
        break;
    case P::INT64:
        own = 2;
        break;
    case P::DOUBLE:
    case P::COMPLEX128:
        own = 3;
        break;
    case P::UINT32:
    case P::UINT64:
        own = 4;
        break;
    default:
        break;
    }
    TypedFields fields;
    for (std::size_t k = 0; k < std::size(counts); ++k)
        (k == own ? fields.own : fields.others) += counts[k];
    return fields;
}

template <class To, class Field>
void copyTo(std::vector<std::byte> &bytes, const Field &field)
{
    bytes.resize(static_cast<std::size_t>(field.size()) * sizeof(To));
    for (int k = 0; k < field.size(); ++k) {
        const To value = static_cast<To>(field.Get(k));
        std::memcpy(bytes.data() + static_cast<std::size_t>(k) * sizeof(To), &value, sizeof(To));
    }
}

std::vector<std::byte> typedBytes(const ::onnx::TensorProto &proto, DType type)
{
    std::vector<std::byte> bytes;
    switch (type) {
    case DType::F32:
        copyTo<float>(bytes, proto.float_data());
        break;
    case DType::F64:
        copyTo<double>(bytes, proto.double_data());
        break;
    case DType::I64:
        copyTo<std::int64_t>(bytes, proto.int64_data());
        break;
    case DType::U64:
        copyTo<std::uint64_t>(bytes, proto.uint64_data());
        break;
    case DType::U32:
        copyTo<std::uint32_t>(bytes, proto.uint64_data());
        break;
    case DType::I32:
        copyTo<std::int32_t>(bytes, proto.int32_data());
        break;
    case DType::F16:
    case DType::BF16:
    case DType::U16:
    case DType::I16:
        copyTo<std::uint16_t>(bytes, proto.int32_data());
        break;
    case DType::I8:
    case DType::U8:
    case DType::Bool:
    case DType::F8E4M3FN:
    case DType::F8E5M2:
    case DType::I4: // several in a byte here, too
    case DType::U4:
    case DType::I2:
    case DType::U2:
    case DType::F4E2M1:
    case DType::F8E8M0:
        copyTo<std::uint8_t>(bytes, proto.int32_data());
        break;
    case DType::Unknown: // and what is not in files
    case DType::TF32:
    case DType::Posit16:
        break;
    }
    return bytes;
}

Error wrongSize(const std::string &where, std::int64_t found, const char *unit, std::int64_t expected)
{
    return badInput(where, std::to_string(found) + ' ' + unit, std::to_string(expected));
}

/// The file's own bytes, or those that lie in the message.
std::span<const std::byte> rawBytes(const Source &source, const ::onnx::TensorProto &proto)
{
    if (const auto apart = source.values.find(&proto); apart != source.values.end())
        return apart->second;
    return std::as_bytes(std::span(proto.raw_data().data(), proto.raw_data().size()));
}

Result<Tensor> readRaw(const Source &source, const std::shared_ptr<Source> &owner,
                       const ::onnx::TensorProto &proto, DType type, Shape shape, const std::string &where)
{
    const auto size = bytesFor(shape, names::bitsOfCode(proto.data_type()));
    const std::span<const std::byte> bytes = rawBytes(source, proto);
    if (!size || std::cmp_not_equal(*size, bytes.size()))
        return wrongSize(where, static_cast<std::int64_t>(bytes.size()), "bytes of values",
                         size.value_or(-1));
    if (type == DType::Unknown)
        return Tensor();
    return tensor::unpacked(type, std::move(shape), bytes, owner);
}

} // namespace

Result<Shape> shapeOf(const ::onnx::TensorProto &proto, const std::string &where)
{
    if (proto.dims_size() > kMostDimensions)
        return badInput(where, std::to_string(proto.dims_size()) + " dimensions",
                        "at most " + std::to_string(kMostDimensions));
    std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
    for (const std::int64_t dim : dims)
        if (dim < 0)
            return badInput(where, "dimension " + std::to_string(dim), "0 or more");
    Shape shape(std::move(dims));
    if (!shape.elementCount())
        return badInput(where, "shape " + shape.toString(), "fewer elements");
    return shape;
}

Result<Tensor> readTensor(Source &source, const std::shared_ptr<Source> &owner,
                          const ::onnx::TensorProto &proto, const std::string &where)
{
    const auto type = names::dtypeOfCode(proto.data_type());
    if (!type)
        return badInput(where, "type code " + std::to_string(proto.data_type()), "an ONNX type");
    HALFTONE_TRY(Shape shape, shapeOf(proto, where));
    if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
        return readExternal(source, proto, *type, std::move(shape), where);
    const TypedFields typed = typedFields(proto);
    const bool isRaw = proto.has_raw_data() || source.values.contains(&proto);
    if (typed.others > 0 || (isRaw && typed.own > 0))
        return badInput(where, "values in several fields",
                        "values only in the field of its type or in raw_data");
    const std::int64_t count = shape.elementCount().value_or(0);
    if (proto.data_type() == ::onnx::TensorProto::STRING) {
        if (proto.string_data_size() != count)
            return wrongSize(where, proto.string_data_size(), "texts", count);
        return Tensor();
    }
    if (isRaw)
        return readRaw(source, owner, proto, *type, std::move(shape), where);
    const int bits = names::bitsOfCode(proto.data_type());
    const bool isComplex = proto.data_type() == ::onnx::TensorProto::COMPLEX64
        || proto.data_type() == ::onnx::TensorProto::COMPLEX128;
    const std::int64_t expected = isComplex ? 2 * count : bits < 8 ? (count * bits + 7) / 8 : count;
    if (typed.own != expected)
        return wrongSize(where, typed.own, "values", expected);
    if (*type == DType::Unknown)
        return Tensor();
    const auto bytes = std::make_shared<const std::vector<std::byte>>(typedBytes(proto, *type));
    return tensor::unpacked(*type, std::move(shape), *bytes, bytes);
}

std::string summaryOf(const ::onnx::TensorProto &proto)
{
    const std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
    return std::string(names::nameOfCode(proto.data_type())) + names::listText(dims);
}

void describeValues(const Tensor &values, ::onnx::TensorProto &proto)
{
    proto.clear_dims();
    for (const std::int64_t dim : values.shape().dims())
        proto.add_dims(dim);
    proto.set_data_type(static_cast<std::int32_t>(names::codeOf(values.dtype())));
    proto.clear_float_data();
    proto.clear_int32_data();
    proto.clear_int64_data();
    proto.clear_double_data();
    proto.clear_uint64_data();
    proto.clear_external_data();
    proto.clear_data_location();
    proto.clear_raw_data();
}

void writeValues(const Tensor &values, ::onnx::TensorProto &proto)
{
    describeValues(values, proto);
    const Tensor stored = values.stored();
    const auto bytes = stored.bytes();
    proto.set_raw_data(bytes.data(), bytes.size());
}

} // namespace halftone::io::onnx

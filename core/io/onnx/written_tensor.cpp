#include "core/io/onnx/written_tensor.h"

#include "core/dialect/onnx/element_type.h"
#include "core/io/onnx/tensor_values.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace halftone::io::onnx {

namespace names = dialect::onnx;

bool holds(const Source &source, const ::onnx::TensorProto &proto, const tensor::Tensor &values)
{
    if (names::dtypeOfCode(proto.data_type()) != values.dtype()
        || !std::ranges::equal(proto.dims(), values.shape().dims()))
        return false;
    if (values.dtype() == tensor::DType::Unknown)
        return true;
    const bool isPacked = tensor::packedBits(values.dtype()) > 0;
    if (values.isDeferred() != isPacked) // made of something else than what the message has
        return false;
    const auto apart = source.values.find(&proto);
    const auto *const begin = apart != source.values.end()
        ? apart->second.data()
        : reinterpret_cast<const std::byte *>(proto.raw_data().data());
    if (proto.has_raw_data() || apart != source.values.end())
        return begin == values.stored().bytes().data();
    return false;
}

void copyWithValues(const Source &source, const ::onnx::TensorProto &from, ::onnx::TensorProto &to)
{
    to.CopyFrom(from);
    const auto apart = source.values.find(&from);
    if (apart == source.values.end())
        return;
    to.clear_external_data();
    to.clear_data_location();
    to.set_raw_data(apart->second.data(), apart->second.size());
}

namespace {

/// The same of elements of 4 and 2 bits, in the field for numbers.
bool holdsTyped(const ::onnx::TensorProto &proto, const tensor::Tensor &values)
{
    if (tensor::packedBits(values.dtype()) == 0 || proto.int32_data_size() == 0
        || names::dtypeOfCode(proto.data_type()) != values.dtype()
        || !std::ranges::equal(proto.dims(), values.shape().dims()))
        return false;
    return std::ranges::equal(proto.int32_data(), values.stored().bytes(), {},
                              [](std::int32_t packed) { return static_cast<std::byte>(packed); });
}

constexpr std::size_t kLeastApart = 4096; ///< smaller values are not worth a part of the file of their own

/// The same, but large values go into `apart`, if that is not null.
void copyTensor(const Source &source, const ::onnx::TensorProto &from, ::onnx::TensorProto &to,
                ValuesApart *apart)
{
    const auto held = source.values.find(&from);
    if (apart == nullptr || held == source.values.end() || held->second.size() < kLeastApart)
        return copyWithValues(source, from, to);
    to.CopyFrom(from);
    to.clear_external_data();
    to.clear_data_location();
    apart->insert_or_assign(&to, ApartValues{{}, held->second});
}

} // namespace

void writeTensor(const Source *source, const ::onnx::TensorProto *from, const tensor::Tensor &values,
                 ::onnx::TensorProto &to, ValuesApart *apart)
{
    if (from != nullptr && values.dtype() == tensor::DType::Unknown)
        return copyTensor(*source, *from, to, apart);
    if (from != nullptr)
        to.CopyFrom(*from);
    if (from != nullptr
        && ((holds(*source, *from, values) && from->has_raw_data()) || holdsTyped(*from, values)))
        return;
    if (apart == nullptr || values.storedBytes() < kLeastApart)
        return writeValues(values, to);
    describeValues(values, to);
    apart->insert_or_assign(&to, ApartValues{values.stored(), {}});
}

void giveType(std::optional<tensor::DType> type, ::onnx::TensorProto &values)
{
    const auto held = names::dtypeOfCode(values.data_type());
    if (!type || !held || *type == *held || !tensor::isFloat(*type) || !tensor::isFloat(*held))
        return;
    const auto source = std::make_shared<Source>();
    const ::onnx::TensorProto before = values;
    const auto read = readTensor(*source, source, before, values.name());
    if (read.ok())
        writeValues(tensor::clampedTo(read.value(), *type), values);
}

} // namespace halftone::io::onnx

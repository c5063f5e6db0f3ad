#include "halftone/array.h"

#include "core/api/inside.h"
#include "core/tensor/elements.h"

#include <cstring>

namespace halftone::api {

Array arrayOf(const std::string &name, const tensor::Tensor &tensor)
{
    const auto owner = std::make_shared<const tensor::Tensor>(tensor);
    return {name, typeOf(tensor.dtype()), shapeOf(tensor.shape()).value_or(Shape()), owner->bytes(), owner};
}

halftone::Result<tensor::Tensor> tensorOf(const Array &array)
{
    const tensor::Shape shape(array.shape);
    const auto count = shape.elementCount();
    if (!count || array.type == Type::Unknown
        || array.bytes.size() / sizeOf(array.type) != static_cast<std::size_t>(*count)
        || array.bytes.size() % sizeOf(array.type) != 0)
        return badInput(array.name, std::to_string(array.bytes.size()) + " bytes",
                        "those of " + std::string(nameOf(array.type)) + ' ' + shape.toString());
    return tensor::Tensor(dtypeOf(array.type), shape, array.bytes, array.owner);
}

Array Array::of(std::string name, Shape shape, const std::vector<float> &values)
{
    const auto owner = std::make_shared<const std::vector<float>>(values);
    return {std::move(name), Type::Float32, std::move(shape), std::as_bytes(std::span(*owner)), owner};
}

std::vector<float> Array::floats() const
{
    std::vector<float> values(type == Type::Unknown ? 0 : bytes.size() / sizeOf(type));
    tensor::widen(dtypeOf(type), bytes.data(), values.size(), values.data());
    return values;
}

} // namespace halftone::api

#include "core/io/onnx/sparse_values.h"

#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/element_type.h"
#include "core/io/onnx/tensor_values.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace halftone::io::onnx {
namespace {

namespace names = dialect::onnx;
using tensor::Shape;
using tensor::Tensor;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::vector<std::int64_t> dimsOf(const ::onnx::SparseTensorProto &proto)
{
    return {proto.dims().begin(), proto.dims().end()};
}

class SpreadElements final : public tensor::DeferredElements
{
public:
    SpreadElements(std::size_t bytes, Tensor values, std::vector<std::int64_t> places)
        : DeferredElements(bytes)
        , m_values(std::move(values))
        , m_size(tensor::sizeOf(m_values.dtype()))
    {
        for (std::size_t k = 0; k < places.size(); ++k)
            m_places.emplace_back(static_cast<std::size_t>(places[k]) * m_size, k);
        std::ranges::sort(m_places);
    }

private:
    void make(std::size_t first, std::size_t count, std::byte *to) const override
    {
        std::memset(to, 0, count);
        const std::span<const std::byte> values = m_values.bytes();
        auto at = std::ranges::lower_bound(m_places, std::pair(first, std::size_t{0}));
        for (; at != m_places.end() && at->first < first + count; ++at)
            std::memcpy(to + (at->first - first), values.data() + at->second * m_size, m_size);
    }

    Tensor m_values;
    std::size_t m_size;
    std::vector<std::pair<std::size_t, std::size_t>> m_places; ///< byte, number of the value; in order
};

/// Places in row-major order. They are counted so, or by the axes.
Result<std::vector<std::int64_t>> placesOf(const Tensor &indices, const Shape &shape, std::int64_t count,
                                           const std::string &where)
{
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const bool isFlat = indices.shape().rank() == 1;
    const bool isTable = indices.shape().rank() == 2 && indices.shape()[1] == rank;
    if (indices.dtype() != tensor::DType::I64 || (!isFlat && !isTable))
        return badInput(where, "indices of shape " + indices.shape().toString(), "int64 of rank 1 or 2");
    const auto given = indices.values<std::int64_t>();
    const std::size_t step = isFlat ? 1 : shape.rank();
    std::vector<std::int64_t> places;
    for (std::size_t k = 0; step > 0 && k < given.size(); k += step) {
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < step; ++axis) {
            const std::int64_t index = given[k + axis];
            const std::int64_t most = isFlat ? count : shape[axis];
            if (index < 0 || index >= most)
                return badInput(where, "index " + std::to_string(index), "less than " + std::to_string(most));
            place = isFlat ? index : place * most + index;
        }
        places.push_back(place);
    }
    return places;
}

} // namespace

std::string summaryOf(const ::onnx::SparseTensorProto &proto)
{
    return std::string(names::nameOfCode(proto.values().data_type())) + names::listText(dimsOf(proto));
}

Result<SparseValues> readSparse(Source &source, const std::shared_ptr<Source> &owner,
                                const ::onnx::SparseTensorProto &proto, const std::string &where)
{
    HALFTONE_TRY(Tensor values, readTensor(source, owner, proto.values(), where));
    HALFTONE_TRY(const Tensor indices, readTensor(source, owner, proto.indices(), where));
    const Shape shape(dimsOf(proto));
    const auto count = shape.elementCount();
    if (!count)
        return badInput(where, "a tensor of shape " + shape.toString(), "fewer elements");
    SparseValues read;
    HALFTONE_TRY(read.places, placesOf(indices, shape, *count, where));
    if (values.dtype() == tensor::DType::Unknown)
        return read;
    if (values.elementCount() != read.places.size())
        return badInput(where, std::to_string(values.elementCount()) + " values",
                        std::to_string(read.places.size()) + ", one for each index");
    const std::size_t size = tensor::sizeOf(values.dtype());
    if (static_cast<std::size_t>(*count) > kMostBytes / size)
        return read;
    const tensor::DType type = values.dtype();
    read.dense = Tensor(type, shape,
                        std::make_shared<const SpreadElements>(static_cast<std::size_t>(*count) * size,
                                                               std::move(values), read.places));
    return read;
}

bool writeSparse(const Tensor &dense, const std::vector<std::int64_t> &places,
                 ::onnx::SparseTensorProto &proto)
{
    const std::size_t size = tensor::sizeOf(dense.dtype());
    const std::span<const std::byte> all = dense.bytes();
    std::vector<std::byte> rest(all.begin(), all.end());
    std::vector<std::byte> stored;
    for (const std::int64_t place : places) {
        const std::size_t at = static_cast<std::size_t>(place) * size;
        stored.insert(stored.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                      all.begin() + static_cast<std::ptrdiff_t>(at + size));
        std::fill_n(rest.begin() + static_cast<std::ptrdiff_t>(at), size, std::byte{0});
    }
    if (std::ranges::any_of(rest, [](std::byte byte) { return byte != std::byte{0}; }))
        return false;
    const auto number = static_cast<std::int64_t>(places.size());
    const Tensor values = Tensor::owning(dense.dtype(), Shape{number}, std::move(stored));
    if (names::dtypeOfCode(proto.values().data_type()) == dense.dtype()) {
        const auto source = std::make_shared<Source>();
        const auto held = readTensor(*source, source, proto.values(), {});
        if (held.ok() && std::ranges::equal(held.value().bytes(), values.bytes()))
            return true; // as it is
    }
    writeValues(values, *proto.mutable_values());
    return true;
}

} // namespace halftone::io::onnx

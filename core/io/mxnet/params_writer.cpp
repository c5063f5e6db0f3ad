#include "core/dialect/mxnet/dtype_code.h"
#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/params_format.h"

#include <algorithm>
#include <concepts>
#include <cstring>

namespace halftone::io {
namespace {

using tensor::Array;
using tensor::Shape;
using tensor::Storage;
using tensor::Tensor;

/// Collects the small fields before a block of values.
class ParamsHeader
{
public:
    template <std::integral T>
    void put(T value)
    {
        const std::size_t at = m_bytes.size();
        m_bytes.resize(at + sizeof(T));
        std::memcpy(m_bytes.data() + at, &value, sizeof(T));
    }
    void putShape(const Shape &shape)
    {
        put(static_cast<std::int32_t>(shape.rank()));
        for (const std::int64_t dim : shape.dims())
            put(dim);
    }
    std::span<const std::byte> bytes() const { return m_bytes; }

private:
    std::vector<std::byte> m_bytes;
};

Result<void> writeArray(const Array &array, const WriteBytes &write)
{
    const bool isScalar = array.shape.hasRank() && array.shape.rank() == 0;
    ParamsHeader header;
    header.put(isScalar ? params::kV3 : params::kV2);
    header.put(static_cast<std::int32_t>(array.shape.hasRank() ? array.storage : Storage::Dense));
    if (array.shape.hasRank() && array.storage != Storage::Dense) {
        Shape stored = array.values.shape();
        if (array.leavesRowsOpen)
            stored[0] = 0;
        header.putShape(stored);
    }
    header.putShape(array.shape);
    if (!array.shape.hasRank())
        return write(header.bytes());
    header.put(array.deviceType);
    header.put(array.deviceId);
    header.put(dialect::mxnet::codeOf(array.values.dtype()));
    for (const Tensor &index : array.indices) {
        header.put(dialect::mxnet::codeOf(index.dtype()));
        header.putShape(index.shape());
    }
    HALFTONE_CHECK(write(header.bytes()));
    Result<void> written;
    array.values.inPieces([&](std::span<const std::byte> piece) {
        written = write(piece);
        return written.ok();
    });
    HALFTONE_CHECK(std::move(written));
    for (const Tensor &index : array.indices)
        HALFTONE_CHECK(write(index.bytes()));
    return {};
}

Result<void> writeNames(std::span<const Array> arrays, const WriteBytes &write)
{
    const bool isNamed = std::ranges::any_of(arrays, [](const Array &array) { return !array.name.empty(); });
    ParamsHeader count;
    count.put(std::uint64_t{isNamed ? arrays.size() : 0});
    HALFTONE_CHECK(write(count.bytes()));
    for (const Array &array : arrays.first(isNamed ? arrays.size() : 0)) {
        ParamsHeader length;
        length.put(std::uint64_t{array.name.size()});
        HALFTONE_CHECK(write(length.bytes()));
        HALFTONE_CHECK(write(std::as_bytes(std::span(array.name))));
    }
    return {};
}

} // namespace

Result<void> writeParams(std::span<const Array> arrays, const WriteBytes &write)
{
    ParamsHeader list;
    list.put(params::kListMagic);
    list.put(std::uint64_t{0});
    list.put(std::uint64_t{arrays.size()});
    HALFTONE_CHECK(write(list.bytes()));
    for (const Array &array : arrays)
        HALFTONE_CHECK(writeArray(array, write));
    return writeNames(arrays, write);
}

} // namespace halftone::io

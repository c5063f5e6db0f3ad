#include "core/base/byte_reader.h"
#include "core/base/checked_math.h"
#include "core/base/hex.h"
#include "core/dialect/mxnet/dtype_code.h"
#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/params_format.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace halftone::io {
namespace {

using tensor::Array;
using tensor::DType;
using tensor::Shape;
using tensor::Storage;
using tensor::Tensor;

constexpr std::int64_t kHighestMxnetRank = 32;
/// An array in memory is larger than the smallest one in a file, so their number needs a limit of its own.
constexpr std::uint64_t kMostArrays = std::uint64_t{1} << 20;
constexpr std::uint64_t kSmallestArray = 4;
constexpr std::uint64_t kSmallestName = 8;

/// Reads one array after another; each read…() takes the fields that the spec's table gives for the array's
/// version.
class ParamsReader
{
public:
    ParamsReader(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::stop_token stop)
        : m_in(bytes)
        , m_owner(std::move(owner))
        , m_stop(std::move(stop))
    {
    }

    Result<std::vector<Array>> readList();

private:
    Result<std::uint64_t> readCount(const std::string &what, std::uint64_t smallest);
    Result<Array> readArray(std::size_t index);
    Result<void> readModern(Array &array, std::uint32_t magic);
    Result<void> readOldest(Array &array, std::uint32_t rank);
    Result<Shape> readShape(std::uint32_t magic, const std::string &what);
    template <class Dim>
    Result<Shape> readDims(std::int64_t rank, const std::string &what);
    Result<void> readContext(Array &array);
    Result<DType> readType(const std::string &what);
    Result<Tensor> readValues(DType type, Shape shape, const std::string &what);
    Result<void> readSparse(Array &array, Shape stored);
    Result<void> readNames(std::vector<Array> &arrays);

    ByteReader m_in;
    std::shared_ptr<const void> m_owner;
    std::stop_token m_stop;
    std::string m_what; ///< "array 3", for errors
};

/// A count, refused when the rest of the file cannot hold that many things of at least `smallest` bytes.
Result<std::uint64_t> ParamsReader::readCount(const std::string &what, std::uint64_t smallest)
{
    const std::size_t at = m_in.offset();
    HALFTONE_TRY(const auto count, m_in.read<std::uint64_t>(what));
    const std::uint64_t most = std::min<std::uint64_t>(m_in.left() / smallest, kMostArrays);
    if (count > most)
        return ByteReader::errorAt(at, std::to_string(count) + " for " + what,
                                   "at most " + std::to_string(most));
    return count;
}

Result<std::vector<Array>> ParamsReader::readList()
{
    HALFTONE_TRY(const auto magic, m_in.read<std::uint64_t>("the signature of the list"));
    if (magic != params::kListMagic)
        return ByteReader::errorAt(0, "signature 0x" + hexDigits(magic),
                                   "0x" + hexDigits(params::kListMagic) + " (an MXNet parameter list)");
    HALFTONE_CHECK(m_in.take(sizeof(std::uint64_t), "the reserved word"));
    HALFTONE_TRY(const auto count, readCount("the number of arrays", kSmallestArray));
    std::vector<Array> arrays;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (m_stop.stop_requested())
            return cancelled();
        HALFTONE_TRY(Array array, readArray(i));
        arrays.push_back(std::move(array));
    }
    HALFTONE_CHECK(readNames(arrays));
    return arrays;
}

Result<Array> ParamsReader::readArray(std::size_t index)
{
    m_what = "array " + std::to_string(index);
    HALFTONE_TRY(const auto magic, m_in.read<std::uint32_t>("the signature of " + m_what));
    Array array;
    if (magic == params::kV1 || magic == params::kV2 || magic == params::kV3)
        HALFTONE_CHECK(readModern(array, magic));
    else
        HALFTONE_CHECK(readOldest(array, magic));
    return array;
}

Result<void> ParamsReader::readOldest(Array &array, std::uint32_t rank)
{
    // Before versions the first word is the rank, so an unknown signature shows as an impossible one.
    if (rank > kHighestMxnetRank) {
        return ByteReader::errorAt(
            m_in.offset() - sizeof(rank), "first word " + std::to_string(rank) + " of " + m_what,
            "the signature of a version, or a rank of at most " + std::to_string(kHighestMxnetRank));
    }
    HALFTONE_TRY(Shape shape, readDims<std::uint32_t>(rank, "the shape of " + m_what));
    if (rank == 0)
        return {};
    array.shape = shape;
    HALFTONE_CHECK(readContext(array));
    HALFTONE_TRY(const DType type, readType(m_what));
    HALFTONE_TRY(array.values, readValues(type, std::move(shape), m_what));
    return {};
}

Result<void> ParamsReader::readModern(Array &array, std::uint32_t magic)
{
    const std::size_t at = m_in.offset();
    std::int32_t storage = 0;
    if (magic != params::kV1) {
        HALFTONE_TRY(storage, m_in.read<std::int32_t>("the storage type of " + m_what));
    }
    const std::int32_t highest = magic == params::kV2 ? 2 : 0;
    if (storage < 0 || storage > highest)
        return ByteReader::errorAt(at, "storage type " + std::to_string(storage) + " of " + m_what,
                                   highest == 0 ? "0" : "0, 1 or 2");
    array.storage = static_cast<Storage>(storage);
    Shape stored;
    if (storage != 0) {
        HALFTONE_TRY(stored, readShape(magic, "the stored shape of " + m_what));
    }
    HALFTONE_TRY(array.shape, readShape(magic, "the shape of " + m_what));
    const bool isNone = !array.shape.hasRank() || (magic != params::kV3 && array.shape.rank() == 0);
    if (isNone) {
        array.shape = Shape();
        return {};
    }
    HALFTONE_CHECK(readContext(array));
    if (storage != 0)
        return readSparse(array, std::move(stored));
    HALFTONE_TRY(const DType type, readType(m_what));
    HALFTONE_TRY(array.values, readValues(type, array.shape, m_what));
    return {};
}

Result<Shape> ParamsReader::readShape(std::uint32_t magic, const std::string &what)
{
    const std::size_t at = m_in.offset();
    HALFTONE_TRY(const auto rank, m_in.read<std::int32_t>(what));
    if (magic == params::kV3 && rank == -1)
        return Shape();
    if (rank < 0 || rank > kHighestMxnetRank)
        return ByteReader::errorAt(at, "rank " + std::to_string(rank) + " in " + what,
                                   "0 to " + std::to_string(kHighestMxnetRank));
    return readDims<std::int64_t>(rank, what);
}

template <class Dim>
Result<Shape> ParamsReader::readDims(std::int64_t rank, const std::string &what)
{
    std::vector<std::int64_t> dims;
    for (std::int64_t axis = 0; axis < rank; ++axis) {
        const std::size_t at = m_in.offset();
        HALFTONE_TRY(const auto dim, m_in.read<Dim>(what));
        if (std::cmp_less(dim, 0))
            return ByteReader::errorAt(at, "dimension " + std::to_string(dim) + " in " + what, "0 or more");
        dims.push_back(static_cast<std::int64_t>(dim));
    }
    return Shape(std::move(dims));
}

Result<void> ParamsReader::readContext(Array &array)
{
    HALFTONE_TRY(array.deviceType, m_in.read<std::int32_t>("the device of " + m_what));
    HALFTONE_TRY(array.deviceId, m_in.read<std::int32_t>("the device of " + m_what));
    return {};
}

Result<DType> ParamsReader::readType(const std::string &what)
{
    const std::size_t at = m_in.offset();
    HALFTONE_TRY(const auto code, m_in.read<std::int32_t>("the type of " + what));
    const auto type = dialect::mxnet::dtypeOfCode(code);
    if (!type)
        return ByteReader::errorAt(at, "type code " + std::to_string(code) + " of " + what, "0 to 12");
    return *type;
}

Result<Tensor> ParamsReader::readValues(DType type, Shape shape, const std::string &what)
{
    const auto count = shape.elementCount();
    const auto size = count ? checkedMultiply(*count, static_cast<std::int64_t>(sizeOf(type))) : std::nullopt;
    if (!size || static_cast<std::uint64_t>(*size) > m_in.left()) {
        return ByteReader::errorAt(m_in.offset(),
                                   "shape " + shape.toString() + " of " + what + " with "
                                       + std::to_string(m_in.left()) + " bytes left",
                                   size ? std::to_string(*size) + " bytes of values" : "fewer values");
    }
    HALFTONE_TRY(const auto bytes, m_in.take(static_cast<std::uint64_t>(*size), "the values of " + what));
    return Tensor(type, std::move(shape), bytes, m_owner);
}

/// After the context: type of the values, then type and shape of each index array, the values, the index
/// arrays.
Result<void> ParamsReader::readSparse(Array &array, Shape stored)
{
    HALFTONE_TRY(const DType type, readType(m_what));
    struct Index
    {
        DType type;
        Shape shape;
    };
    std::vector<Index> indices;
    for (std::size_t i = 0; i < (array.storage == Storage::Csr ? 2U : 1U); ++i) {
        HALFTONE_TRY(const DType indexType, readType("the indices of " + m_what));
        HALFTONE_TRY(Shape shape, readShape(params::kV2, "the shape of the indices of " + m_what));
        indices.push_back({indexType, std::move(shape)});
    }
    const std::size_t at = m_in.offset();
    const Shape &rows = indices.front().shape;
    if (array.storage == tensor::Storage::RowSparse && stored.rank() > 0 && stored[0] == 0
        && rows.rank() == 1) {
        array.leavesRowsOpen = rows[0] > 0;
        stored[0] = rows[0];
    }
    HALFTONE_TRY(array.values, readValues(type, std::move(stored), m_what));
    for (Index &index : indices) {
        HALFTONE_TRY(Tensor values,
                     readValues(index.type, std::move(index.shape), "the indices of " + m_what));
        array.indices.push_back(std::move(values));
    }
    if (std::string wrong = params::wrongSparse(array); !wrong.empty())
        return ByteReader::errorAt(at, m_what + ": " + wrong);
    return {};
}

Result<void> ParamsReader::readNames(std::vector<Array> &arrays)
{
    const std::size_t at = m_in.offset();
    HALFTONE_TRY(const auto count, readCount("the number of names", kSmallestName));
    if (count != 0 && count != arrays.size())
        return ByteReader::errorAt(at, std::to_string(count) + " names",
                                   std::to_string(arrays.size()) + ", or none");
    std::unordered_map<std::string, std::size_t> places;
    std::vector<Array> kept;
    for (std::uint64_t i = 0; i < count; ++i) {
        HALFTONE_TRY(const auto length, m_in.read<std::uint64_t>("the length of name " + std::to_string(i)));
        HALFTONE_TRY(const auto bytes, m_in.take(length, "name " + std::to_string(i)));
        Array &array = arrays[i];
        array.name.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
        const auto [place, isNew] = places.try_emplace(array.name, kept.size());
        if (isNew)
            kept.push_back(std::move(array));
        else
            kept[place->second] = std::move(array);
    }
    if (count != 0)
        arrays = std::move(kept);
    return {};
}

} // namespace

bool isParamsFile(std::span<const std::byte> content)
{
    std::uint64_t magic = 0;
    if (content.size() < sizeof(magic))
        return false;
    std::memcpy(&magic, content.data(), sizeof(magic));
    return magic == params::kListMagic;
}

Result<std::vector<Array>> readParams(std::span<const std::byte> bytes,
                                      const std::shared_ptr<const void> &owner, const std::stop_token &stop)
{
    return ParamsReader(bytes, owner, stop).readList();
}

Result<std::vector<Array>> readParams(const std::shared_ptr<const MappedFile> &file,
                                      const std::stop_token &stop)
{
    auto arrays = readParams(file->bytes(), file, stop);
    return arrays.ok() ? std::move(arrays) : inFile(std::move(arrays).error(), file->path());
}

} // namespace halftone::io

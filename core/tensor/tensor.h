#pragma once

#include "core/base/result.h"
#include "core/tensor/deferred.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::tensor {

/// A dense, row-major, immutable array. Copies share the bytes, which may lie in a mapped file and then need
/// not be aligned: read elements through values<T>() (which copies when it must), not by casting bytes(). Deferred elements
/// are made at the first bytes().
class Tensor
{
public:
    Tensor() = default;
    /// `bytes` must hold exactly shape.elementCount() elements of `type`, none of an unknown one; `owner` keeps them alive.
    Tensor(DType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

    /// Elements that are made when they are read. Same promise on their number.
    Tensor(DType type, Shape shape, std::shared_ptr<const DeferredElements> elements);

    /// Takes the bytes over. Same promise on their number.
    static Tensor owning(DType type, Shape shape, std::vector<std::byte> bytes);

    DType dtype() const { return m_type; }
    const Shape &shape() const { return m_shape; }
    std::span<const std::byte> bytes() const { return m_deferred ? m_deferred->all() : m_bytes; }
    std::size_t byteCount() const { return m_deferred ? m_deferred->size() : m_bytes.size(); }
    std::size_t elementCount() const;
    bool isDeferred() const { return m_deferred != nullptr; }
    /// Where the elements lie, or will be made: equal for copies, and for no two tensors of different elements at once.
    const void *place() const
    {
        return m_deferred ? static_cast<const void *>(m_deferred.get()) : m_bytes.data();
    }
    /// The elements as ONNX stores them: those of 4 and 2 bits several in a byte, the first in its lowest bits, as uint8 in one axis,
    /// where bits that are left over are 0 or as they were read; all others as they are.
    Tensor stored() const;
    std::size_t storedBytes() const; ///< of stored()
    /// The bytes in order, in pieces of which deferred ones are not kept; stops where `take` gives false. Says whether it did not.
    bool inPieces(const std::function<bool(std::span<const std::byte>)> &take) const
    {
        return m_deferred ? m_deferred->inPieces(take) : take(m_bytes);
    }

    /// The elements as T, whose size must be the element size; copied, so that alignment does not matter.
    template <class T>
    std::vector<T> values() const;

private:
    DType m_type = DType::Unknown;
    Shape m_shape;
    std::span<const std::byte> m_bytes;
    std::shared_ptr<const void> m_owner;
    std::shared_ptr<const DeferredElements> m_deferred; ///< null: m_bytes has them
};

/// How the values of an Array are stored (MXNet's storage types).
enum class Storage : std::uint8_t
{
    Dense,
    RowSparse,
    Csr
};

/// A named array of a parameter file, dense or sparse.
struct Array
{
    std::string name; ///< as in the file, with "arg:" or "aux:" where it has one; empty in a nameless list
    Storage storage = Storage::Dense;
    Shape shape; ///< logical shape; unknown rank for an array that was never allocated
    Tensor values; ///< the elements (dense), or the stored ones (sparse)
    std::vector<Tensor> indices; ///< RowSparse: row ids; Csr: row pointers, then columns
    std::int32_t deviceType
        = 1; ///< where the writer kept it (1 cpu, 2 gpu, …): kept so that a file round-trips byte for byte
    std::int32_t deviceId = 0;
    bool leavesRowsOpen
        = false; ///< RowSparse: the file gives 0 stored rows and leaves their number to the row ids
};

} // namespace halftone::tensor

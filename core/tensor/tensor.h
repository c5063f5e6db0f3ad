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

/// A dense, row-major, immutable array. Copies share the bytes. These may lie in a mapped file and be unaligned, so read
/// elements through values<T>() (which copies if necessary) instead of casting bytes(). Deferred elements are computed by the
/// first bytes().
class Tensor
{
public:
    Tensor() = default;
    /// `bytes` must hold exactly shape.elementCount() elements of `type` (none if it is Unknown); `owner` keeps them alive.
    Tensor(DType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

    /// Elements that are computed when they are first read. Same condition on their number.
    Tensor(DType type, Shape shape, std::shared_ptr<const DeferredElements> elements);

    /// Takes ownership of the bytes. Same condition on their number.
    static Tensor owning(DType type, Shape shape, std::vector<std::byte> bytes);

    DType dtype() const { return m_type; }
    const Shape &shape() const { return m_shape; }
    std::span<const std::byte> bytes() const { return m_deferred ? m_deferred->all() : m_bytes; }
    std::size_t byteCount() const { return m_deferred ? m_deferred->size() : m_bytes.size(); }
    std::size_t elementCount() const;
    bool isDeferred() const { return m_deferred != nullptr; }
    /// Identifies the elements: equal for copies, and different for tensors with different elements that exist at the same time.
    const void *place() const
    {
        return m_deferred ? static_cast<const void *>(m_deferred.get()) : m_bytes.data();
    }
    /// The elements as ONNX stores them: those of 4 and 2 bits packed into bytes, first element in the lowest bits, as a uint8
    /// tensor of one axis (unused bits are 0 or as they were read); others unchanged.
    Tensor stored() const;
    std::size_t storedBytes() const; ///< of stored()
    /// Passes the bytes to `take` in order, in pieces; deferred ones are not kept. Stops when `take` returns false, and returns whether it finished.
    bool inPieces(const std::function<bool(std::span<const std::byte>)> &take) const
    {
        return m_deferred ? m_deferred->inPieces(take) : take(m_bytes);
    }

    /// A copy of the elements as T, whose size must be the element size.
    template <class T>
    std::vector<T> values() const;

private:
    DType m_type = DType::Unknown;
    Shape m_shape;
    std::span<const std::byte> m_bytes;
    std::shared_ptr<const void> m_owner;
    std::shared_ptr<const DeferredElements> m_deferred; ///< null: the elements are in m_bytes
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
    std::string name; ///< as in the file, including a prefix "arg:" or "aux:"; empty in a list without names
    Storage storage = Storage::Dense;
    Shape shape; ///< logical shape; unknown rank for an array that was never allocated
    Tensor values; ///< the elements (dense), or the stored ones (sparse)
    std::vector<Tensor> indices; ///< RowSparse: row ids; Csr: row pointers, then columns
    std::int32_t deviceType
        = 1; ///< device of the writer (1 cpu, 2 gpu, …), kept so that a file round-trips byte for byte
    std::int32_t deviceId = 0;
    bool leavesRowsOpen
        = false; ///< RowSparse: the file states 0 stored rows; the number follows from the row ids
};

} // namespace halftone::tensor

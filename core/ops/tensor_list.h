#pragma once

#include "core/base/result.h"
#include "core/ops/op_place.h"
#include "core/tensor/shape.h"

#include <cstddef>
#include <list>
#include <span>
#include <vector>

/// Lists of tensors (sequences of ONNX) as values. A list is kept as one vector of its tensors' type, so that it goes through graphs, bodies and
/// loops as any other value does: how many there are, then of each its rank, its extents (int64) and its elements, each part
/// at a multiple of eight bytes.
namespace halftone::ops {

struct TypedBytes
{
    tensor::DType type = tensor::DType::Unknown;
    tensor::Shape shape{};
    std::span<const std::byte> bytes{};
};

/// What an optional value is that holds nothing: a tensor without elements, of more axes than any other may have.
tensor::Shape nothingShape();

/// The tensors of a list; their bytes are those of `list`. fails: BadInput for what is no list
Result<std::vector<TypedBytes>> tensorsOf(const TypedBytes &list);

/// What an operator on lists gives: a list, a tensor, or a number.
class ListResult
{
public:
    /// inputs  those that are there, in order; their bytes outlive the result
    /// fails   BadInput: a place beyond the list, parts that do not fit
    static Result<ListResult> of(const TensorList &op, std::span<const TypedBytes> inputs);

    tensor::Shape shape(tensor::DType type) const; ///< of the output, which has elements of that type
    void write(std::byte *to) const;

private:
    Result<void> compute(const TensorList &op, std::span<const TypedBytes> inputs);
    Result<void> choose(const TensorList &op, std::span<const TypedBytes> inputs);
    Result<void> split(const TensorList &op, std::span<const TypedBytes> inputs);
    Result<void> join(const TensorList &op, const std::vector<TypedBytes> &parts);
    void setTensor(const TypedBytes &tensor);

    bool m_isList = true;
    std::vector<TypedBytes> m_parts; ///< of a list; else the one tensor
    std::list<std::vector<std::byte>> m_own; ///< bytes that no input has
};

} // namespace halftone::ops

#pragma once

#include "core/tensor/convert.h"
#include "core/tensor/tensor.h"

#include <map>
#include <memory>
#include <tuple>

namespace halftone::tensor {

/// What stored tensors were made into by one conversion, so that the next one of the same tensors computes only what it stores
/// otherwise. Holds nothing alive that the converted model does not hold. One thread fills it; once settled, any may read it.
class FormCache
{
public:
    struct Form
    {
        Tensor values;
        CastReport losses; ///< of a cast
        float largest = 0; ///< of codes: the magnitude that the last one stands for
    };

    /// before  of the conversion before; null: none
    explicit FormCache(std::shared_ptr<const FormCache> before = nullptr)
        : m_before(std::move(before))
    {
    }

    /// Null where it was never made, by this conversion or the one before. Good until keep() or settle().
    const Form *find(const Tensor &source, DType to);
    void keep(const Tensor &source, DType to, Form form);
    /// Forgets what only the conversion before had made.
    void settle() { m_before = nullptr; }

private:
    using Key = std::tuple<const void *, std::size_t, DType, DType>;
    struct Kept
    {
        Tensor source; ///< so that its place in memory stays its own
        Form form;
    };
    static Key keyOf(const Tensor &source, DType to);

    std::shared_ptr<const FormCache> m_before;
    std::map<Key, Kept> m_kept;
};

} // namespace halftone::tensor

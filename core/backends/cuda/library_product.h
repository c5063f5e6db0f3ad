#pragma once

#include "core/backends/cuda/emitter.h"

#include <functional>
#include <optional>
#include <vector>

namespace halftone::backends::cuda {

/// A product's operands, and what is added to it before all else.
struct Operands
{
    BufferId a = 0;
    BufferId b = 0;
    std::optional<plan::ValueId> bias{}; ///< one value a channel, or a column
    Place to;
};

/// What stands behind a product, for kernels of our own: operands are seen as its result is, the bias in front.
struct Behind
{
    Epilogue text;
    std::vector<BufferId> buffers;
};

/// How operands of the node's result are seen by a product that has other axes than it.
struct ResultAxes
{
    /// With the dims of the product's result; nothing where it cannot be seen so.
    std::function<std::optional<View>(const View &)> see;
    std::size_t ofBias = 0; ///< of the channels, or columns
};
Result<Behind> behindProduct(Emitter &emitter, const std::optional<plan::ValueId> &bias, const View &result,
                             const ResultAxes &axes);

/// The current node by a library, not yet as steps: with all that stands behind it in one call; with the bias alone, in 16 bits, or
/// bare, before a kernel of our own; whichever is the quickest as measured.
class LibraryProduct
{
public:
    /// fails: Unsupported where no library takes any of them
    static Result<LibraryProduct> prepare(Emitter &emitter, const ProductDesc &desc, const Operands &operands,
                                          const ResultAxes &axes);

    /// Of all that emit() adds; nothing where it was not measured.
    std::optional<double> microseconds() const { return m_microseconds; }
    /// What the node cannot do without, where that is less than what the product does.
    void setWork(const Work &work) { m_work = work; }
    /// a  the first operand, where that is known by now only
    void emit(Emitter &emitter, std::optional<BufferId> a = std::nullopt) &&;

private:
    LibraryProduct() = default;
    static Result<LibraryProduct> whole(Emitter &emitter, ProductDesc desc, const Operands &operands,
                                        const ResultAxes &axes);
    static Result<LibraryProduct> biased(Emitter &emitter, ProductDesc desc, const Operands &operands,
                                         const ResultAxes &axes);
    static Result<LibraryProduct> bare(Emitter &emitter, ProductDesc desc, const Operands &operands,
                                       const ResultAxes &axes);
    void setPartsTime(const Gpu &gpu);

    ProductDesc m_desc;
    std::unique_ptr<Product> m_product;
    std::vector<BufferId> m_buffers; ///< of its operands
    std::optional<Behind> m_behind; ///< nothing: the product writes the result itself
    Place m_to; ///< the result, as the product sees it
    Work m_work;
    std::optional<double> m_microseconds;
};

/// prepare(), then emit().
Result<void> emitLibraryProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands,
                                const ResultAxes &axes);

/// What a kernel that moves so many bytes takes on this chip, in microseconds: a guess, to tell what is worth a measurement.
double movingTime(const Gpu &gpu, double bytes);

} // namespace halftone::backends::cuda

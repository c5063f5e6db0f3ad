#include "core/backends/onednn/sliced_kernel.h"

#include "core/backends/onednn/emulated_kernel.h"

#include <algorithm>
#include <stop_token>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20; ///< of what a slice reads and gives, in float32
constexpr std::size_t kOutputAlignment = 64;

std::size_t rowsOf(const kernels::TensorDesc &desc)
{
    return desc.shape.rank() == 0 ? 0 : static_cast<std::size_t>(desc.shape[0]);
}

std::size_t elementsOfRow(const kernels::TensorDesc &desc)
{
    return static_cast<std::size_t>(desc.shape.elementCount().value_or(0))
        / std::max<std::size_t>(rowsOf(desc), 1);
}

kernels::TensorDesc firstRows(const kernels::TensorDesc &desc, std::size_t rows)
{
    std::vector<std::int64_t> dims(desc.shape.dims().begin(), desc.shape.dims().end());
    dims[0] = static_cast<std::int64_t>(rows);
    return {desc.dtype, tensor::Shape(std::move(dims))};
}

/// Does each row of the output come of the same row of the inputs, element by element?
bool isByElement(const ops::Operator &op)
{
    return op.is<ops::Unary>() || op.is<ops::Activation>() || op.is<ops::ScalarBinary>() || op.is<ops::Clip>()
        || op.is<ops::Binary>() || op.is<ops::Join>();
}

bool isByRow(const kernels::Operation &operation)
{
    const auto *const norm = operation.op.getIf<ops::BatchNormalization>();
    return operation.op.is<ops::Conv>() || isByElement(operation.op) || (norm != nullptr && norm->axis == 1);
}

/// How many inputs, from the first on, have rows; the others are read whole by every slice.
std::size_t rowedInputs(const kernels::Operation &operation)
{
    return isByElement(operation.op) ? operation.inputs.size() : 1;
}

kernels::Operation sliceOf(kernels::Operation operation, std::size_t rows)
{
    for (std::size_t k = 0; k < rowedInputs(operation); ++k)
        operation.inputs[k] = firstRows(operation.inputs[k], rows);
    operation.outputs[0] = firstRows(operation.outputs[0], rows);
    return operation;
}

class SlicedKernel final : public kernels::Kernel
{
public:
    SlicedKernel(const kernels::Operation &operation, std::size_t rows,
                 std::unique_ptr<kernels::Kernel> kernel, std::unique_ptr<kernels::Kernel> last)
        : m_all(rowsOf(operation.inputs[0]))
        , m_rows(rows)
        , m_rowed(rowedInputs(operation))
        , m_inputRow(elementsOfRow(operation.inputs[0]) * tensor::sizeOf(operation.inputs[0].dtype))
        , m_outputRow(elementsOfRow(operation.outputs[0]) * tensor::sizeOf(operation.outputs[0].dtype))
        , m_kernel(std::move(kernel))
        , m_last(std::move(last))
    {
    }

    std::string name() const override { return m_kernel->name(); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::vector<const std::byte *> from(inputs.begin(), inputs.end());
        std::vector<std::byte *> to(outputs.begin(), outputs.end());
        for (std::size_t row = 0; row < m_all && !m_stop.stop_requested(); row += m_rows) {
            for (std::size_t k = 0; k < m_rowed; ++k)
                from[k] = inputs[k] + row * m_inputRow;
            to[0] = outputs[0] + row * m_outputRow;
            kernels::Kernel &kernel = row + m_rows <= m_all ? *m_kernel : *m_last;
            HALFTONE_CHECK(kernel.run(from, to));
        }
        return {};
    }

    void setStop(std::stop_token stop) override
    {
        m_kernel->setStop(stop);
        if (m_last)
            m_last->setStop(stop);
        m_stop = std::move(stop);
    }

private:
    std::size_t m_all = 0;
    std::size_t m_rows = 0;
    std::size_t m_rowed = 1; ///< inputs
    std::size_t m_inputRow = 0; ///< bytes, of each of these
    std::size_t m_outputRow = 0;
    std::unique_ptr<kernels::Kernel> m_kernel;
    std::unique_ptr<kernels::Kernel> m_last; ///< of fewer rows; null: the slices are all alike
    std::stop_token m_stop;
};

} // namespace

std::optional<std::size_t> rowsAtATime(const kernels::Operation &operation)
{
    // The statistics that a normalization gives beside its output are those that it is given, whatever the rows are.
    // What computes in 16 bits as it comes takes nothing beside its input and output, but for convolutions.
    const bool takesMore = operation.op.is<ops::Conv>() || isEmulated(operation.outputs[0].dtype);
    if (!takesMore || !isByRow(operation)
        || (operation.outputs.size() != 1 && !operation.op.is<ops::BatchNormalization>()))
        return std::nullopt;
    const std::size_t rowed = rowedInputs(operation);
    for (std::size_t k = 0; k < rowed; ++k)
        if (operation.isConstant(k) || operation.inputs[k] != operation.inputs[0])
            return std::nullopt;
    const std::size_t all = rowsOf(operation.inputs[0]);
    const std::size_t row
        = sizeof(float) * (rowed * elementsOfRow(operation.inputs[0]) + elementsOfRow(operation.outputs[0]));
    if (all < 2 || rowsOf(operation.outputs[0]) != all || all * row <= kMostBytes)
        return std::nullopt;
    const std::size_t outputRow
        = elementsOfRow(operation.outputs[0]) * tensor::sizeOf(operation.outputs[0].dtype);
    std::size_t rows = std::max<std::size_t>(kMostBytes / row, 1);
    while (rows < all && rows * outputRow % kOutputAlignment != 0)
        ++rows;
    return rows < all ? std::optional(rows) : std::nullopt;
}

Result<std::unique_ptr<kernels::Kernel>> slicedKernel(const kernels::Operation &operation, std::size_t rows,
                                                      const Prepare &prepare)
{
    HALFTONE_TRY(std::unique_ptr<kernels::Kernel> kernel, prepare(sliceOf(operation, rows)));
    std::unique_ptr<kernels::Kernel> last;
    if (const std::size_t rest = rowsOf(operation.inputs[0]) % rows; rest > 0) {
        HALFTONE_TRY(last, prepare(sliceOf(operation, rest)));
    }
    return std::unique_ptr<kernels::Kernel>(
        std::make_unique<SlicedKernel>(operation, rows, std::move(kernel), std::move(last)));
}

} // namespace halftone::backends::onednn

#include "core/backends/onednn/loops/row_attention.h"

#include "core/backends/onednn/scratch.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kScoresAtOnce = 131072; ///< float32, which stay in the second cache
constexpr std::int64_t kFewestRows = 16;
constexpr std::int64_t kTasksForEach = 4; ///< thread, so that all end together

/// The three primitives for so many rows of the queries.
struct Steps
{
    std::int64_t rows = 0;
    dnnl::matmul::primitive_desc scoresDesc{nullptr};
    dnnl::softmax_forward::primitive_desc softmaxDesc{nullptr};
    dnnl::matmul::primitive_desc resultDesc{nullptr};
    dnnl::matmul scores;
    dnnl::softmax_forward softmax;
    dnnl::matmul result;

    std::size_t scratchBytes() const
    {
        return std::max({scoresDesc.scratchpad_desc().get_size(), softmaxDesc.scratchpad_desc().get_size(),
                         resultDesc.scratchpad_desc().get_size()});
    }
};

Desc strided(std::int64_t rows, std::int64_t columns, Type type, std::int64_t stride)
{
    return {Dims{rows, columns}, type, Dims{stride, 1}};
}

dnnl::primitive_attr scoreSteps(const AttentionRows &shape, std::int64_t rows)
{
    dnnl::primitive_attr attributes = userScratchpad();
    dnnl::post_ops chain;
    if (shape.op.scale != 1)
        chain.append_eltwise(dnnl::algorithm::eltwise_linear, static_cast<float>(shape.op.scale), 0);
    if (shape.op.hasMask)
        chain.append_binary(dnnl::algorithm::binary_add,
                            plainDesc({shape.mask[2] == 1 ? 1 : rows, shape.mask[3]}, Type::f32));
    attributes.set_post_ops(chain);
    return attributes;
}

Result<Steps> stepsFor(const AttentionRows &shape, std::int64_t rows)
{
    const ops::RowAttention &op = shape.op;
    Steps steps;
    steps.rows = rows;
    const Desc plain = plainDesc({rows, shape.keys}, Type::f32);
    const Desc weights = plainDesc({rows, shape.keys}, shape.type);
    steps.scoresDesc
        = dnnl::matmul::primitive_desc(cpu(), strided(rows, op.size, shape.type, shape.strides[0]),
                                       Desc({op.size, shape.keys}, shape.type, Dims{1, shape.strides[1]}),
                                       plain, scoreSteps(shape, rows), true);
    steps.softmaxDesc = dnnl::softmax_forward::primitive_desc(cpu(), dnnl::prop_kind::forward_inference,
                                                              dnnl::algorithm::softmax_accurate, plain,
                                                              weights, 1, userScratchpad(), true);
    steps.resultDesc = dnnl::matmul::primitive_desc(
        cpu(), weights, strided(shape.keys, op.valueSize, shape.type, shape.strides[2]),
        strided(rows, op.valueSize, shape.type, op.heads * op.valueSize), userScratchpad(), true);
    if (!steps.scoresDesc || !steps.softmaxDesc || !steps.resultDesc)
        return unsupported("plan", "oneDNN lacks a product or softmax for this attention");
    return attempt("plan", [&] {
        steps.scores = dnnl::matmul(steps.scoresDesc);
        steps.softmax = dnnl::softmax_forward(steps.softmaxDesc);
        steps.result = dnnl::matmul(steps.resultDesc);
        return steps;
    });
}

/// Where a block of rows lies.
struct Addresses
{
    const std::byte *query = nullptr;
    const std::byte *key = nullptr;
    const std::byte *value = nullptr;
    const std::byte *mask = nullptr;
    std::byte *result = nullptr;
    std::byte *scores = nullptr; ///< room for them
    std::byte *scratch = nullptr;
};

/// A primitive with its arguments, whose memory changes from block to block. (The C call: the C++ one makes a vector of its
/// arguments each time.)
class Step
{
public:
    Step(dnnl::primitive primitive, const Desc &scratch)
        : m_primitive(std::move(primitive))
    {
        add(DNNL_ARG_SCRATCHPAD, scratch);
    }

    void add(int argument, const Desc &desc)
    {
        m_memories.push_back(dnnl::memory(desc, cpu(), DNNL_MEMORY_NONE));
        m_arguments.push_back({argument, m_memories.back().get()});
    }

    /// In the order in which they were added.
    void run(const dnnl::stream &stream, std::initializer_list<const std::byte *> places)
    {
        std::size_t k = 0;
        for (const std::byte *place : places) // which is written only where the primitive writes
            m_memories[k++].set_data_handle(const_cast<std::byte *>(place));
        const dnnl_status_t status = dnnl_primitive_execute(
            m_primitive.get(), stream.get(), static_cast<int>(m_arguments.size()), m_arguments.data());
        dnnl::error::wrap_c_api(status, "attention cannot run");
    }

private:
    dnnl::primitive m_primitive;
    std::vector<dnnl::memory> m_memories;
    std::vector<dnnl_exec_arg_t> m_arguments;
};

/// What one thread works with.
class Worker
{
public:
    explicit Worker(const Steps &steps)
        : m_stream(cpu())
        , m_scores(steps.scores, steps.scoresDesc.scratchpad_desc())
        , m_softmax(steps.softmax, steps.softmaxDesc.scratchpad_desc())
        , m_result(steps.result, steps.resultDesc.scratchpad_desc())
    {
        m_scores.add(DNNL_ARG_SRC, steps.scoresDesc.src_desc());
        m_scores.add(DNNL_ARG_WEIGHTS, steps.scoresDesc.weights_desc());
        m_scores.add(DNNL_ARG_DST, steps.scoresDesc.dst_desc());
        const dnnl::post_ops chain = steps.scoresDesc.get_primitive_attr().get_post_ops();
        m_hasMask = chain.len() > 0 && chain.kind(chain.len() - 1) == dnnl::primitive::kind::binary;
        if (m_hasMask) {
            dnnl::algorithm algorithm{};
            Desc desc;
            chain.get_params_binary(chain.len() - 1, algorithm, desc);
            m_scores.add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(chain.len() - 1) | DNNL_ARG_SRC_1, desc);
        }
        m_softmax.add(DNNL_ARG_SRC, steps.softmaxDesc.src_desc());
        m_softmax.add(DNNL_ARG_DST, steps.softmaxDesc.dst_desc());
        m_result.add(DNNL_ARG_SRC, steps.resultDesc.src_desc());
        m_result.add(DNNL_ARG_WEIGHTS, steps.resultDesc.weights_desc());
        m_result.add(DNNL_ARG_DST, steps.resultDesc.dst_desc());
    }

    void run(const Addresses &at)
    {
        if (m_hasMask)
            m_scores.run(m_stream, {at.scratch, at.query, at.key, at.scores, at.mask});
        else
            m_scores.run(m_stream, {at.scratch, at.query, at.key, at.scores});
        m_softmax.run(m_stream,
                      {at.scratch, at.scores, at.scores}); // each row over itself, no wider than before
        m_result.run(m_stream, {at.scratch, at.scores, at.value, at.result});
    }

private:
    dnnl::stream m_stream;
    Step m_scores;
    Step m_softmax;
    Step m_result;
    bool m_hasMask = false;
};

class RowAttentionKernel final : public kernels::Kernel
{
public:
    RowAttentionKernel(const AttentionRows &shape, std::vector<Steps> steps, int threads)
        : m_shape(shape)
        , m_steps(std::move(steps))
        , m_threads(threads)
        , m_blocks((shape.queries + m_steps.front().rows - 1) / m_steps.front().rows)
        , m_width(static_cast<std::int64_t>(tensor::sizeOf(dtypeOf(shape.type))))
    {
    }

    std::string name() const override { return "own attention"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        const std::int64_t tasks = m_shape.batch * m_shape.op.heads * m_blocks;
        std::atomic<int> failed = dnnl_success;
        m_workers.resize(static_cast<std::size_t>(std::max(omp_get_max_threads(), 1)));
#pragma omp parallel
        {
            try {
                work(inputs, outputs[0], tasks);
            } catch (const dnnl::error &error) {
                failed = error.status;
            } catch (const std::bad_alloc &) {
                failed = dnnl_out_of_memory;
            }
        }
        if (failed != dnnl_success)
            return refusalOf(dnnl::error(static_cast<dnnl_status_t>(failed.load()), "attention cannot run"),
                             {});
        return {};
    }

private:
    /// This thread's share of the tasks.
    void work(std::span<const std::byte *const> inputs, std::byte *output, std::int64_t tasks)
    {
        const std::int64_t threads = omp_get_num_threads();
        const std::int64_t thread = omp_get_thread_num();
        const std::int64_t end = tasks * (thread + 1) / threads;
        std::vector<Worker> &workers = m_workers[static_cast<std::size_t>(thread)];
        for (std::size_t k = workers.size(); k < m_steps.size(); ++k)
            workers.emplace_back(m_steps[k]);
        const ScratchLease lease(scoreBytes() + scratchBytes());
        if (lease.data() == nullptr)
            throw std::bad_alloc();
        for (std::int64_t task = tasks * thread / threads; task < end; ++task) {
            const std::int64_t block = task % m_blocks;
            const bool isLast = block + 1 == m_blocks;
            workers[isLast ? workers.size() - 1 : 0].run(
                placesOf(inputs, output, task / m_blocks, block, lease.data()));
        }
    }

    Addresses placesOf(std::span<const std::byte *const> inputs, std::byte *output, std::int64_t picture,
                       std::int64_t block, std::byte *memory) const
    {
        const ops::RowAttention &op = m_shape.op;
        const std::int64_t n = picture / op.heads;
        const std::int64_t head = picture % op.heads;
        const std::int64_t keyHead = head / (op.heads / op.keyHeads);
        const std::int64_t row = block * m_steps.front().rows;
        const auto &strides = m_shape.strides;
        Addresses at;
        at.query = inputs[0]
            + m_width * ((n * m_shape.queries + row) * strides[0] + op.columns[0] + head * op.size);
        at.key = inputs[1] + m_width * (n * m_shape.keys * strides[1] + op.columns[1] + keyHead * op.size);
        at.value
            = inputs[2] + m_width * (n * m_shape.keys * strides[2] + op.columns[2] + keyHead * op.valueSize);
        at.result = output + m_width * (((n * m_shape.queries + row) * op.heads + head) * op.valueSize);
        if (op.hasMask) {
            const auto &mask = m_shape.mask;
            const std::int64_t plane = (mask[0] == 1 ? 0 : n) * mask[1] + (mask[1] == 1 ? 0 : head);
            at.mask = inputs[3]
                + static_cast<std::int64_t>(sizeof(float)) * mask[3]
                    * (plane * mask[2] + (mask[2] == 1 ? 0 : row));
        }
        at.scores = memory;
        at.scratch = memory + scoreBytes();
        return at;
    }

    std::size_t scoreBytes() const
    {
        constexpr std::size_t kPage = 4096;
        const auto bytes = static_cast<std::size_t>(m_steps.front().rows * m_shape.keys) * sizeof(float);
        return (bytes + kPage - 1) / kPage * kPage;
    }

    std::size_t scratchBytes() const
    {
        return std::max(m_steps.front().scratchBytes(), m_steps.back().scratchBytes()) + 1;
    }

    AttentionRows m_shape;
    std::vector<Steps> m_steps; ///< for all blocks of rows, or for all but the last, and for that
    std::vector<std::vector<Worker>> m_workers; ///< by thread, for each of the steps
    int m_threads = 0;
    std::int64_t m_blocks = 1;
    std::int64_t m_width = 4; ///< bytes of an element
};

std::int64_t rowsAtOnce(const AttentionRows &shape, int threads)
{
    const std::int64_t pictures = shape.batch * shape.op.heads;
    const std::int64_t wanted = kTasksForEach * (threads > 0 ? threads : omp_get_max_threads());
    const std::int64_t blocks = std::max<std::int64_t>(1, (wanted + pictures - 1) / pictures);
    const std::int64_t fitting = std::max(kScoresAtOnce / shape.keys, kFewestRows);
    const std::int64_t shared = std::max((shape.queries + blocks - 1) / blocks, kFewestRows);
    const std::int64_t rows = std::min({fitting, shared, shape.queries});
    const std::int64_t least = (shape.queries + rows - 1) / rows; // blocks, as even as can be
    return (shape.queries + least - 1) / least;
}

} // namespace

Result<std::unique_ptr<kernels::Kernel>> rowAttentionKernel(const AttentionRows &rows, int threads)
{
    const std::int64_t atOnce = rowsAtOnce(rows, threads);
    const ThreadScope scope(1); // each primitive runs on the thread of its block
    std::vector<Steps> steps;
    HALFTONE_TRY(Steps whole, stepsFor(rows, atOnce));
    steps.push_back(std::move(whole));
    if (const std::int64_t rest = rows.queries % atOnce; rest != 0) {
        HALFTONE_TRY(Steps last, stepsFor(rows, rest));
        steps.push_back(std::move(last));
    }
    return std::unique_ptr<kernels::Kernel>(
        std::make_unique<RowAttentionKernel>(rows, std::move(steps), threads));
}

} // namespace halftone::backends::onednn

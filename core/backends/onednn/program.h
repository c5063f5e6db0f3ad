#pragma once

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/scratch.h"
#include "core/kernels/latency_plan.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {

/// Memory of a program: a piece of the arena, a part of such a piece, or a constant.
using BufferId = std::uint32_t;

/// A tensor in memory.
struct Place
{
    Desc desc;
    BufferId buffer = 0;
};

/// Where intermediate values lie.
enum class Arena : std::uint8_t
{
    Own, ///< in memory of the program's own
    Lent, ///< in a ScratchLease that is taken for each run; for programs that keep nothing between runs
};

/// A sequence of primitives and kernels over one arena. First steps and buffers are added, then finish() gives every
/// buffer its address (two share one when their lives don't overlap), then it runs as often as wanted.
class Program
{
public:
    BufferId addBuffer(std::size_t bytes);
    /// `bytes` at `offset` of another buffer.
    BufferId addPart(BufferId whole, std::size_t offset, std::size_t bytes);
    BufferId addConstant(std::shared_ptr<const void> owner, const void *data, std::size_t bytes);
    /// Shares its memory with nobody, so that it keeps its values between runs.
    void keep(BufferId buffer);
    /// Gets no place in the arena: place() says before each run where it lies.
    void makeOutside(BufferId buffer);
    bool isOutside(BufferId buffer) const { return m_buffers[m_buffers[buffer].whole].isOutside; }
    /// Needs: an outside buffer of a finished program; memory of its size, aligned as kernels want it.
    void place(BufferId buffer, std::byte *at);
    BufferId wholeOf(BufferId buffer) const { return m_buffers[buffer].whole; }
    bool isConstant(BufferId buffer) const { return m_buffers[buffer].constant != nullptr; }

    using Arguments = std::vector<std::pair<int, Place>>;
    /// `scratchpad`: of the primitive's descriptor; the arguments are in the order reads, writes for the lifetimes' sake
    /// no matter: all of them live during the step.
    void add(kernels::PlanStep step, const dnnl::primitive &primitive, Arguments arguments,
             const Desc &scratchpad);
    void add(kernels::PlanStep step, std::unique_ptr<kernels::Kernel> kernel, std::vector<BufferId> inputs,
             std::vector<BufferId> outputs);

    Result<void> finish(Arena arena = Arena::Own);

    const std::vector<kernels::PlanStep> &steps() const { return m_info; }
    std::byte *address(BufferId buffer) const;
    std::size_t bytes(BufferId buffer) const { return m_buffers[buffer].bytes; }
    std::size_t arenaBytes() const { return m_arenaBytes; }
    std::size_t constantBytes() const { return m_constantBytes; }

    Result<void> run(const Progress &progress);
    /// Kernels that take long look at it while they run. Asked once for one token.
    void setStop(const std::stop_token &stop);
    Result<void> runStep(std::size_t k);

private:
    struct Buffer
    {
        std::size_t bytes = 0;
        BufferId whole = 0; ///< itself when it is no part
        std::size_t offset = 0; ///< in `whole`, then in the arena
        const void *constant = nullptr;
        std::shared_ptr<const void> owner;
        std::size_t firstStep = kNever; ///< of a whole one: when its life begins and ends
        std::size_t lastStep = 0;
        bool isKept = false;
        bool isOutside = false;
        std::byte *outside = nullptr;
        std::vector<std::size_t> users; ///< steps that touch it or a part of it; of an outside one
    };

    struct Step
    {
        dnnl::primitive primitive;
        Arguments arguments;
        std::size_t scratchBytes = 0;
        Desc scratchpad;
        std::vector<dnnl::memory> memories;
        std::vector<dnnl_exec_arg_t> prepared;
        std::unique_ptr<kernels::Kernel> kernel;
        std::vector<BufferId> inputs;
        std::vector<BufferId> outputs;
        std::vector<const std::byte *> readsFrom;
        std::vector<std::byte *> writesTo;
    };

    static constexpr std::size_t kNever = ~std::size_t{0};

    void touch(BufferId buffer, std::size_t step);
    void assignOffsets();
    Result<void> prepare(Step &step);
    void movePlaces(Step &step, BufferId whole);
    void moveArena(std::byte *at);
    Error noArena() const;

    std::vector<Buffer> m_buffers;
    std::vector<kernels::PlanStep> m_info;
    std::vector<Step> m_steps;
    std::size_t m_arenaBytes = 0;
    std::size_t m_constantBytes = 0;
    std::size_t m_scratchOffset = 0;
    std::shared_ptr<std::byte> m_arena; ///< null when it is lent
    std::byte *m_arenaAt = nullptr;
    dnnl::stream m_stream;
    std::stop_token m_stop; ///< that the kernels have
};

} // namespace halftone::backends::onednn

#include "core/backends/onednn/program.h"

#include "core/base/memory.h"

#include <algorithm>
#include <optional>

namespace halftone::backends::onednn {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t roundedUp(std::size_t bytes, std::size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

} // namespace

BufferId Program::addBuffer(std::size_t bytes)
{
    const auto id = static_cast<BufferId>(m_buffers.size());
    Buffer buffer;
    buffer.bytes = bytes;
    buffer.whole = id;
    m_buffers.push_back(std::move(buffer));
    return id;
}

BufferId Program::addPart(BufferId whole, std::size_t offset, std::size_t bytes)
{
    const BufferId id = addBuffer(bytes);
    m_buffers[id].whole = m_buffers[whole].whole;
    m_buffers[id].offset = m_buffers[whole].offset + offset;
    return id;
}

BufferId Program::addConstant(std::shared_ptr<const void> owner, const void *data, std::size_t bytes)
{
    const BufferId id = addBuffer(bytes);
    m_buffers[id].owner = std::move(owner);
    m_buffers[id].constant = data;
    m_constantBytes += bytes;
    return id;
}

void Program::keep(BufferId buffer)
{
    m_buffers[m_buffers[buffer].whole].isKept = true;
}

void Program::makeOutside(BufferId buffer)
{
    m_buffers[m_buffers[buffer].whole].isOutside = true;
}

void Program::touch(BufferId buffer, std::size_t step)
{
    Buffer &whole = m_buffers[m_buffers[buffer].whole];
    whole.firstStep = std::min(whole.firstStep, step);
    whole.lastStep = std::max(whole.lastStep, step);
}

void Program::add(kernels::PlanStep step, const dnnl::primitive &primitive, Arguments arguments,
                  const Desc &scratchpad)
{
    Step added;
    added.primitive = primitive;
    added.scratchpad = scratchpad;
    added.scratchBytes = scratchpad.get_size();
    for (const auto &[argument, place] : arguments)
        touch(place.buffer, m_steps.size());
    added.arguments = std::move(arguments);
    m_steps.push_back(std::move(added));
    m_info.push_back(std::move(step));
}

void Program::add(kernels::PlanStep step, std::unique_ptr<kernels::Kernel> kernel,
                  std::vector<BufferId> inputs, std::vector<BufferId> outputs)
{
    Step added;
    added.kernel = std::move(kernel);
    for (const BufferId buffer : inputs)
        touch(buffer, m_steps.size());
    for (const BufferId buffer : outputs)
        touch(buffer, m_steps.size());
    added.inputs = std::move(inputs);
    added.outputs = std::move(outputs);
    m_steps.push_back(std::move(added));
    m_info.push_back(std::move(step));
}

/// Greedy by size, as in Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", section 5.3:
/// the largest buffer first, each at the lowest offset where no buffer of an overlapping life lies.
void Program::assignOffsets()
{
    std::vector<BufferId> order;
    for (BufferId id = 0; id < m_buffers.size(); ++id) {
        Buffer &buffer = m_buffers[id];
        if (buffer.whole != id || buffer.constant != nullptr || buffer.isOutside)
            continue;
        if (buffer.isKept) {
            buffer.firstStep = 0;
            buffer.lastStep = kNever;
        }
        if (buffer.firstStep != kNever)
            order.push_back(id);
    }
    std::ranges::stable_sort(
        order, [this](BufferId a, BufferId b) { return m_buffers[a].bytes > m_buffers[b].bytes; });
    std::vector<BufferId> placed; // by offset
    for (const BufferId id : order) {
        Buffer &buffer = m_buffers[id];
        std::size_t offset = 0;
        for (const BufferId other : placed) {
            const Buffer &there = m_buffers[other];
            if (there.lastStep < buffer.firstStep || buffer.lastStep < there.firstStep)
                continue;
            if (offset + buffer.bytes <= there.offset)
                break;
            offset = std::max(offset, roundedUp(there.offset + there.bytes, kAlignment));
        }
        buffer.offset = offset;
        m_arenaBytes = std::max(m_arenaBytes, offset + roundedUp(buffer.bytes, kAlignment));
        placed.insert(std::ranges::upper_bound(placed, offset, {},
                                               [this](BufferId other) { return m_buffers[other].offset; }),
                      id);
    }
}

std::byte *Program::address(BufferId buffer) const
{
    const Buffer &part = m_buffers[buffer];
    if (part.constant != nullptr) // oneDNN's handles are not const; it does not write what it reads
        return static_cast<std::byte *>(const_cast<void *>(part.constant));
    const Buffer &whole = m_buffers[part.whole];
    if (whole.isOutside)
        return whole.outside + (part.whole == buffer ? 0 : part.offset);
    return m_arenaAt + whole.offset + (part.whole == buffer ? 0 : part.offset);
}

Result<void> Program::prepare(Step &step)
{
    if (step.kernel) {
        for (const BufferId buffer : step.inputs)
            step.readsFrom.push_back(address(buffer));
        for (const BufferId buffer : step.outputs)
            step.writesTo.push_back(address(buffer));
        return {};
    }
    step.memories.reserve(step.arguments.size() + 1);
    const auto bind = [&step](int argument, const Desc &desc, std::byte *at) {
        step.memories.emplace_back(desc, cpu(), at);
        step.prepared.push_back({argument, step.memories.back().get()});
    };
    const auto bound = attempt("plan", [&] {
        for (const auto &[argument, place] : step.arguments)
            bind(argument, place.desc, address(place.buffer));
        if (step.scratchBytes > 0)
            bind(DNNL_ARG_SCRATCHPAD, step.scratchpad, m_arenaAt + m_scratchOffset);
        return true;
    });
    return bound.ok() ? Result<void>() : bound.error();
}

Error Program::noArena() const
{
    return outOfMemory(m_arenaBytes, "intermediate values");
}

Result<void> Program::finish(Arena arena)
{
    assignOffsets();
    m_scratchOffset = m_arenaBytes = roundedUp(m_arenaBytes, 4096);
    std::size_t scratch = 0;
    for (const Step &step : m_steps)
        scratch = std::max(scratch, step.scratchBytes);
    m_arenaBytes += scratch;
    std::optional<ScratchLease> lease;
    if (arena == Arena::Lent)
        lease.emplace(m_arenaBytes); // so that a lack of memory is told before a run
    else
        m_arena = allocatePages(m_arenaBytes);
    m_arenaAt = lease ? lease->data() : m_arena.get();
    if (m_arenaAt == nullptr)
        return noArena();
    for (std::size_t k = 0; k < m_steps.size(); ++k) {
        HALFTONE_CHECK(prepare(m_steps[k]));
        const auto use = [this, k](BufferId buffer) {
            Buffer &whole = m_buffers[m_buffers[buffer].whole];
            if (whole.isOutside && (whole.users.empty() || whole.users.back() != k))
                whole.users.push_back(k);
        };
        std::ranges::for_each(m_steps[k].arguments, use, [](const auto &item) { return item.second.buffer; });
        std::ranges::for_each(m_steps[k].inputs, use);
        std::ranges::for_each(m_steps[k].outputs, use);
    }
    HALFTONE_TRY(m_stream, attempt("plan", [] { return dnnl::stream(cpu()); }));
    return {};
}

void Program::movePlaces(Step &step, BufferId whole)
{
    for (std::size_t k = 0; k < step.arguments.size(); ++k) {
        const BufferId buffer = step.arguments[k].second.buffer;
        if (wholeOf(buffer) == whole)
            dnnl_memory_set_data_handle(step.memories[k].get(), address(buffer));
    }
    for (std::size_t k = 0; k < step.inputs.size(); ++k)
        if (wholeOf(step.inputs[k]) == whole)
            step.readsFrom[k] = address(step.inputs[k]);
    for (std::size_t k = 0; k < step.outputs.size(); ++k)
        if (wholeOf(step.outputs[k]) == whole)
            step.writesTo[k] = address(step.outputs[k]);
}

void Program::moveArena(std::byte *at)
{
    if (m_arenaAt == at)
        return;
    m_arenaAt = at;
    for (Step &step : m_steps) {
        for (std::size_t k = 0; k < step.arguments.size(); ++k)
            dnnl_memory_set_data_handle(step.memories[k].get(), address(step.arguments[k].second.buffer));
        if (step.scratchBytes > 0)
            dnnl_memory_set_data_handle(step.memories.back().get(), m_arenaAt + m_scratchOffset);
        for (std::size_t k = 0; k < step.inputs.size(); ++k)
            step.readsFrom[k] = address(step.inputs[k]);
        for (std::size_t k = 0; k < step.outputs.size(); ++k)
            step.writesTo[k] = address(step.outputs[k]);
    }
}

void Program::place(BufferId buffer, std::byte *at)
{
    Buffer &whole = m_buffers[m_buffers[buffer].whole];
    if (whole.outside == at)
        return;
    whole.outside = at;
    for (const std::size_t step : whole.users)
        movePlaces(m_steps[step], whole.whole);
}

Result<void> Program::runStep(std::size_t k)
{
    Step &step = m_steps[k];
    if (step.kernel)
        return step.kernel->run(step.readsFrom, step.writesTo);
    // The C call: the C++ one makes a vector of its arguments each time.
    const dnnl_status_t status = dnnl_primitive_execute(
        step.primitive.get(), m_stream.get(), static_cast<int>(step.prepared.size()), step.prepared.data());
    if (status == dnnl_out_of_memory)
        return refusalOf(dnnl::error(status, "no memory to execute a primitive"), {});
    if (status != dnnl_success)
        return unsupported(m_info[k].nodes.empty() ? m_info[k].op : m_info[k].nodes.front(),
                           "oneDNN refuses to execute " + m_info[k].kernel);
    return {};
}

void Program::setStop(const std::stop_token &stop)
{
    if (stop == m_stop)
        return;
    m_stop = stop;
    for (Step &step : m_steps)
        if (step.kernel)
            step.kernel->setStop(stop);
}

Result<void> Program::run(const Progress &progress)
{
    setStop(progress.stop);
    std::optional<ScratchLease> lease;
    if (m_arena == nullptr) {
        lease.emplace(m_arenaBytes);
        if (lease->data() == nullptr)
            return noArena();
        moveArena(lease->data());
    }
    for (std::size_t k = 0; k < m_steps.size(); ++k) {
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_CHECK(runStep(k));
    }
    return {};
}

} // namespace halftone::backends::onednn

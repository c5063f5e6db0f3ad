#include "core/backends/cuda/program.h"

#include "core/backends/cuda/arena.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace halftone::backends::cuda {

BufferId Program::addBuffer(std::size_t bytes)
{
    m_buffers.push_back({bytes, {}, {}});
    return static_cast<BufferId>(m_buffers.size() - 1);
}

BufferId Program::addConstant(std::span<const std::byte> values, std::shared_ptr<const void> owner)
{
    m_buffers.push_back({values.size(), values, std::move(owner)});
    m_constantBytes += alignedUp(values.size());
    return static_cast<BufferId>(m_buffers.size() - 1);
}

Program::Step &Program::add(kernels::PlanStep step, Kind kind, std::vector<BufferId> arguments)
{
    for (const BufferId id : arguments) {
        m_buffers[id].firstStep = std::min(m_buffers[id].firstStep, m_steps.size());
        m_buffers[id].lastStep = m_steps.size();
    }
    m_info.push_back(std::move(step));
    m_steps.emplace_back();
    m_steps.back().kind = kind;
    m_steps.back().arguments = std::move(arguments);
    return m_steps.back();
}

void Program::addKernel(kernels::PlanStep step, KernelText kernel, std::vector<BufferId> arguments)
{
    step.kernel = "own nvrtc " + kernel.label;
    if (step.bytes == 0)
        for (const BufferId id : arguments)
            step.bytes += static_cast<double>(m_buffers[id].bytes);
    add(std::move(step), Kind::Kernel, std::move(arguments)).kernel = std::move(kernel);
}

void Program::addProduct(kernels::PlanStep step, std::unique_ptr<Product> product,
                         std::vector<BufferId> arguments)
{
    step.kernel = product->name();
    add(std::move(step), Kind::Product, std::move(arguments)).product = std::move(product);
}

void Program::addCheck(kernels::PlanStep step, KernelText kernel, BufferId indices, std::string where,
                       std::int64_t extent)
{
    if (m_checks.empty())
        m_found = addBuffer(0);
    m_checks.push_back({std::move(where), extent});
    m_buffers[m_found].bytes += 2 * sizeof(std::int64_t);
    addKernel(std::move(step), std::move(kernel), {indices, m_found});
}

Result<void> Program::checkIndices() const
{
    if (m_checks.empty())
        return {};
    std::vector<std::int64_t> found(2 * m_checks.size());
    std::memcpy(found.data(), m_ports[m_foundPort].host.get(), found.size() * sizeof found[0]);
    for (std::size_t k = 0; k < m_checks.size(); ++k)
        if (found[2 * k] >= 0)
            return badInput(m_checks[k].where, "index " + std::to_string(found[2 * k + 1]),
                            "an index from " + std::to_string(-m_checks[k].extent) + " to "
                                + std::to_string(m_checks[k].extent - 1));
    return {};
}

std::size_t Program::addPort(BufferId buffer)
{
    m_ports.push_back({m_buffers[buffer].bytes, {}});
    return m_ports.size() - 1;
}

std::size_t Program::addCopy(Kind kind, std::string name, BufferId buffer)
{
    const std::size_t port = addPort(buffer);
    kernels::PlanStep step{{std::move(name)},
                           "copy",
                           {},
                           kind == Kind::ToDevice ? "copy to the device" : "copy to the host",
                           kernels::StepKind::Reorder};
    add(std::move(step), kind, {buffer}).port = port;
    return port;
}

void Program::addInput(std::string name, BufferId buffer)
{
    m_inputs.push_back(addCopy(Kind::ToDevice, std::move(name), buffer));
}

void Program::addOutput(std::string name, BufferId buffer)
{
    m_outputs.push_back(addCopy(Kind::ToHost, std::move(name), buffer));
}

void Program::addHostKernel(const kernels::PlanStep &step, std::unique_ptr<kernels::Kernel> kernel,
                            std::span<const BufferId> inputs, std::span<const BufferId> outputs)
{
    const std::string name = step.nodes.empty() ? step.op : step.nodes.front();
    std::vector<std::size_t> from;
    from.reserve(inputs.size());
    for (const BufferId id : inputs)
        from.push_back(addCopy(Kind::ToHost, name, id));
    std::vector<std::size_t> to;
    to.reserve(outputs.size());
    for (const BufferId id : outputs)
        to.push_back(addPort(id));
    kernels::PlanStep info = step;
    info.kernel = "on the cpu: " + kernel->name();
    Step &host = add(std::move(info), Kind::Host, {});
    host.hostKernel = std::move(kernel);
    host.hostInputs = std::move(from);
    host.hostOutputs = to;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        kernels::PlanStep copy{{name}, "copy", {}, "copy to the device", kernels::StepKind::Reorder};
        add(std::move(copy), Kind::ToDevice, {outputs[k]}).port = to[k];
    }
}

Result<void> Program::uploadConstants(std::byte *at)
{
    for (Buffer &buffer : m_buffers) {
        if (buffer.owner == nullptr)
            continue;
        buffer.address = at;
        if (!buffer.constant.empty())
            HALFTONE_CHECK(m_gpu->upload(at, buffer.constant.data(), buffer.constant.size()));
        at += alignedUp(buffer.bytes);
    }
    HALFTONE_CHECK(m_gpu->synchronize());
    for (Buffer &buffer : m_buffers)
        buffer.constant = {};
    return {};
}

Result<void> Program::placeBuffers()
{
    std::vector<Lifetime> lifetimes;
    std::vector<BufferId> ids;
    for (BufferId id = 0; id < m_buffers.size(); ++id) {
        const Buffer &buffer = m_buffers[id];
        if (buffer.owner != nullptr || buffer.firstStep == ~std::size_t{0})
            continue;
        lifetimes.push_back({buffer.bytes, buffer.firstStep, buffer.lastStep});
        ids.push_back(id);
    }
    const Arena arena = arrange(lifetimes);
    m_arenaBytes = arena.bytes;
    HALFTONE_TRY(m_arena, m_gpu->allocate(std::max(m_arenaBytes, kDeviceAlignment), "the values of a plan"));
    HALFTONE_TRY(m_constants,
                 m_gpu->allocate(std::max(m_constantBytes, kDeviceAlignment), "the parameters of a plan"));
    for (std::size_t k = 0; k < ids.size(); ++k)
        m_buffers[ids[k]].address = m_arena.get() + arena.offsets[k];
    return uploadConstants(m_constants.get());
}

Result<void> Program::compile()
{
    std::vector<KernelText> kernels;
    std::unordered_set<std::string> known;
    std::size_t workspace = 0;
    for (const Step &step : m_steps) {
        if (step.kind == Kind::Kernel && known.insert(step.kernel.name).second)
            kernels.push_back(step.kernel);
        if (step.product)
            workspace = std::max(workspace, step.product->workspaceBytes());
    }
    if (workspace > 0) {
        HALFTONE_TRY(m_workspace, m_gpu->allocate(workspace, "the workspace of a library"));
    }
    if (!kernels.empty()) {
        HALFTONE_TRY(m_module, m_gpu->compile(kernels));
    }
    return {};
}

Result<void> Program::finish()
{
    const std::scoped_lock lock(m_gpu->turn());
    if (!m_checks.empty())
        m_foundPort = addCopy(Kind::ToHost, "what checks found", m_found);
    HALFTONE_CHECK(placeBuffers());
    for (Port &port : m_ports) {
        HALFTONE_TRY(port.host,
                     m_gpu->allocateHost(std::max<std::size_t>(port.bytes, 1), "a copy of values"));
        std::fill_n(port.host.get(), port.bytes, std::byte{0});
    }
    for (Step &step : m_steps)
        for (const BufferId id : step.arguments)
            step.addresses.push_back(m_buffers[id].address);
    HALFTONE_CHECK(compile());
    HALFTONE_TRY(m_timer, m_gpu->makeTimer(std::max<std::size_t>(m_steps.size(), 1) + 1));
    return record();
}

/// One launch of a graph costs what a single kernel's does.
Result<void> Program::record()
{
    if (std::ranges::any_of(m_steps, [](const Step &step) { return step.kind == Kind::Host; }))
        return {};
    if (m_gpu->runsBeforeRecording()) {
        for (Step &step : m_steps)
            HALFTONE_CHECK(runStep(step));
        HALFTONE_CHECK(m_gpu->synchronize());
    }
    std::vector<Step *> all;
    for (Step &step : m_steps)
        all.push_back(&step);
    HALFTONE_TRY(m_recording, recorded(*m_gpu, [&] { return runSteps(all); }));
    return {};
}

Result<void> Program::runSteps(std::span<Step *const> steps)
{
    for (Step *const step : steps)
        HALFTONE_CHECK(runStep(*step));
    return {};
}

std::vector<Program::Step *> Program::stepsOf(std::initializer_list<Kind> kinds)
{
    std::vector<Step *> steps;
    for (Step &step : m_steps)
        if (std::ranges::find(kinds, step.kind) != kinds.end())
            steps.push_back(&step);
    return steps;
}

kernels::Launches Program::launches() const
{
    const auto planned = static_cast<std::size_t>(std::ranges::count_if(
        m_steps, [](const Step &step) { return step.kind == Kind::Kernel || step.kind == Kind::Product; }));
    return {planned, m_recording ? m_recording->kernelCount() : std::nullopt};
}

Result<void> Program::runHost(Step &step)
{
    HALFTONE_CHECK(m_gpu->synchronize());
    std::vector<const std::byte *> inputs;
    for (const std::size_t port : step.hostInputs)
        inputs.push_back(m_ports[port].host.get());
    std::vector<std::byte *> outputs;
    for (const std::size_t port : step.hostOutputs)
        outputs.push_back(m_ports[port].host.get());
    return step.hostKernel->run(inputs, outputs);
}

Result<void> Program::runStep(Step &step)
{
    switch (step.kind) {
    case Kind::Kernel:
        return m_gpu->launch(*m_module, {&step.kernel, step.addresses});
    case Kind::Product:
        return step.product->enqueue(step.addresses, m_workspace.get());
    case Kind::Host:
        return runHost(step);
    case Kind::ToDevice:
        return m_gpu->upload(step.addresses[0], m_ports[step.port].host.get(), m_ports[step.port].bytes);
    case Kind::ToHost:
        return m_gpu->download(m_ports[step.port].host.get(), step.addresses[0], m_ports[step.port].bytes);
    }
    return {};
}

Result<void> Program::run(const Progress &progress)
{
    const std::scoped_lock lock(m_gpu->turn());
    if (m_recording) {
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_CHECK(m_gpu->replay(*m_recording));
        HALFTONE_CHECK(m_gpu->synchronize());
        return checkIndices();
    }
    for (Step &step : m_steps) {
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_CHECK(runStep(step));
    }
    HALFTONE_CHECK(m_gpu->synchronize());
    return checkIndices();
}

Result<void> Program::runMarked(bool isRecorded)
{
    const auto mark = [&](std::size_t k) { return isRecorded ? m_timer->markRecorded(k) : m_timer->mark(k); };
    HALFTONE_CHECK(mark(0));
    for (std::size_t k = 0; k < m_steps.size(); ++k) {
        HALFTONE_CHECK(runStep(m_steps[k]));
        HALFTONE_CHECK(mark(k + 1));
    }
    return {};
}

/// Steps that are launched one by one wait for the host, which takes longer than a small kernel does; within a graph they follow each
/// other as in a run. returns  whether there is such a graph
bool Program::recordTimes()
{
    if (!m_recording || !m_recordsTimes)
        return false;
    if (!m_timed) {
        auto timed = recorded(*m_gpu, [this] { return runMarked(true); });
        m_recordsTimes = timed.ok();
        if (timed.ok())
            m_timed = std::move(timed).value();
    }
    return m_recordsTimes;
}

Result<void> Program::readTimes(std::span<double> microseconds)
{
    for (std::size_t k = 0; k < std::min(m_steps.size(), microseconds.size()); ++k) {
        HALFTONE_TRY(microseconds[k], m_timer->microseconds(k));
    }
    return {};
}

Result<void> Program::runTimed(std::span<double> microseconds)
{
    const std::scoped_lock lock(m_gpu->turn());
    if (recordTimes()) {
        HALFTONE_CHECK(m_gpu->replay(*m_timed));
        HALFTONE_CHECK(m_gpu->synchronize());
        HALFTONE_CHECK(checkIndices());
        if (readTimes(microseconds).ok())
            return {};
        m_recordsTimes = false; // a driver that records events, but does not tell between them
        m_timed.reset();
    }
    HALFTONE_CHECK(runMarked(false));
    HALFTONE_CHECK(m_gpu->synchronize());
    HALFTONE_CHECK(checkIndices());
    return readTimes(microseconds);
}

Result<std::optional<double>> Program::runOnDevice()
{
    const std::scoped_lock lock(m_gpu->turn());
    if (!m_recording)
        return std::optional<double>();
    if (!m_kernels) {
        const std::vector<Step *> kernels = stepsOf({Kind::Kernel, Kind::Product});
        HALFTONE_TRY(m_kernels, recorded(*m_gpu, [&] { return runSteps(kernels); }));
    }
    // Values of the last run may lie where inputs do.
    for (Step *step : stepsOf({Kind::ToDevice}))
        HALFTONE_CHECK(runStep(*step));
    HALFTONE_CHECK(m_timer->mark(0));
    HALFTONE_CHECK(m_gpu->replay(*m_kernels));
    HALFTONE_CHECK(m_timer->mark(1));
    HALFTONE_CHECK(m_gpu->synchronize());
    HALFTONE_TRY(const double microseconds, m_timer->microseconds(0));
    return std::optional(microseconds / 1e3);
}

} // namespace halftone::backends::cuda

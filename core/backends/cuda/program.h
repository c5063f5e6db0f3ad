#pragma once

#include "core/backends/cuda/gpu.h"
#include "core/base/progress.h"
#include "core/kernels/latency_plan.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halftone::backends::cuda {

/// A piece of the device's memory.
using BufferId = std::uint32_t;

/// Steps on one device over one arena: first buffers and steps are added, then finish() compiles the kernels, gives every buffer
/// its address, and records the steps where all of them are the device's; then it runs as often as wanted.
class Program
{
public:
    explicit Program(std::shared_ptr<Gpu> gpu)
        : m_gpu(std::move(gpu))
    {
    }

    BufferId addBuffer(std::size_t bytes);
    /// `values` are copied to the device by finish() and kept alive until then by `owner`.
    BufferId addConstant(std::span<const std::byte> values, std::shared_ptr<const void> owner);

    void addKernel(kernels::PlanStep step, KernelText kernel, std::vector<BufferId> arguments);
    /// reads  how many of the arguments are read; the last one is written
    void addProduct(kernels::PlanStep step, std::unique_ptr<Product> product,
                    std::vector<BufferId> arguments);
    /// A kernel that looks for indices beside an extent. What it finds makes a run fail: BadInput, with the index, as other backends
    /// say it. kernel  indexCheck() for nextCheck()
    void addCheck(kernels::PlanStep step, KernelText kernel, BufferId indices, std::string where,
                  std::int64_t extent);
    std::int64_t nextCheck() const { return static_cast<std::int64_t>(m_checks.size()); }
    /// A kernel of this machine's: what it reads is copied here before it, what it writes is copied there behind it, each with a
    /// row of its own.
    void addHostKernel(const kernels::PlanStep &step, std::unique_ptr<kernels::Kernel> kernel,
                       std::span<const BufferId> inputs, std::span<const BufferId> outputs);
    /// Copies between host memory of the program's and the buffer.
    void addInput(std::string name, BufferId buffer);
    void addOutput(std::string name, BufferId buffer);

    Result<void> finish();

    const std::vector<kernels::PlanStep> &steps() const { return m_info; }
    /// Of the kth addInput() and addOutput().
    std::span<std::byte> inputMemory(std::size_t k) const { return hostMemory(m_inputs[k]); }
    std::span<std::byte> outputMemory(std::size_t k) const { return hostMemory(m_outputs[k]); }
    std::size_t arenaBytes() const { return m_arenaBytes; }
    std::size_t constantBytes() const { return m_constantBytes; }
    /// Kernels that a run launches, those of libraries counted as one each; and as the recording has them.
    kernels::Launches launches() const;
    bool isRecorded() const { return m_recording != nullptr; }
    Gpu &gpu() { return *m_gpu; }

    Result<void> run(const Progress &progress);
    Result<void> runTimed(std::span<double> microseconds);
    /// Milliseconds of the kernels as one graph, copies to and from the device left out. Nothing where the machine computes a step.
    Result<std::optional<double>> runOnDevice();

private:
    enum class Kind : std::uint8_t
    {
        Kernel,
        Product,
        Host,
        ToDevice,
        ToHost
    };
    struct Step
    {
        Kind kind = Kind::Kernel;
        KernelText kernel;
        std::unique_ptr<Product> product;
        std::unique_ptr<kernels::Kernel> hostKernel;
        std::size_t port = 0; ///< ToDevice, ToHost
        std::vector<std::size_t> hostInputs; ///< Host: ports
        std::vector<std::size_t> hostOutputs;
        std::vector<BufferId> arguments;
        std::vector<std::byte *> addresses;
    };
    struct Buffer
    {
        std::size_t bytes = 0;
        std::span<const std::byte> constant;
        std::shared_ptr<const void> owner;
        std::size_t firstStep = ~std::size_t{0};
        std::size_t lastStep = 0;
        std::byte *address = nullptr;
    };
    struct Port
    {
        std::size_t bytes = 0;
        DeviceMemory host;
    };

    /// What indices are to be within.
    struct Check
    {
        std::string where;
        std::int64_t extent = 0;
    };

    std::span<std::byte> hostMemory(std::size_t port) const
    {
        return {m_ports[port].host.get(), m_ports[port].bytes};
    }
    Step &add(kernels::PlanStep step, Kind kind, std::vector<BufferId> arguments);
    std::size_t addPort(BufferId buffer);
    std::size_t addCopy(Kind kind, std::string name, BufferId buffer);
    Result<void> placeBuffers();
    Result<void> uploadConstants(std::byte *at);
    Result<void> compile();
    Result<void> record();
    Result<void> runSteps(std::span<Step *const> steps);
    bool recordTimes();
    Result<void> runMarked(bool isRecorded);
    Result<void> readTimes(std::span<double> microseconds);
    std::vector<Step *> stepsOf(std::initializer_list<Kind> kinds);
    Result<void> runStep(Step &step);
    Result<void> runHost(Step &step);
    Result<void> checkIndices() const; ///< of the run behind

    std::shared_ptr<Gpu> m_gpu;
    std::vector<Buffer> m_buffers;
    std::vector<Port> m_ports;
    std::vector<std::size_t> m_inputs; ///< ports
    std::vector<std::size_t> m_outputs;
    std::vector<Step> m_steps;
    std::vector<kernels::PlanStep> m_info;
    std::vector<Check> m_checks;
    BufferId m_found = 0; ///< by check: where the first bad index stands, or -1, and what it is
    std::size_t m_foundPort = 0;
    std::size_t m_arenaBytes = 0;
    std::size_t m_constantBytes = 0;
    DeviceMemory m_arena;
    DeviceMemory m_constants;
    DeviceMemory m_workspace;
    std::shared_ptr<Module> m_module;
    std::unique_ptr<Recording> m_recording;
    std::unique_ptr<Recording> m_kernels; ///< the same without copies; null before it is asked for
    std::unique_ptr<Recording> m_timed; ///< the same with marks between the steps; likewise
    bool m_recordsTimes = true; ///< the driver does, as far as is known
    std::unique_ptr<Timer> m_timer;
};

} // namespace halftone::backends::cuda

#pragma once

#include "core/backends/cuda/attention.h"
#include "core/backends/cuda/kernel_text.h"
#include "core/backends/cuda/product.h"
#include "core/base/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::backends::cuda {

/// What the device is, for lists and reports.
struct GpuInfo
{
    std::string name;
    int arch = 0; ///< 90 of sm_90
    int multiprocessors = 0;
    int clockMhz = 0;
    int memoryMhz = 0;
    std::size_t memoryBytes = 0;
    int memoryBits = 0; ///< width of the bus to the memory; 0: the driver does not say

    /// Of the memory, GB a second: two words a clock, as all memory of GPUs since GDDR3 has it. Nothing where the driver does not
    /// say enough.
    std::optional<double> bandwidth() const;

    /// "NVIDIA H100 80GB HBM3 (sm_90), 132 multiprocessors at 1980 MHz, memory 79 GiB at 2619 MHz, 3352 GB/s"
    std::string toString() const;
};

/// Memory of the device; freed with the last owner.
using DeviceMemory = std::shared_ptr<std::byte>;

/// Kernels that were compiled together.
class Module
{
public:
    virtual ~Module() = default;
};

struct LaunchOf
{
    const KernelText *kernel = nullptr; ///< one of the module's
    std::span<std::byte *const> arguments; ///< device addresses
};

/// Work that was recorded once and is given to the device in one call.
class Recording
{
public:
    virtual ~Recording() = default;
    /// Kernels that it launches, those within libraries' calls too; nothing where the device does not say.
    virtual std::optional<std::size_t> kernelCount() const { return std::nullopt; }
};

/// Moments in the stream.
class Timer
{
public:
    virtual ~Timer() = default;
    virtual Result<void> mark(std::size_t k) = 0;
    /// The same as a part of what is being recorded: it happens in every replay. fails: Unsupported where the driver does not do that
    virtual Result<void> markRecorded(std::size_t) { return unsupported("timer", "marks are not recorded"); }
    /// Between marks `k` and `k + 1`. Waits for the second.
    virtual Result<double> microseconds(std::size_t k) = 0;
};

/// A device with one stream, in which all happens in order; whoever calls it holds turn(). Behind it stand the driver
/// (toolkit/driver_gpu.h) and, in tests, the machine that the tests run on.
/// fails, all of it: NoMemory, saying how much was asked for and what for; Unsupported for a device that is lost, busy or refuses
///                   something, with the driver's own words
class Gpu
{
public:
    virtual ~Gpu() = default;

    /// Plans of several threads share the device: one records or runs at a time. Memory and what else is let go need no turn.
    std::recursive_mutex &turn() { return m_turn; }

    virtual const GpuInfo &info() const = 0;
    virtual Result<DeviceMemory> allocate(std::size_t bytes, const std::string &what) = 0;
    /// Memory of the machine that the device copies from and to without a detour.
    virtual Result<DeviceMemory> allocateHost(std::size_t bytes, const std::string &what) = 0;
    virtual Result<void> upload(std::byte *to, const std::byte *from, std::size_t bytes) = 0;
    virtual Result<void> download(std::byte *to, const std::byte *from, std::size_t bytes) = 0;
    virtual Result<void> synchronize() = 0;
    virtual Result<std::shared_ptr<Module>> compile(std::span<const KernelText> kernels) = 0;
    virtual Result<void> launch(Module &module, const LaunchOf &launch) = 0;
    virtual bool hasLibraries() const { return false; } ///< prepare() may work
    /// A product by a library of the device's maker. fails: Unsupported where there is none, or it does not take this one: the
    /// kernels of our own compute it then.
    virtual Result<std::unique_ptr<Product>> prepare(const ProductDesc &)
    {
        return unsupported("product", "no library for products");
    }
    virtual Result<std::unique_ptr<Product>> prepareAttention(const AttentionDesc &)
    {
        return unsupported("attention", "no library for attention");
    }
    /// Are steps to run once before they are recorded? Libraries load their kernels when these are first called, which a recording
    /// does not allow.
    virtual bool runsBeforeRecording() const { return false; }
    /// What is launched from here on is recorded, not done.
    virtual Result<void> beginRecording() = 0;
    virtual Result<std::unique_ptr<Recording>> endRecording() = 0;
    virtual Result<void> replay(Recording &recording) = 0;
    virtual Result<std::unique_ptr<Timer>> makeTimer(std::size_t marks) = 0;

private:
    std::recursive_mutex m_turn;
};

/// What `work` enqueues, as a graph. fails: as `work`, the recording or its end
Result<std::unique_ptr<Recording>> recorded(Gpu &gpu, const std::function<Result<void>()> &work);

} // namespace halftone::backends::cuda

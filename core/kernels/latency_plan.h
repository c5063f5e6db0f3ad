#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/kernels/backend.h"
#include "core/kernels/plan_cache.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::kernels {

/// What a step of a plan is for.
enum class StepKind : std::uint8_t
{
    Compute,
    Cast, ///< only changes the element type (and perhaps the layout)
    Reorder, ///< only changes the layout
};

std::string_view nameOf(StepKind kind); ///< "compute", "cast", "reorder"

/// One step of a plan, for reports.
struct PlanStep
{
    std::vector<std::string> nodes; ///< the source graph's nodes that it computes, all of a fused group
    std::string op; ///< the framework's name of the group's main operator
    tensor::DType dtype = tensor::DType::Unknown; ///< it computes in: of its data input
    std::string kernel; ///< what computes it
    StepKind kind = StepKind::Compute;
    /// Operations and bytes that it cannot do without, where the plan says so; 0: it does not.
    double flops = 0;
    double bytes = 0;
    bool multiplies = false; ///< a convolution or matrix product
};

/// Kernels that a run of a plan launches on its device.
struct Launches
{
    std::size_t planned = 0; ///< a call of a library counted as one
    std::optional<std::size_t> measured; ///< as the device counts them; nothing: it does not
};

/// A tensor that is fed to a plan or comes out of it.
struct PlanPort
{
    std::string name;
    TensorDesc desc;
};

/// How a plan's convolutions want their data.
enum class PlanLayout : std::uint8_t
{
    Measured, ///< whichever is faster on this machine
    Blocked, ///< blocks of 16 channels
    ChannelsLast,
};

/// A network prepared to run as fast as it can: fused, in the layouts that suit its kernels, its weights packed, its
/// buffers assigned. A run allocates nothing. For one thread at a time; copies nothing in or out by itself.
class LatencyPlan
{
public:
    virtual ~LatencyPlan() = default;

    virtual std::span<const PlanStep> steps() const = 0;
    /// The one that it has; Measured: there is no choice.
    virtual PlanLayout layout() const { return PlanLayout::Measured; }
    virtual std::span<const PlanPort> inputs() const = 0;
    virtual std::span<const PlanPort> outputs() const = 0;

    /// Where input `k` is to be written before a run, dense row-major; keeps its values over runs.
    virtual std::span<std::byte> input(std::size_t k) = 0;
    /// Output `k` of the last run, dense row-major.
    virtual std::span<const std::byte> output(std::size_t k) const = 0;

    /// fails: BadInput for values that an operator refuses; Cancelled between two steps.
    virtual Result<void> run(const Progress &progress = {}) = 0;
    /// The same, and how long each step took.
    virtual Result<void> runTimed(std::span<double> microseconds) = 0;

    /// A run of what the device computes alone, by the device's own clock, in milliseconds: inputs and outputs lie on it and
    /// are not copied. Nothing: there is no such device, or it does not compute all. Values that come out are not taken over.
    virtual Result<std::optional<double>> runOnDevice() { return std::optional<double>(); }

    virtual std::optional<Launches> launches() const
    {
        return std::nullopt;
    } ///< of a device that is launched on
    virtual std::size_t arenaBytes() const = 0; ///< for intermediate values, inputs and outputs
    virtual std::size_t constantBytes() const = 0; ///< packed weights, which other plans may share
};

/// Makes kernels of control flow: see PlanOptions.
using BodyKernels = std::function<Result<std::unique_ptr<Kernel>>(graph::NodeId)>;

struct PlanOptions
{
    /// Shared with other plans of the same model, so that an edit costs little; null: none.
    std::shared_ptr<PlanCache> cache = {};
    /// The two layouts sum in different orders: whoever needs the same bits from every process says which.
    PlanLayout layout = PlanLayout::Measured;
    /// Called before layouts are timed: whatever else this process does can end first. Empty: nothing.
    std::function<void()> beforeTiming = {};
    /// Writes a plan's inputs before it is run to be timed. Empty: they are zeros, which not every operator takes.
    std::function<Result<void>(LatencyPlan &)> feed = {};
    /// A kernel of a node that runs bodies (loops, branches), by its place in the model's graph. Empty: nobody computes these.
    BodyKernels bodies = {};
};

} // namespace halftone::kernels

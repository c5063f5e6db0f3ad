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

/// The purpose of a step of a plan.
enum class StepKind : std::uint8_t
{
    Compute,
    Cast, ///< only changes the element type (and perhaps the layout)
    Reorder, ///< only changes the layout
    Runtime, ///< work of the runtime's own that no node of the model asks for
};

std::string_view nameOf(StepKind kind); ///< "compute", "cast", "reorder", "runtime"

/// One step of a plan, for reports.
struct PlanStep
{
    std::vector<std::string> nodes; ///< nodes of the source graph that it computes: a whole fused group
    std::string op; ///< name of the main operator of the group in its format
    tensor::DType dtype = tensor::DType::Unknown; ///< the type it computes in (that of its data input)
    std::string kernel; ///< implementation
    StepKind kind = StepKind::Compute;
    /// The type in the model (that of its data input); Unknown: as `dtype`, or not known, as in steps that no node asks for.
    tensor::DType asked = tensor::DType::Unknown;
    std::size_t casts = 0; ///< of `nodes` that only change a type
    std::string told{}; ///< what a runtime calls the type or implementation, in its own words; empty: nothing
    /// Minimum of operations and bytes, if the plan provides it; 0: unknown.
    double flops = 0;
    double bytes = 0;
    bool multiplies = false; ///< a convolution or matrix product
};

/// The program that runs a plan, if it is not this one.
struct RuntimeFacts
{
    std::string name; ///< "ONNX Runtime"
    std::string version; ///< "1.22.0"
    std::string device; ///< "CPUExecutionProvider"
};

/// Kernels launched on the device by one run of a plan.
struct Launches
{
    std::size_t planned = 0; ///< a library call counts as one
    std::optional<std::size_t> measured; ///< as counted by the device; absent: not counted
};

/// An input or output of a plan.
struct PlanPort
{
    std::string name;
    TensorDesc desc;
};

/// Data layout of the convolutions of a plan.
enum class PlanLayout : std::uint8_t
{
    Measured, ///< whichever is faster on this machine
    Blocked, ///< blocks of 16 channels
    ChannelsLast,
};

/// A model prepared to run as fast as possible: fused, in the best layouts, with packed weights and assigned buffers. A run
/// allocates nothing. For one thread at a time; inputs and outputs are not copied.
class LatencyPlan
{
public:
    virtual ~LatencyPlan() = default;

    virtual std::span<const PlanStep> steps() const = 0;
    /// The layout in use; Measured: there is no choice.
    virtual PlanLayout layout() const { return PlanLayout::Measured; }
    virtual std::span<const PlanPort> inputs() const = 0;
    virtual std::span<const PlanPort> outputs() const = 0;

    /// Buffer of input `k`, dense row-major; keeps its values between runs.
    virtual std::span<std::byte> input(std::size_t k) = 0;
    /// Output `k` of the last run, dense row-major.
    virtual std::span<const std::byte> output(std::size_t k) const = 0;

    /// fails: BadInput for values that an operator rejects; Cancelled between two steps.
    virtual Result<void> run(const Progress &progress = {}) = 0;
    /// Runs it `runs` times. returns  by run, the microseconds of each step
    /// fails: as run()
    virtual Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs,
                                                               const Progress &progress = {})
        = 0;

    /// Milliseconds of the last run() by the clock of the process that ran it. Absent: it ran in this one, and the caller's clock
    /// tells.
    virtual std::optional<double> lastRunMs() const { return std::nullopt; }
    /// Time of a run on the device alone, by the clock of the device, in milliseconds: inputs and outputs stay on it. Absent:
    /// no such device, or it does not compute everything. Output values are not returned.
    virtual Result<std::optional<double>> runOnDevice() { return std::optional<double>(); }

    virtual std::optional<Launches> launches() const
    {
        return std::nullopt;
    } ///< for devices that launch kernels
    /// Absent: unknown.
    virtual std::optional<std::size_t>
    arenaBytes() const = 0; ///< for intermediate tensors, inputs and outputs
    virtual std::optional<std::size_t>
    constantBytes() const = 0; ///< packed weights, which other plans may share
    virtual std::optional<RuntimeFacts> runtime() const
    {
        return std::nullopt;
    } ///< absent: this program runs it
};

/// Makes kernels for control flow: see PlanOptions.
using BodyKernels = std::function<Result<std::unique_ptr<Kernel>>(graph::NodeId)>;

struct PlanOptions
{
    /// Shared with other plans of the same model to make edits cheap; null: none.
    std::shared_ptr<PlanCache> cache = {};
    /// The layouts sum in different orders; fix one to get the same bits in every process.
    PlanLayout layout = PlanLayout::Measured;
    /// Called before layouts are timed, so that other work of this process can finish first. May be empty.
    std::function<void()> beforeTiming = {};
    /// Fills the inputs of a plan before it is timed. Empty: zeros, which some operators reject.
    std::function<Result<void>(LatencyPlan &)> feed = {};
    /// Makes the kernel of a control flow node, by its NodeId in the model. Empty: control flow is not supported.
    BodyKernels bodies = {};
};

} // namespace halftone::kernels

#pragma once

#include "core/infer/infer_shapes.h"
#include "core/infer/type_map.h"
#include "core/io/model_io.h"
#include "core/latency/latency.h"
#include "core/mixed/convert_model.h"
#include "core/policy/op_lists.h"
#include "core/policy/rules.h"
#include "core/walks/calibrate.h"
#include "core/walks/compare.h"
#include "core/walks/int8_ranges.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::session {

class UnitFinder;

/// The model and what one policy makes of it. Immutable and shared: jobs and views keep it while the document goes on.
struct Snapshot
{
    std::uint64_t revision = 0; ///< grows with every edit, undo and redo; never used twice
    std::shared_ptr<const io::LoadedModel> source;
    std::shared_ptr<const infer::ShapeMap> shapes; ///< of the source, as far as they are known
    std::shared_ptr<const infer::TypeMap>
        sourceTypes; ///< session::sourceTypes() with the policy's input types
    std::shared_ptr<UnitFinder> units; ///< of the source (session/unit_move.h); null: none are looked for
    std::shared_ptr<const policy::Policy> policy;
    std::shared_ptr<const policy::Rules> rules; ///< the policy's lists, complete
    const policy::OpLists *builtIn = nullptr; ///< the lists that the policy's own stand in for
    /// The newest conversion that succeeded: of this policy unless `error` says why there is none.
    std::shared_ptr<const mixed::ConvertedModel> converted;
    std::optional<Error> error;
    std::shared_ptr<const walks::CalibrateOutcome>
        calibration; ///< where the ranges of int8 operators come from; null: none
    std::shared_ptr<walks::RangeCache>
        ranges; ///< what was chosen from it so far; null before the first int8 operator

    const graph::Graph &graph() const { return source->model.graph; }
    /// The first conversion of the model is still being computed: there is neither one nor a reason why there is none.
    bool isAwaited() const { return !converted && !error; }
    /// What the policy asks for: its target, or the format that stands in for it where nothing is written.
    tensor::DType target() const;
    /// A type of the conversion as a person asked for it: of a format for analysis the conversion knows float16 only.
    tensor::DType asAsked(tensor::DType converted) const;
    /// What a node of the source computes in, as Conversion::precisionOf(), as it was asked for.
    tensor::DType precisionOf(graph::NodeId node) const;
    /// Of the graph and the bodies of its control flow.
    std::size_t castCount() const;
    /// Operators of bodies, as far as these were converted, by what they compute in, as precisionOf(), and their name.
    std::map<tensor::DType, std::map<std::string, std::size_t>> operatorsInBodies() const;
};

/// What an edit would change, without doing it.
struct EditEffect
{
    std::size_t castsBefore = 0;
    std::size_t castsAfter = 0;
    std::size_t nodesNamed = 0; ///< nodes that the edit speaks of: of those operators or names
    std::size_t nodesChanged = 0; ///< nodes that would compute in another precision
    std::optional<Error> error; ///< why it cannot be done
};

/// The time of one node in a plan; what is fused shares its step's time.
struct NodeLatency
{
    double microseconds = 0; ///< of the whole step
    std::uint32_t step = 0; ///< index into Latency::layers
    std::uint32_t fusedWith = 0; ///< further nodes of the step
    std::optional<double> limitUs{}; ///< as LayerLatency::limitUs
    tensor::DType ranIn
        = tensor::DType::Unknown; ///< where a runtime ran it; Unknown: this program did, as the model asks
    tensor::DType asked = tensor::DType::Unknown; ///< by the model, where it is not what it ran in
};

/// What is known of one node of the source beside its types.
struct NodeFigures
{
    std::optional<tensor::ErrorFigures> cumulative; ///< of output 0
    std::optional<tensor::ErrorFigures> isolated;
    std::optional<NodeLatency> fp32;
    std::optional<NodeLatency> mixed;
    std::optional<tensor::ErrorFigures> betweenBackends; ///< of output 0 of the source, on two backends
};

struct LatencyFigures
{
    latency::Latency fp32;
    latency::Latency mixed;
    latency::Versus versus; ///< mixed against fp32
    bool native = true; ///< false: the target type is emulated here, so that times say nothing
};

/// The source as it is, on two backends: what differs is how they compute, not what is lowered.
struct BackendFigures
{
    std::string backend;
    std::string other; ///< whose results are held against those of `backend`
    walks::CompareOutcome outcome;
};

/// Results that jobs have delivered. Each says which revision it belongs to: another one than the snapshot's is stale.
struct Figures
{
    std::shared_ptr<const walks::CompareOutcome> comparison;
    std::uint64_t comparisonRevision = 0;
    std::uint64_t isolatedRevision = 0; ///< of the isolated figures in `nodes`, which follow later
    std::string comparisonBasis; ///< result_basis.h; empty: not known
    std::shared_ptr<const LatencyFigures> latency;
    std::uint64_t latencyRevision = 0;
    std::string latencyBasis;
    std::shared_ptr<const walks::CalibrateOutcome> calibration; ///< of the source: belongs to no revision
    std::shared_ptr<const BackendFigures> backends; ///< likewise
    std::vector<NodeFigures> nodes; ///< by NodeId of the source; empty before the first result
};

} // namespace halftone::session

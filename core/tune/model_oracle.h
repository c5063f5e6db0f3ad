#pragma once

#include "core/session/figures.h"
#include "core/session/live_comparison.h"
#include "core/tune/adopt.h"
#include "core/tune/grouping.h"
#include "core/walks/compare.h"

#include <memory>

namespace halftone::tune {

/// A model and what a person wants of it. The policy's lists say what may be lowered at all; what it decides by name stays.
struct TuneTask
{
    std::shared_ptr<const io::LoadedModel> source;
    std::shared_ptr<const infer::ShapeMap> shapes; ///< of the source, for examples as they are timed
    std::shared_ptr<const policy::Policy> policy;
    walks::CompareOptions compare; ///< the examples, and what computes them; one thread's share each
    session::LatencyOptions latency;
    bool hasInt8 = false; ///< operators with an int8 form may be int8, calibrated on the same examples
};

/// What a record of a search must be about to be of use (Record::basis): model, data, policy, machine.
std::string basisOf(const TuneTask &task);

/// Runs the model: each labelling is converted as a person's edits would be (session::derive), compared on the examples from where
/// it differs on (session::LiveComparison) and timed against float32 in turns (session::LatencyMeter).
class ModelOracle final : public Oracle
{
public:
    explicit ModelOracle(TuneTask task);
    ~ModelOracle() override;

    /// Without int8, before ranges are known and layers are timed: their times are rough. fails: as profile()
    Result<std::optional<Network>> sketch(const Progress &progress) override;
    /// fails: besides what running refuses, Unsupported where the machine emulates the policy's target: nothing can be timed
    Result<Network> profile(const Progress &progress) override;
    Result<std::optional<std::vector<Link>>> timeConversions(const Progress &progress) override;
    void resume(const Network &network) override;
    bool canEstimate() const override { return true; }
    Result<double> estimate(const Labels &labels, const Progress &progress) override;
    Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) override;
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override;
    Result<Measurement> confirm(const Labels &labels, const Measurement &measured,
                                const Progress &progress) override;

    /// The policy that gives these labels: the task's, and a node override for each node of a group that is not as its lists say.
    /// Needs: profile()
    policy::Policy policyFor(const Labels &labels) const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace halftone::tune

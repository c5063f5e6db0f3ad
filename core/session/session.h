#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/io/model_io.h"
#include "core/passes/convert_model.h"
#include "core/passes/infer_shapes.h"
#include "core/passes/rewrite.h"
#include "core/policy/policy.h"
#include "core/session/calibrate.h"
#include "core/session/compare.h"
#include "core/session/int8_ranges.h"
#include "core/session/quantize.h"
#include "core/session/run.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::session {

/// One opened model and what is derived from it: the only door to the core for the command line and the
/// window. Snapshots are immutable and shared, so a job may keep one while the session goes on.
class Session
{
public:
    /// fails: what io::loadModel refuses.
    static Result<Session> open(const std::string &path, const io::LoadOptions &options);

    const io::LoadedModel &source() const { return *m_source; }
    const std::shared_ptr<const io::LoadedModel> &sharedSource() const { return m_source; }

    /// Takes the types and shapes of the inputs from a data example (.npz); `policy`'s own input types win.
    /// fails: BadInput for an array whose name is no input, naming the nearest.
    Result<void> useExample(const std::string &npzPath, policy::Policy &policy);
    /// fails: BadInput when no input has that name, naming the nearest.
    Result<void> setInputShape(const std::string &name, tensor::Shape shape);

    /// Those set so far, by the name of the variable.
    const std::unordered_map<std::string, tensor::Shape> &inputShapes() const { return m_inputShapes; }

    /// Shapes of everything, as far as they follow from the parameters, the inputs' shapes and `__shape__`.
    /// Without inputs' shapes a contradiction is no failure, since nothing else needs shapes: it goes to
    /// `notes`, and all shapes stay unknown. fails: BadInput for shapes that contradict those given, naming
    /// the node.
    Result<passes::ShapeMap> shapes(std::vector<std::string> &notes) const;

    /// shapes  what shapes() gave, for casts that move to where fewer bytes are; null: unknown
    /// ranges  of tensors that become int8; null: found at run time
    Result<std::shared_ptr<const passes::ConvertedModel>>
    convert(const policy::Policy &policy, bool strict, const Progress &progress = {},
            const passes::ShapeMap *shapes = nullptr, const passes::QuantizedRanges *ranges = nullptr) const;

    /// What convert() needs for int8 operators; see session::rangesFor().
    Result<passes::QuantizedRanges> rangesFor(const policy::Policy &policy, const RangeSource &source,
                                              const Progress &progress = {}) const;

    /// Runs a pass on `model` (the source's, or what another pass made of it).
    Result<passes::Rewritten> rewrite(const graph::Model &model, const passes::RewritePass &pass,
                                      const Progress &progress = {}) const;

    /// `model` with the float32 parameters of another file in place of those rounded from them.
    /// fails: what io::loadModel and passes::restoreParameters refuse.
    Result<passes::Rewritten> restoreParameters(const graph::Model &model, const std::string &paramsPath,
                                                const Progress &progress = {}) const;

    /// Runs the source model; see runModel().
    Result<RunOutcome> run(const RunSettings &settings, const Progress &progress = {}) const;

    /// The source against what convert() made of it; see compareModels().
    Result<CompareOutcome> compare(const passes::ConvertedModel &converted, const CompareOptions &options,
                                   const Progress &progress = {}) const;
    /// The source against another model, matched by the names of nodes. fails: what io::loadModel and pairByName() refuse.
    Result<CompareOutcome> compareAgainst(const std::string &path, const CompareOptions &options,
                                          const Progress &progress = {}) const;

    /// Statistics of the source's tensors; see calibrateModel().
    Result<CalibrateOutcome> calibrate(const CalibrateOptions &options, const Progress &progress = {}) const;

    /// The source in int8; see quantizeModel().
    Result<QuantizeOutcome> quantize(const QuantizeSettings &settings, const Progress &progress = {}) const;

    /// Writes a model as `prefix`-symbol.json and, if it has parameters, `prefix`-0000.params: both or none,
    /// and never over the source's files. Gives the paths written.
    Result<std::vector<std::string>> write(const graph::Model &model, const std::string &prefix) const;

private:
    Error located(Error error) const;

    std::shared_ptr<const io::LoadedModel> m_source;
    std::unordered_map<std::string, tensor::Shape> m_inputShapes;
};

} // namespace halftone::session

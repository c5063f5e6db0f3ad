#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/infer_shapes.h"
#include "core/io/model_io.h"
#include "core/jobs/calibrate.h"
#include "core/jobs/compare.h"
#include "core/jobs/quantize.h"
#include "core/jobs/run.h"
#include "core/policy/policy.h"
#include "core/rewrite/rewrite.h"
#include "core/session/derive.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halftone::session {

/// One opened model and what is derived from it: the only door to the core for the command line and the
/// window. Snapshots are immutable and shared, so a job may keep one while the session goes on.
class Session
{
public:
    /// fails: what openModel() refuses.
    static Result<Session> open(const std::string &path, const io::LoadOptions &options);

    /// The same with another model whose inputs are called alike.
    Session withSource(std::shared_ptr<const io::LoadedModel> source) const;

    /// The same model in the format of those files: as it is, or translated; for what is done in that format, such as int8.
    /// fails: Unsupported for what the format has no counterpart of
    Result<Session> inFormatOf(const io::ModelOutput &output) const;

    const io::LoadedModel &source() const { return *m_source; }
    const std::shared_ptr<const io::LoadedModel> &sharedSource() const { return m_source; }

    /// Takes the types and shapes of the inputs from a data example (.npz); `policy`'s own input types win.
    /// fails: BadInput for an array whose name is no input, naming the nearest.
    Result<void> useExample(const std::string &npzPath, policy::Policy &policy);
    /// fails: BadInput when no input has that name, naming the nearest.
    Result<void> setInputShape(const std::string &name, tensor::Shape shape);

    /// Those set so far, by the name of the variable.
    const infer::KnownShapes &inputShapes() const { return m_inputShapes; }

    /// Shapes of everything, as far as they follow from the parameters, the inputs' shapes and `__shape__`, and by arithmetic on
    /// shapes (infer::staticShapes()).
    /// Without inputs' shapes a contradiction is no failure, since nothing else needs shapes: it goes to
    /// `notes`, and all shapes stay unknown. fails: BadInput for shapes that contradict those given, naming
    /// the node.
    Result<infer::ShapeMap> shapes(std::vector<std::string> &notes) const;

    /// session::derive(), told of the source where nothing tells more.
    Result<Derived> derive(const DeriveRequest &request, const Progress &progress = {}) const;

    /// Runs a pass on `model` (the source's, or what another pass made of it). `number`: of a pass that takes one.
    Result<rewrite::Rewritten> rewrite(const graph::Model &model, const rewrite::RewritePass &pass,
                                       int number = 0, const Progress &progress = {}) const;

    /// `model` with the float32 parameters of another file, `original`, in place of those rounded from them.
    /// fails: what rewrite::restoreParameters refuses.
    Result<rewrite::Rewritten> restoreParameters(const graph::Model &model, const io::LoadedModel &original,
                                                 const Progress &progress = {}) const;

    /// Runs the source model; see runModel().
    Result<jobs::RunOutcome> run(const jobs::RunSettings &settings, const Progress &progress = {}) const;

    /// The source against what derive() made of it; see compareModels().
    Result<jobs::CompareOutcome> compare(const mixed::ConvertedModel &converted,
                                         const jobs::CompareOptions &options,
                                         const Progress &progress = {}) const;
    /// The source against another model, matched by the names of nodes. fails: what io::loadModel and pairByName() refuse.
    Result<jobs::CompareOutcome> compareAgainst(const std::string &path, const jobs::CompareOptions &options,
                                                const Progress &progress = {}) const;
    /// The model as it is on two backends, options.backend and options.otherBackend.
    Result<jobs::CompareOutcome> compareBackends(const jobs::CompareOptions &options,
                                                 const Progress &progress = {}) const;

    /// Statistics of the source's tensors; see calibrateModel().
    Result<jobs::CalibrateOutcome> calibrate(const jobs::CalibrateOptions &options,
                                             const Progress &progress = {}) const;

    /// The source in int8; see quantizeModel().
    Result<jobs::QuantizeOutcome> quantize(const jobs::QuantizeSettings &settings,
                                           const Progress &progress = {}) const;

    /// Writes a model as `prefix`-symbol.json and, if it has parameters, `prefix`-0000.params: both or none,
    /// and never over the source's files. Gives the paths written.
    Result<std::vector<std::string>> write(const graph::Model &model, const std::string &prefix) const;
    /// The same to files claimed before the work began, in the format that their name asks for.
    /// inputTypes  of data, where the policy says them
    Result<std::vector<std::string>> write(const graph::Model &model, const io::ModelOutput &output,
                                           const std::map<std::string, tensor::DType> &inputTypes = {}) const;

private:
    Error located(Error error) const;

    std::shared_ptr<const io::LoadedModel> m_source;
    infer::KnownShapes m_inputShapes;
};

} // namespace halftone::session

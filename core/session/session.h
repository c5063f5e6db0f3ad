#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/infer_shapes.h"
#include "core/io/model_io.h"
#include "core/policy/policy.h"
#include "core/rewrite/rewrite.h"
#include "core/session/derive.h"
#include "core/walks/calibrate.h"
#include "core/walks/compare.h"
#include "core/walks/quantize.h"
#include "core/walks/run.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halftone::session {

/// An opened model and everything derived from it: the entry point to the core for the command line and the window. Snapshots are
/// immutable and shared, so a job may keep one while the session changes.
class Session
{
public:
    /// fails: errors of openModel().
    static Result<Session> open(const std::string &path, const io::LoadOptions &options);
    /// The same for the bytes of a model file. path  as in io::readModel()
    static Result<Session> read(std::vector<std::byte> bytes, const std::string &path,
                                const io::LoadOptions &options);

    /// The same settings for another model with the same input names.
    Session withSource(std::shared_ptr<const io::LoadedModel> source) const;

    /// The model in the format of the output files, translated if necessary, for work in that format such as int8.
    /// fails: Unsupported for operators without a counterpart
    Result<Session> inFormatOf(const io::ModelOutput &output) const;

    const io::LoadedModel &source() const { return *m_source; }
    const std::shared_ptr<const io::LoadedModel> &sharedSource() const { return m_source; }

    /// Takes the types and shapes of the inputs from an example (.npz); input types of `policy` have precedence.
    /// fails: BadInput for an array whose name is not an input, suggesting the nearest.
    Result<void> useExample(const std::string &npzPath, policy::Policy &policy);
    /// fails: BadInput if no input has that name, suggesting the nearest.
    Result<void> setInputShape(const std::string &name, tensor::Shape shape);

    /// The shapes set so far, by input name.
    const infer::KnownShapes &inputShapes() const { return m_inputShapes; }

    /// Shapes of all tensors, inferred from parameters, input shapes, `__shape__` and shape arithmetic (infer::staticShapes()).
    /// Without given input shapes, a contradiction only adds a note, and all shapes stay unknown. fails: BadInput for shapes
    /// that contradict the given ones, naming the node.
    Result<infer::ShapeMap> shapes(std::vector<std::string> &notes) const;

    /// session::derive() with the source and its known shapes.
    Result<Derived> derive(const DeriveRequest &request, const Progress &progress = {}) const;

    /// Runs a pass on `model` (the source or the result of another pass). `number`: for passes with a number.
    Result<rewrite::Rewritten> rewrite(const graph::Model &model, const rewrite::RewritePass &pass,
                                       int number = 0, const Progress &progress = {}) const;

    /// `model` with its rounded parameters replaced by the float32 parameters of another file, `original`.
    /// fails: errors of rewrite::restoreParameters.
    Result<rewrite::Rewritten> restoreParameters(const graph::Model &model, const io::LoadedModel &original,
                                                 const Progress &progress = {}) const;

    /// Runs the source model; see runModel().
    Result<walks::RunOutcome> run(const walks::RunSettings &settings, const Progress &progress = {}) const;

    /// Compares the source with a result of derive(); see compareModels().
    Result<walks::CompareOutcome> compare(const mixed::ConvertedModel &converted,
                                          const walks::CompareOptions &options,
                                          const Progress &progress = {}) const;
    /// Compares the source with another model; nodes are matched by name. fails: errors of io::loadModel and pairByName().
    Result<walks::CompareOutcome> compareAgainst(const std::string &path,
                                                 const walks::CompareOptions &options,
                                                 const Progress &progress = {}) const;
    /// The same with an opened model.
    Result<walks::CompareOutcome> compareWith(const io::LoadedModel &other,
                                              const walks::CompareOptions &options,
                                              const Progress &progress = {}) const;
    /// Compares the unconverted model on two backends, options.backend and options.otherBackend.
    Result<walks::CompareOutcome> compareBackends(const walks::CompareOptions &options,
                                                  const Progress &progress = {}) const;

    /// Statistics of the tensors of the source; see calibrateModel().
    Result<walks::CalibrateOutcome> calibrate(const walks::CalibrateOptions &options,
                                              const Progress &progress = {}) const;

    /// The source in int8; see quantizeModel().
    Result<walks::QuantizeOutcome> quantize(const walks::QuantizeSettings &settings,
                                            const Progress &progress = {}) const;

    /// Writes a model as `prefix`-symbol.json and, if it has parameters, `prefix`-0000.params: both or neither. Never overwrites files of
    /// the source. Returns the paths.
    Result<std::vector<std::string>> write(const graph::Model &model, const std::string &prefix) const;
    /// The same to files claimed earlier, in the format given by their name.
    /// inputTypes  of inputs, if the policy sets them
    Result<std::vector<std::string>> write(const graph::Model &model, const io::ModelOutput &output,
                                           const std::map<std::string, tensor::DType> &inputTypes = {}) const;

private:
    Error located(Error error) const;

    std::shared_ptr<const io::LoadedModel> m_source;
    infer::KnownShapes m_inputShapes;
};

} // namespace halftone::session

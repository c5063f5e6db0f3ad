#pragma once

#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"

#include <string>
#include <utility>
#include <vector>

namespace halftone::runtimes {

/// An input of the model that is handed over.
struct HandedInput
{
    kernels::PlanPort port; ///< named as its variable
    std::string value; ///< what the file calls it
};

/// A copy of a model, as a file for a runtime: of the format that runtimes read (others are translated), every node named as in the graph, every
/// shape of an input fixed. The file lies in a folder of its own, which goes with this object.
class HandedModel
{
public:
    /// fails: Unsupported for a model that cannot be translated; BadInput for an input of unknown type or shape (where = its name); errors of
    ///        the file system
    static Result<HandedModel> make(const infer::TypedModel &model);

    HandedModel(HandedModel &&other) noexcept
        : m_folder(std::exchange(other.m_folder, {}))
        , m_file(std::move(other.m_file))
        , m_inputs(std::move(other.m_inputs))
    {
    }
    HandedModel &operator=(HandedModel &&) = delete;
    ~HandedModel();

    const std::string &file() const { return m_file; }
    const std::vector<HandedInput> &inputs() const { return m_inputs; }

private:
    HandedModel() = default;

    Result<void> makeFolder();
    Result<void> write(const graph::Model &model, const infer::TypedModel &source);
    Result<void> findInputs(const graph::Model &model, const infer::TypedModel &source);

    std::string m_folder; ///< empty: there is none (any more)
    std::string m_file;
    std::vector<HandedInput> m_inputs;
};

} // namespace halftone::runtimes

#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/variables.h"
#include "core/session/session.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::results {

/// What `info` tells of a model.
struct ModelFacts
{
    const io::LoadedModel &loaded;
    std::vector<infer::Variable> variables;
    infer::ShapeMap shapes;
    std::map<std::string, std::size_t> operators;
    std::vector<std::string> notes;

    const graph::Graph &graph() const { return loaded.model.graph; }
};

/// The facts refer to the session's source. fails: as Session::shapes() and infer::classifyVariables()
Result<ModelFacts> modelFacts(const session::Session &session);

/// `info --json` of a model.
OrderedJson infoJson(const ModelFacts &facts);
/// `info --json` of a parameter file alone.
OrderedJson parameterFileJson(const io::LoadedModel &loaded);

/// Arrays in numbers.
struct ParameterFacts
{
    std::size_t count = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    std::map<std::string, std::size_t> dtypes;
};
ParameterFacts parameterFacts(std::span<const tensor::Array> arrays);

std::string_view nameOf(tensor::Storage storage); ///< "default", "row_sparse", "csr", as in MXNet

/// The reals that bodies hold themselves.
std::vector<tensor::Array> heldInBodies(const graph::Graph &graph);

} // namespace halftone::results

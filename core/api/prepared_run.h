#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// How a prepared model runs.
struct PreparedSettings
{
    std::string backend;
    unsigned threads = 0;
    tensor::DType precision = tensor::DType::Unknown; ///< as backends::planningBackend()
    tensor::DType accumulator = tensor::DType::Unknown;
    bool allNodes = false;
    std::vector<std::string> values; ///< only these; empty: the outputs, or all with allNodes
    std::optional<std::uint64_t> seed; ///< of missing parameters
};

/// A model that is ready to run on inputs of one kind. For one thread at a time.
class PreparedRun
{
public:
    virtual ~PreparedRun() = default;

    /// Can it run on these inputs?
    virtual bool fits(const interpret::Feed &feed) const = 0;
    /// fails: as interpret::Interpreter::run()
    virtual halftone::Result<std::vector<io::NamedTensor>> run(const interpret::Feed &feed,
                                                               const halftone::Progress &progress)
        = 0;
};

/// A latency plan where that gives what the interpreter would, but for float32's rounding (another order of sums, Winograd's filtering): every
/// operator, type and shape follows from the inputs' shapes, no value has 16 bits or fewer, and only the outputs are wanted. Otherwise an
/// interpreter. A backend without kernels for single operators always takes a plan.
/// fails: as backends::backendChain() and interpret::Interpreter::create()
halftone::Result<std::unique_ptr<PreparedRun>> prepareRun(const graph::Model &model,
                                                          const interpret::Feed &feed,
                                                          const PreparedSettings &settings,
                                                          const halftone::Progress &progress);

} // namespace halftone::api

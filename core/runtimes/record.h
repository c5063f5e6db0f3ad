#pragma once

#include "core/base/result.h"
#include "core/tensor/dtype.h"

#include <string>
#include <string_view>
#include <vector>

namespace halftone::runtimes {

/// Something that a runtime says it has executed, and how.
struct RecordedRow
{
    std::string name; ///< the runtime's
    std::string op; ///< likewise
    tensor::DType type = tensor::DType::Unknown; ///< that it ran in
    std::string kernel; ///< what ran it
    std::string told; ///< the types, in the runtime's words
};

/// What a runtime recorded of some runs.
struct Record
{
    std::vector<RecordedRow> rows; ///< in the order of execution
    std::vector<std::vector<double>> microseconds; ///< by run and row
};

/// Reads the record of a runtime of this kind (RuntimeKind::name).
/// fails: BadInput for a text that is none, or tells of no run
Result<Record> readRecord(std::string_view kind, const std::string &text);

/// One row of one run, as readers of records give them.
struct TimedRow
{
    RecordedRow row;
    double microseconds = 0;
};

/// Rows of the same name are told apart by their order. What the first run has not is left out.
Record recordOf(const std::vector<std::vector<TimedRow>> &runs);

/// Of events of ONNX Runtime, which record all runs of a session: those of the first, which warms up, are left out.
Result<Record> readEvents(const std::string &text);
/// Of OpenVINO's list of executed nodes, by run.
Result<Record> readExecuted(const std::string &text);

} // namespace halftone::runtimes

#pragma once

#include "halftone/data.h"
#include "halftone/open.h"
#include "halftone/policy.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

enum class Codes : std::uint8_t
{
    Int8,
    UInt8,
    Auto, ///< uint8 for tensors without negative values
};

struct CalibrateOptions
{
    Compute compute;
    ThresholdMethod method = ThresholdMethod::Mse;
    double percentile = 99.99; ///< for ThresholdMethod::Percentile, in percent
    Codes codes = Codes::Auto;
    std::vector<std::string> layers; ///< patterns for tensor names; empty: all
    std::size_t memoryLimit = std::size_t{1}
        << 30; ///< limit for intermediate tensors and packed weights in bytes
};

/// Statistics of one tensor.
struct TensorRange
{
    std::string name;
    bool isParameter = false;
    double min = 0;
    double max = 0;
    double threshold = 0; ///< largest magnitude that int8 can represent
    std::optional<double> sqnrDb; ///< of int8 with this threshold; absent if all values are zero
    std::uint64_t float16Overflow = 0; ///< finite values that float16 makes infinite
    std::uint64_t float16Underflow = 0; ///< values that float16 makes zero
    std::string note; ///< may be empty
};

/// Statistics of all tensors of a model. Immutable, cheap to copy.
class Calibration
{
public:
    const std::vector<TensorRange> &tensors() const; ///< in the order of the model
    std::size_t examples() const;
    double seconds() const;
    Result<std::string> report() const; ///< as JSON: what `calibrate --json` prints

private:
    friend struct Inside;
    struct Content;
    explicit Calibration(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Runs a model once over all examples and collects statistics of every floating-point tensor. The result does not depend on
/// the number of threads.
/// fails: BadInput for invalid data; Unsupported for an operator without a kernel; BadCall for patterns without a match; Cancelled
Result<Calibration> calibrate(const Model &model, const Data &data, const CalibrateOptions &options = {},
                              const Progress &progress = {});

/// Writes the table that ConvertOptions and QuantizeOptions read, and returns its path. fails: errors of the file system
Result<std::string> saveCalibration(const Calibration &calibration, const std::string &path);

} // namespace halftone::api

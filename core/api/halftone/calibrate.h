#pragma once

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
    Auto, ///< uint8 where no value is negative
};

struct CalibrateOptions
{
    Compute compute;
    ThresholdMethod method = ThresholdMethod::Mse;
    double percentile = 99.99; ///< of ThresholdMethod::Percentile
    Codes codes = Codes::Auto;
    std::vector<std::string> layers; ///< patterns of tensors' names; empty: all
};

/// What is known of one tensor's values.
struct TensorRange
{
    std::string name;
    bool isParameter = false;
    double min = 0;
    double max = 0;
    double threshold = 0; ///< the largest magnitude that its codes stand for
    std::optional<double> sqnrDb; ///< of the codes; nothing for zeros
    std::uint64_t float16Overflow = 0; ///< finite values that float16 makes infinite
    std::uint64_t float16Underflow = 0; ///< values that float16 makes zero
    std::string note; ///< may be empty
};

/// The statistics of a model's tensors. Immutable, cheap to copy.
class Calibration
{
public:
    const std::vector<TensorRange> &tensors() const; ///< in the model's order
    std::size_t examples() const;
    double seconds() const;

private:
    friend struct Inside;
    struct Content;
    explicit Calibration(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Runs a model over examples once and collects the statistics of every tensor of floating point. The result does not depend
/// on the number of threads.
/// fails: what reading the data refuses; Unsupported for an operator without a kernel; BadCall for patterns that match nothing; Cancelled
Result<Calibration> calibrate(const Model &model, const Data &data, const CalibrateOptions &options = {},
                              const Progress &progress = {});

/// Writes the table that ConvertOptions and QuantizeOptions take. Gives its path. fails: what the file system says
Result<std::string> saveCalibration(const Calibration &calibration, const std::string &path);

} // namespace halftone::api

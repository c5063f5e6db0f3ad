#pragma once

#include "core/weights/matrix_codes.h"

#include <memory>
#include <mutex>
#include <optional>

namespace halftone::weights {

/// The codes of the matrix that was encoded last, which a writer takes part by part, so that no other's are in memory.
class LastCodes
{
public:
    using Make = std::function<WeightCodes()>;
    std::shared_ptr<const WeightCodes> of(const void *matrix, const Make &make);

private:
    std::mutex m_mutex;
    const void *m_matrix = nullptr;
    std::shared_ptr<const WeightCodes> m_codes;
};

/// A matrix that is encoded when somebody reads its codes. Any number of threads may read.
class CodedMatrix : public std::enable_shared_from_this<CodedMatrix>
{
public:
    CodedMatrix(WeightMatrix matrix, EncodeSettings settings, std::shared_ptr<LastCodes> last);
    /// Encodes now, by settings.encode, which is not needed any more then.
    CodedMatrix(WeightMatrix matrix, EncodeSettings settings);

    const WeightMatrix &matrix() const { return m_matrix; }
    const EncodeSettings &settings() const { return m_settings; }

    enum class Part : std::uint8_t
    {
        Codes,
        Scales,
        ZeroPoints ///< unknown type where the format has none
    };
    tensor::Tensor tensorOf(Part part) const;
    float matrixScale() const;
    std::size_t storedBytes() const; ///< of all parts
    double sqnrDb() const; ///< infinite without errors; encodes unless that was done
    /// Needs: encoded by reading
    tensor::Tensor rounded() const { return roundedMatrix(m_matrix, m_settings); }

private:
    friend class CodedPart;
    std::shared_ptr<const WeightCodes> codes() const;
    WeightCodes encoded() const;

    WeightMatrix m_matrix;
    EncodeSettings m_settings;
    std::shared_ptr<LastCodes> m_last; ///< null: m_kept
    std::shared_ptr<const WeightCodes> m_kept;
    mutable std::mutex m_mutex;
    mutable std::optional<double> m_sqnrDb;
};

} // namespace halftone::weights

#include "halftone/calibrate.h"

#include "core/api/inside.h"
#include "core/base/atomic_file.h"
#include "core/report/calibration_json.h"

namespace halftone::api {
namespace {

std::vector<TensorRange> rangesOf(const std::vector<calibration::CalibratedTensor> &tensors)
{
    std::vector<TensorRange> ranges;
    for (const calibration::CalibratedTensor &tensor : tensors)
        ranges.push_back({tensor.name, tensor.isParameter, tensor.statistics.min, tensor.statistics.max,
                          tensor.threshold.value, tensor.threshold.sqnrDb, tensor.statistics.fp16.overflow,
                          tensor.statistics.fp16.underflow, tensor.threshold.note});
    return ranges;
}

} // namespace

Calibration Inside::calibration(Calibration::Content content)
{
    return Calibration(std::make_shared<const Calibration::Content>(std::move(content)));
}

Calibration::Calibration(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{
}

const std::vector<TensorRange> &Calibration::tensors() const
{
    return m_content->tensors;
}

std::size_t Calibration::examples() const
{
    return m_content->outcome->examples;
}

double Calibration::seconds() const
{
    return m_content->outcome->seconds;
}

Result<std::string> Calibration::report() const
{
    return answer([&]() -> halftone::Result<std::string> {
        std::string text;
        HALFTONE_CHECK(report::writeCalibration(m_content->outcome->tensors, m_content->method,
                                                m_content->outcome->examples, m_content->outcome->seconds,
                                                [&text](std::string_view piece) {
                                                    text += piece;
                                                    return halftone::Result<void>();
                                                }));
        return text;
    });
}

Result<Calibration> calibrate(const Model &model, const Data &data, const CalibrateOptions &options,
                              const Progress &progress)
{
    return answer([&]() -> halftone::Result<Calibration> {
        walks::CalibrateOptions settings;
        HALFTONE_CHECK(setWork(settings, data, options.compute));
        settings.memoryLimit = options.memoryLimit;
        settings.threshold = {methodOf(options.method), codesOf(options.codes), options.percentile};
        settings.layers = options.layers;
        HALFTONE_TRY(walks::CalibrateOutcome outcome,
                     Inside::sessionOf(model).calibrate(settings, progressOf(progress)));
        std::vector<TensorRange> ranges = rangesOf(outcome.tensors);
        return Inside::calibration({std::make_shared<const walks::CalibrateOutcome>(std::move(outcome)),
                                    settings.threshold.method, std::move(ranges)});
    });
}

Result<std::string> saveCalibration(const Calibration &calibration, const std::string &path)
{
    return answer([&]() -> halftone::Result<std::string> {
        const auto &content = Inside::of(calibration);
        HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
        HALFTONE_CHECK(report::writeCalibration(
            content.outcome->tensors, content.method, content.outcome->examples, content.outcome->seconds,
            [&file](std::string_view piece) { return file.write(piece); }));
        HALFTONE_CHECK(file.write("\n"));
        HALFTONE_CHECK(file.commit());
        return path;
    });
}

} // namespace halftone::api

#pragma once

#include <QString>

/// The model that comes with the programs, and its labelled data.
namespace halftone::test {

inline const QString kSampleFolder = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/");
inline const QString kSample = kSampleFolder + QStringLiteral("digits-symbol.json");
inline const QString kDigits = kSampleFolder + QStringLiteral("digits-test.npz");
inline const QString kCalibrationDigits = kSampleFolder + QStringLiteral("digits-calibration.npz");

} // namespace halftone::test

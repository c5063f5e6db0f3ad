#pragma once

#include "app/live_jobs.h"
#include "core/io/formats.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace halftone::app {

enum class Theme
{
    Desktop,
    Light,
    Dark
};

/// What a person sets for all models.
struct Preferences
{
    Theme theme = Theme::Desktop;
    JobSettings jobs;
    std::size_t pictures = 64; ///< of a folder, that live errors are computed with; 0: all
};

Preferences loadPreferences();
void savePreferences(const Preferences &preferences);

/// The files opened last, newest first.
QStringList recentFiles();
void addRecentFile(const QString &path);
void removeRecentFile(const QString &path);

/// Gives the whole program its palette.
void applyTheme(Theme theme);

/// Where journals of unsaved work lie; made when it is not there.
QString journalFolder();

/// Where what belongs to a model is proposed to be written: beside it, or, where that cannot be or is the installation's, in
/// the person's documents.
QString folderFor(const QString &model);

/// What a model is called after its file, without the ending of its format: "digits" for digits.onnx.
QString nameOfModel(const QString &path);

/// A file of resources/: in the folder that HALFTONE_RESOURCES names, where it is installed, or in the build folder; empty when none has it.
QString resourcePath(const QString &file);
/// The bundled model; empty when the installation lacks it.
QString samplePath(const QString &file);

/// The sample's network is bundled in several formats, with a policy for each.
struct Sample
{
    const io::ModelFormat *format;
    QString model; ///< path
    QString policy; ///< path
};
/// Those that the installation has and this build can read, in the order of the formats.
std::vector<Sample> samples();
/// The one that the guide describes, of the default format; absent when the installation lacks all.
std::optional<Sample> guidedSample();
/// A page or picture of the guide, likewise.
QString helpPath(const QString &file);

} // namespace halftone::app

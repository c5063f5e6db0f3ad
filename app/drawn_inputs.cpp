#include "app/drawn_inputs.h"

#include "app/settings.h"
#include "core/walks/drawn_inputs.h"
#include "widgets/common/path_text.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>

namespace halftone::app {
namespace {

constexpr std::size_t kExamples = 8; ///< enough for the errors of layers, and quick

QString drawnFolder()
{
    return QDir::cleanPath(journalFolder() + QStringLiteral("/../drawn"));
}

} // namespace

Result<QString> drawInputsFor(const io::LoadedModel &model)
{
    // Without such a file, or where it is wrong, which attaching pictures would tell, extents are guessed.
    const auto rules = io::readPreprocess(io::preprocessBeside(model.modelPath));
    HALFTONE_TRY(
        const walks::DrawnInputs inputs,
        walks::drawInputs(model.model, kExamples, rules.ok() ? std::optional(rules.value()) : std::nullopt));
    const QString path = widgets::pathText(model.modelPath);
    const QByteArray place
        = QCryptographicHash::hash(path.toUtf8(), QCryptographicHash::Sha256).toHex().left(8);
    QDir().mkpath(drawnFolder());
    const QString file
        = QStringLiteral("%1/%2-%3.npz").arg(drawnFolder(), nameOfModel(path), QString::fromLatin1(place));
    HALFTONE_CHECK(io::writeNpz(inputs.arrays, widgets::pathBytes(file)));
    return file;
}

bool areDrawn(const std::optional<walks::ExampleOptions> &data)
{
    return data && widgets::pathText(data->inputs).startsWith(drawnFolder() + '/');
}

QString drawnInputsMeaning()
{
    return QCoreApplication::translate("drawnInputs", "Random inputs give layer errors, but no accuracy.");
}

} // namespace halftone::app

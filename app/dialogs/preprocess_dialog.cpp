#include "app/dialogs/preprocess_dialog.h"

#include "app/dialogs/attach_dialog.h"
#include "app/dialogs/picture_rules_form.h"
#include "core/walks/runtime_model.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPixmap>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halftone::app {
namespace {

constexpr std::size_t kMeasured = 64; ///< pictures a preset: enough to tell right from wrong
constexpr int kTileSide = 96;
constexpr int kTilesARow = 4;

/// The file that the data are read with.
QString rulesOf(const walks::ExampleOptions &data, const io::LoadedModel &source)
{
    return data.preprocess.empty() ? usualRules(source) : widgets::pathText(data.preprocess);
}

} // namespace

PreprocessDialog::PreprocessDialog(std::shared_ptr<const io::LoadedModel> source,
                                   walks::ExampleOptions examples, const JobSettings &settings,
                                   QWidget *parent)
    : QDialog(parent)
    , m_source(std::move(source))
    , m_data(std::move(examples))
    , m_settings(settings)
    , m_rulesFiles(std::make_shared<QTemporaryDir>())
{
    setWindowTitle(tr("Preprocessing"));
    const auto read = io::readPreprocess(widgets::pathBytes(rulesOf(m_data, *m_source)));
    const io::Preprocess now = read.ok() ? read.value() : io::guessedPreprocess(m_source->model);
    if (auto picture = firstPictureIn(widgets::pathText(m_data.inputs)); picture.ok())
        m_picture = std::move(picture).value();

    auto *const content = new QWidget;
    auto *const column = new QVBoxLayout(content);
    m_form = new PictureRulesForm(m_source->model, content);
    m_form->setRules(now);
    m_form->setPicture(m_picture);
    column->addWidget(m_form);
    m_note = new QLabel(content);
    m_note->setWordWrap(true);
    m_note->setText(
        m_data.labels.empty()
            ? tr("Presets. Attach labels to see the top-1 of each: a wrong preset often looks plausible.")
            : tr("Presets, with the top-1 of the unconverted model over the first %1 pictures: a wrong "
                 "preset "
                 "often looks plausible, but its top-1 is lower.")
                  .arg(m_data.examples > 0 ? std::min(m_data.examples, kMeasured) : kMeasured));
    column->addWidget(m_note);
    auto *const grid = new QGridLayout;
    addTile(*grid, tr("now"), now);
    for (const PicturePreset &preset : usualPresets(now))
        addTile(*grid, preset.name, preset.rules);
    column->addLayout(grid);
    column->addStretch(1);

    auto *const whole = new QVBoxLayout(this);
    auto *const area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidget(content);
    whole->addWidget(area);
    m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("Save and Use"));
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    whole->addWidget(m_buttons);
    connect(m_form, &PictureRulesForm::changed, this, &PreprocessDialog::showChosen);
    showChosen();
    resize(fontMetrics().averageCharWidth() * 110, fontMetrics().height() * 44);
    if (!m_data.labels.empty())
        measure(0);
}

void PreprocessDialog::addTile(QGridLayout &grid, const QString &name, const io::Preprocess &rules)
{
    auto *const button = new QToolButton(m_form->parentWidget());
    button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    button->setIconSize({kTileSide, kTileSide});
    button->setCheckable(true);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    if (!m_picture.rgb.empty())
        button->setIcon(QPixmap::fromImage(pictureAsSeen(m_picture, rules)));
    const int place = static_cast<int>(m_tiles.size());
    grid.addWidget(button, place / kTilesARow, place % kTilesARow);
    connect(button, &QToolButton::clicked, this, [this, rules] { m_form->setRules(rules); });
    m_tiles.push_back({name, rules, button, {}});
    showTile(m_tiles.back());
}

void PreprocessDialog::showTile(Tile &tile)
{
    const QString text = tile.score.isEmpty() ? tile.name : tile.name + QLatin1Char('\n') + tile.score;
    tile.button->setText(text);
    tile.button->setAccessibleName(QString(text).replace(QLatin1Char('\n'), QStringLiteral(": ")));
}

/// One preset after the other, so that the first answers come soon.
void PreprocessDialog::measure(std::size_t tile)
{
    if (tile >= m_tiles.size())
        return;
    walks::RunSettings settings;
    settings.examples = m_data;
    settings.examples.metric.reset();
    settings.examples.targets.clear();
    settings.examples.examples = m_data.examples > 0 ? std::min(m_data.examples, kMeasured) : kMeasured;
    settings.examples.preprocess
        = widgets::pathBytes(m_rulesFiles->filePath(QString::number(tile) + ".json"));
    settings.backend = walks::kernelBackendFor(m_settings.backend);
    settings.threads = m_settings.threads;
    m_tiles[tile].score = tr("measuring\u2026");
    showTile(m_tiles[tile]);
    m_job.start(
        [source = m_source, settings, rules = m_tiles[tile].rules,
         files = m_rulesFiles](std::stop_token stop) -> Result<double> {
            HALFTONE_CHECK(io::writePreprocess(rules, settings.examples.preprocess));
            HALFTONE_TRY(const walks::RunOutcome outcome,
                         walks::runModel(source->model, source->modelPath, settings, {std::move(stop), {}}));
            if (!outcome.accuracy)
                return badInput({}, "no class scores", "labelled pictures");
            return outcome.accuracy->top1;
        },
        [this, tile](const Result<double> &top1) {
            Tile &shown = m_tiles[tile];
            shown.score = top1.ok() ? tr("top-1 %1 %").arg(100 * top1.value(), 0, 'f', 1) : tr("no top-1");
            if (!top1.ok())
                shown.button->setToolTip(widgets::plain(top1.error().message()));
            showTile(shown);
            measure(tile + 1);
        });
}

/// Which preset the fields say.
void PreprocessDialog::showChosen()
{
    const io::Preprocess now = m_form->rules();
    const auto isNear = [](const std::vector<double> &a, const std::vector<double> &b) {
        return std::ranges::equal(
            a, b, [](double x, double y) { return std::abs(x - y) <= 1e-6 * std::max(1.0, std::abs(x)); });
    };
    for (const Tile &tile : m_tiles) {
        io::Preprocess same = tile.rules; // the fields round
        same.batch = now.batch;
        if (isNear(same.mean, now.mean) && isNear(same.scale, now.scale)) {
            same.mean = now.mean;
            same.scale = now.scale;
        }
        tile.button->setChecked(same == now);
    }
}

void PreprocessDialog::accept()
{
    io::Preprocess rules = m_form->rules();
    rules.batch = m_tiles.front().rules.batch; // which no field has
    QString file = rulesOf(m_data, *m_source);
    const bool isWritable = QFileInfo::exists(file) ? QFileInfo(file).isWritable()
                                                    : QFileInfo(QFileInfo(file).absolutePath()).isWritable();
    if (!isWritable)
        file = widgets::pathText(m_data.inputs) + QStringLiteral("/preprocess.json");
    const auto written = io::writePreprocess(rules, widgets::pathBytes(file));
    if (!written.ok()) {
        QMessageBox::warning(this, windowTitle(), widgets::plain(written.error().message()));
        return;
    }
    m_data.preprocess = widgets::pathBytes(file);
    QDialog::accept();
}

} // namespace halftone::app

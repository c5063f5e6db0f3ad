#include "app/dialogs/attach_dialog.h"

#include "app/dialogs/picture_rules_form.h"
#include "app/drawn_inputs.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSpinBox>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace halftone::app {
namespace {

constexpr int kTypingPauseMs = 300;

} // namespace

QString usualRules(const io::LoadedModel &model)
{
    return QFileInfo(widgets::pathText(model.modelPath)).absolutePath() + QStringLiteral("/preprocess.json");
}

QString labelsOf(const QString &folder)
{
    for (const QString &place : {QStringLiteral("/labels.csv"), QStringLiteral("/../labels.csv")}) {
        const QFileInfo labels(folder + place);
        if (labels.exists())
            return QDir::cleanPath(labels.absoluteFilePath());
    }
    return {};
}

AttachDialog::AttachDialog(const std::optional<walks::ExampleOptions> &now, std::size_t pictures,
                           QWidget *parent, const io::LoadedModel *model)
    : QDialog(parent)
    , m_model(model)
    , m_pictures(pictures)
{
    setWindowTitle(tr("Attach Data"));
    auto *const layout = beginContent();
    auto *const why = new QLabel(
        tr("Layer errors, ranges and accuracy are computed with these examples, and again after every edit."),
        this);
    why->setWordWrap(true);
    layout->addWidget(why);
    auto *const form = new QFormLayout;
    layout->addLayout(form);
    m_inputs = addPath(form, tr("&Inputs"),
                       tr("an .npz file with one array per input, or a folder of pictures"), true);
    m_preprocess = addPath(form, tr("&Preprocessing"),
                           tr("pictures only; empty: preprocess.json in the folder of the model"), false);
    m_labels = addPath(
        form, tr("&Labels"),
        tr("optional: a CSV file with columns file and class_index, or an .npz file with labels"), false);
    m_targets = addPath(form, tr("Re&ference"),
                        tr("optional, for outputs other than classes: a folder of masks or pictures, or an "
                           ".npz file with targets"),
                        true);
    m_metric = new widgets::ChoiceBox(this);
    m_metric->setAccessibleName(tr("Metric"));
    m_metric->setToolTip(tr("How accuracy is measured"));
    m_metric->addItem(tr("chosen from outputs and labels"));
    for (const tasks::Metric metric : tasks::allMetrics())
        m_metric->addItem(widgets::plain(std::string(tasks::titleOf(metric))), static_cast<int>(metric));
    form->addRow(tr("&Metric"), m_metric);
    m_examples = new QSpinBox(this);
    m_examples->setRange(0, std::numeric_limits<int>::max());
    m_examples->setSpecialValueText(tr("all"));
    m_examples->setAccessibleName(tr("Number of examples"));
    form->addRow(tr("&Examples"), m_examples);
    m_rulesNote
        = new QLabel(tr("No preprocess.json was found, so these settings are a guess. Adjust them until the "
                        "preview looks like the training pictures. They are saved as "
                        "preprocess.json."),
                     this);
    m_rulesNote->setWordWrap(true);
    layout->addWidget(m_rulesNote);
    if (m_model) {
        m_rules = new PictureRulesForm(m_model->model, this);
        layout->addWidget(m_rules);
    }
    m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("Attach"));
    m_drawnNote = new QLabel(this);
    m_drawnNote->setWordWrap(true);
    m_drawnNote->hide();
    layout->addWidget(m_drawnNote);
    if (m_model) {
        QPushButton *const draw
            = m_buttons->addButton(tr("Draw Random Inputs"), QDialogButtonBox::ActionRole);
        draw->setToolTip(tr("Use this if you have no data. %1").arg(drawnInputsMeaning()));
        connect(draw, &QPushButton::clicked, this, &AttachDialog::drawInputs);
    }
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    QDialog::layout()->addWidget(m_buttons);
    if (now) {
        m_inputs->setText(widgets::pathText(now->inputs));
        m_preprocess->setText(widgets::pathText(now->preprocess));
        m_labels->setText(widgets::pathText(now->labels));
        m_targets->setText(widgets::pathText(now->targets));
        m_metric->setCurrentIndex(now->metric ? m_metric->findData(static_cast<int>(*now->metric)) : 0);
        m_examples->setValue(static_cast<int>(now->examples));
    }
    inputsChanged();
    // The folders that a path being typed goes through are not meant: the dialog would jump at each of them.
    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingPauseMs);
    connect(&m_typing, &QTimer::timeout, this, &AttachDialog::takeInputs);
    connect(m_inputs, &QLineEdit::textEdited, &m_typing, qOverload<>(&QTimer::start));
    connect(m_inputs, &QLineEdit::textChanged, this, [this] {
        showAvailability();
        if (!m_typing.isActive())
            takeInputs();
    });
    connect(m_preprocess, &QLineEdit::textChanged, this, &AttachDialog::inputsChanged);
    connect(m_examples, &QSpinBox::valueChanged, this, [this] { m_isCountChosen = true; });
    fit();
}

/// Everything but the buttons, which are always seen: on a small screen the rest is scrolled.
QVBoxLayout *AttachDialog::beginContent()
{
    auto *const whole = new QVBoxLayout(this);
    auto *const area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    m_content = new QWidget(area);
    area->setWidget(m_content);
    whole->addWidget(area);
    auto *const column = new QVBoxLayout(m_content);
    column->setContentsMargins({});
    column->setSizeConstraint(QLayout::SetMinimumSize);
    return column;
}

/// As high as what is shown now, and whole on the screen where that is possible.
void AttachDialog::fit()
{
    const int width = std::max(isVisible() ? this->width() : 0, fontMetrics().averageCharWidth() * 90);
    const QMargins margins = layout()->contentsMargins();
    m_content->layout()->activate();
    const int content = std::max(m_content->heightForWidth(width - margins.left() - margins.right()),
                                 m_content->minimumSizeHint().height());
    const int wanted
        = margins.top() + content + layout()->spacing() + m_buttons->sizeHint().height() + margins.bottom();
    const QRect room = screen()->availableGeometry();
    const int most = room.height() - (frameGeometry().height() - height());
    const int bar = wanted > most ? style()->pixelMetric(QStyle::PM_ScrollBarExtent) : 0;
    resize(std::max(width, margins.left() + m_content->minimumSizeHint().width() + bar + margins.right()),
           std::min(wanted, most));
    if (isVisible() && frameGeometry().bottom() > room.bottom())
        move(frameGeometry().x(), std::max(room.top(), room.bottom() + 1 - frameGeometry().height()));
}

QLineEdit *AttachDialog::addPath(QFormLayout *form, const QString &label, const QString &hint, bool folderToo)
{
    auto *const row = new QWidget(this);
    auto *const layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto *const edit = new QLineEdit(row);
    edit->setPlaceholderText(hint);
    edit->setAccessibleName(QString(label).remove('&'));
    layout->addWidget(edit, 1);
    auto *const file = new QPushButton(tr("File…"), row);
    connect(file, &QPushButton::clicked, this, [this, edit] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Choose a file"), edit->text());
        if (!path.isEmpty())
            edit->setText(path);
    });
    layout->addWidget(file);
    if (folderToo) {
        auto *const folder = new QPushButton(tr("Folder…"), row);
        connect(folder, &QPushButton::clicked, this, [this, edit] {
            const QString path
                = QFileDialog::getExistingDirectory(this, tr("Choose a folder of pictures"), edit->text());
            if (!path.isEmpty())
                edit->setText(path);
        });
        layout->addWidget(folder);
    }
    form->addRow(label, row);
    return edit;
}

/// A folder may hold thousands of pictures: a live answer wants few, unless a person has said how many.
void AttachDialog::suggestExamples()
{
    if (m_isCountChosen)
        return;
    const QSignalBlocker blocker(m_examples);
    m_examples->setValue(QFileInfo(m_inputs->text()).isDir() ? static_cast<int>(m_pictures) : 0);
}

void AttachDialog::showAvailability()
{
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(QFileInfo::exists(m_inputs->text()));
}

void AttachDialog::takeInputs()
{
    m_typing.stop();
    suggestExamples();
    findLabels();
    inputsChanged();
}

void AttachDialog::inputsChanged()
{
    showAvailability();
    const QFileInfo inputs(m_inputs->text());
    m_preprocess->setEnabled(inputs.isDir());
    m_rulesNote->setVisible(needsRules());
    if (m_rules)
        m_rules->setVisible(needsRules());
    if (needsRules())
        m_rules->setFolder(inputs.filePath());
    fit();
}

bool AttachDialog::needsRules() const
{
    return m_rules && QFileInfo(m_inputs->text()).isDir() && m_preprocess->text().isEmpty()
        && !QFileInfo::exists(usualRules(*m_model));
}

void AttachDialog::drawInputs()
{
    const auto file = drawInputsFor(*m_model);
    if (file.ok()) {
        m_preprocess->clear();
        m_labels->clear();
        m_targets->clear();
        m_inputs->setText(file.value());
    }
    m_drawnNote->setText(file.ok() ? drawnInputsMeaning() : widgets::plain(file.error().message()));
    m_drawnNote->show();
    fit();
}

void AttachDialog::findLabels()
{
    if (QFileInfo(m_inputs->text()).isDir() && m_labels->text().isEmpty())
        m_labels->setText(labelsOf(m_inputs->text()));
}

void AttachDialog::accept()
{
    if (m_typing.isActive()) {
        takeInputs();
        if (needsRules())
            return; // which nobody has seen yet
    }
    if (needsRules()) {
        const QString usual = usualRules(*m_model);
        const bool isBeside = QFileInfo(QFileInfo(usual).absolutePath()).isWritable();
        m_writtenRules = isBeside ? usual : m_inputs->text() + QStringLiteral("/preprocess.json");
        const auto written = io::writePreprocess(m_rules->rules(), widgets::pathBytes(m_writtenRules));
        if (!written.ok()) {
            QMessageBox::warning(this, windowTitle(), widgets::plain(written.error().message()));
            return;
        }
    }
    QDialog::accept();
}

walks::ExampleOptions AttachDialog::options() const
{
    walks::ExampleOptions options;
    options.inputs = widgets::pathBytes(m_inputs->text());
    options.preprocess = m_preprocess->isEnabled() ? widgets::pathBytes(m_preprocess->text()) : std::string();
    if (options.preprocess.empty())
        options.preprocess = widgets::pathBytes(m_writtenRules);
    options.labels = widgets::pathBytes(m_labels->text());
    options.targets = widgets::pathBytes(m_targets->text());
    if (m_metric->currentIndex() > 0)
        options.metric = static_cast<tasks::Metric>(m_metric->currentData().toInt());
    options.examples = static_cast<std::size_t>(m_examples->value());
    return options;
}

} // namespace halftone::app

#include "widgets/calibration/threshold_bar.h"

#include "widgets/calibration/method_choices.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/formatters.h"
#include "widgets/common/number_field.h"
#include "widgets/common/short_names.h"
#include "widgets/common/wrap_layout.h"
#include "widgets/models/threshold_editor.h"
#include "widgets/models/threshold_words.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include <algorithm>

namespace halftone::widgets {
namespace {

/// Rows of the method's choice behind the methods.
constexpr int kByHand = static_cast<int>(kThresholdMethods.size());
constexpr int kAsPolicy = kByHand + 1;
constexpr int kUsualName = 30; ///< characters that are shown whole
constexpr int kLongestMend = 32; ///< characters: names may be of any length
constexpr int kLongestLowMend = 12;

} // namespace

ThresholdBar::ThresholdBar(DocumentController *controller, ThresholdEditor *editor, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_editor(editor)
{
    build();
    connect(editor, &ThresholdEditor::tensorChanged, this, &ThresholdBar::showTensor);
    connect(editor, &ThresholdEditor::moved, this, &ThresholdBar::showMoved);
    connect(editor, &ThresholdEditor::chosenChanged, this, &ThresholdBar::showMoved);
    connect(controller, &DocumentController::snapshotChanged, this, [this] {
        showErrors();
        showAdvice();
        showEffect();
    });
    connect(controller, &DocumentController::edited, this, &ThresholdBar::showErrors);
    connect(controller, &DocumentController::figuresChanged, this, &ThresholdBar::showErrors);
    showTensor();
}

void ThresholdBar::build()
{
    m_name = new ElidedLabel(this, ElidedLabel::Holds::Name);
    QFont bold = font();
    bold.setBold(true);
    m_name->setFont(bold);
    m_method = new ChoiceBox(this);
    m_method->setAccessibleName(tr("Method of this tensor"));
    addMethods(*m_method);
    m_method->addItem(tr("by hand"));
    m_method->addItem(tr("default"));
    m_method->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_value = new NumberField(this);
    m_value->setAccessibleName(tr("Threshold"));
    m_value->findChild<QLineEdit *>()->setAccessibleName(tr("Threshold"));
    m_value->setToolTip(tr("Largest value that int8 can represent"));
    m_value->setKeyboardTracking(false);
    m_value->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_value->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_value->setAlignment(Qt::AlignRight);
    m_value->setFixedWidth(15 * fontMetrics().averageCharWidth());
    m_effect = new ElidedLabel(this);
    m_effect->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    m_effect->setAccessibleName(tr("Effect of the edit"));
    m_effect->setForegroundRole(QPalette::PlaceholderText);
    m_errors = new ElidedLabel(this);
    m_errors->setSizePolicy(QSizePolicy::Preferred,
                            QSizePolicy::Preferred); // as wide as its text where there is room
    m_errors->setAccessibleName(tr("SQNR of this layer and of the output"));
    m_errors->setTextFormat(Qt::PlainText);
    m_errors->setContentsMargins(8, 0, 4, 0);
    m_mend = new QPushButton(this);
    connect(m_mend, &QPushButton::clicked, this, &ThresholdBar::takeAdvice);

    connect(m_method, &QComboBox::activated, this, &ThresholdBar::chooseMethod);
    connect(m_value, &QDoubleSpinBox::editingFinished, this, &ThresholdBar::takeValue);

    auto *const row = new WrapLayout(this);
    row->setSpacing(4);
    row->setContentsMargins(4, 4, 4, 0);
    row->addWidget(m_name);
    row->addWidget(m_effect);
    row->addWidget(m_mend);
    row->addWidget(m_errors);
    row->addWidget(m_method);
    row->addWidget(m_value);
}

void ThresholdBar::takeValue()
{
    // What is shown is rounded: leaving it is no edit.
    const bool isTyped = m_value->text() != m_value->textFromValue(m_editor->value());
    if (m_value->value() > 0 && isTyped)
        m_editor->setByHand(m_value->value());
    else
        showMoved();
}

void ThresholdBar::showTensor()
{
    const auto *const tensor = m_editor->tensor();
    m_name->setText(tensor ? plain(tensor->name) : tr("no tensor selected"));
    m_name->setMinimumWidth(std::min(QFontMetrics(m_name->font()).horizontalAdvance(m_name->text()),
                                     kUsualName * fontMetrics().averageCharWidth()));
    const bool canChoose = tensor && !tensor->isParameter && tensor->statistics.absMax > 0;
    m_method->setEnabled(canChoose);
    m_value->setEnabled(canChoose);
    m_method->setToolTip(tensor && tensor->isParameter
                             ? tr("Parameters are scaled by their largest magnitude")
                             : tr("Threshold method of this tensor"));
    showMoved();
    showErrors();
    showAdvice();
    showEffect();
}

/// Before anything is edited: a threshold that nobody uses changes no figure.
void ThresholdBar::showEffect()
{
    const QString why = m_method->isEnabled() ? m_editor->whyWithoutEffect() : QString();
    m_effect->setText(why.isEmpty() ? QString() : tr("no effect now: %1").arg(why));
    showTelling();
}

void ThresholdBar::setLow(bool isLow)
{
    m_isLow = isLow;
    showAdvice();
    showTelling();
}

void ThresholdBar::showTelling()
{
    m_effect->setVisible(!m_isLow && !m_effect->text().isEmpty());
    m_errors->setVisible(!m_isLow);
    QStringList lines{m_name->text()};
    if (m_isLow)
        lines << m_errors->text() << m_effect->text();
    lines.removeAll(QString());
    m_name->setToolTip(lines.join(QLatin1Char('\n')));
}

QString ThresholdBar::effectText() const
{
    return m_effect->text();
}

void ThresholdBar::showMoved()
{
    const auto *const tensor = m_editor->tensor();
    const policy::ThresholdChoice choice = m_editor->choice();
    int row = kAsPolicy;
    if (m_editor->isMoving() || choice.value)
        row = kByHand;
    else if (m_editor->isOwnChoice())
        row = static_cast<int>(std::ranges::find(kThresholdMethods, choice.method)
                               - kThresholdMethods.begin());
    const policy::Policy *const policy = m_editor->policy();
    const auto usual
        = policy && policy->thresholdMethod ? *policy->thresholdMethod : policy::kDefaultThresholdMethod;
    m_method->setItemText(kAsPolicy, tr("default (%1)").arg(methodText(usual)));
    m_method->setCurrentIndex(tensor && tensor->isParameter ? 0 : row);
    if (!tensor)
        m_method->setCurrentIndex(-1);
    const QSignalBlocker blocker(m_value);
    m_value->setValue(m_editor->value());
}

void ThresholdBar::chooseMethod(int index)
{
    if (index == kByHand)
        m_editor->setByHand(m_editor->value());
    else if (index == kAsPolicy)
        m_editor->setMethod(std::nullopt);
    else
        m_editor->setMethod(kThresholdMethods[static_cast<std::size_t>(index)]);
    showMoved();
}

QString ThresholdBar::errorText() const
{
    return m_errors->text();
}

bool ThresholdBar::isErrorStale() const
{
    const auto &snapshot = m_controller->snapshot();
    return snapshot && m_controller->document()
        && (m_controller->figures().comparisonRevision != snapshot->revision
            || m_controller->document()->revision() != snapshot->revision);
}

void ThresholdBar::showErrors()
{
    const session::Figures &figures = m_controller->figures();
    const auto *const tensor = m_editor->tensor();
    const auto node = tensor ? m_editor->nodeOf(*tensor) : std::nullopt;
    QStringList parts;
    const auto add = [&parts](const QString &of, const tensor::ErrorFigures &error) {
        const QString value = decibels(error.sqnrDb);
        parts << (value == QLatin1String("failed") ? tr("%1 failed").arg(of) : tr("%1 %2 dB").arg(of, value));
    };
    if (figures.comparison && node && *node < figures.nodes.size()) {
        if (figures.nodes[*node].cumulative)
            add(tr("layer"), *figures.nodes[*node].cumulative);
        for (const compare::OutputErrors &output : figures.comparison->comparison.outputs) {
            add(tr("output"), output.figures);
            break; // the first one is what is scored
        }
    }
    m_errors->setText(parts.join(QStringLiteral(" \u00b7 ")));
    m_errors->setToolTip(tr("SQNR of this layer and of the first output after conversion; dimmed until the "
                            "latest edit has been compared"));
    showTelling();
    m_errors->setForegroundRole(isErrorStale() ? QPalette::PlaceholderText : QPalette::WindowText);
}

void ThresholdBar::showAdvice()
{
    const auto &snapshot = m_controller->snapshot();
    if (m_advised != snapshot || m_advisedOn != m_editor->calibration()) {
        m_advised = snapshot;
        m_advisedOn = m_editor->calibration();
        m_allAdvice = m_advised && m_advisedOn ? session::adviceFor(*m_advised, *m_advisedOn)
                                               : std::vector<session::TensorAdvice>();
    }
    const auto found = std::ranges::find(m_allAdvice, m_editor->index(), &session::TensorAdvice::tensor);
    m_advice = found == m_allAdvice.end() ? nullptr : &*found;
    m_mend->setVisible(m_advice != nullptr);
    if (!m_advice)
        return;
    m_mend->setText(cutInMiddle(plain((m_advice->isHard ? "\u26a0 " : "") + m_advice->action),
                                (m_isLow ? kLongestLowMend : kLongestMend) * fontMetrics().averageCharWidth(),
                                fontMetrics()));
    m_mend->setToolTip(plain(m_advice->action + '\n' + m_advice->text));
    m_mend->setAccessibleDescription(m_mend->toolTip());
}

QString ThresholdBar::adviceText() const
{
    return m_advice ? plain(m_advice->text) : QString();
}

void ThresholdBar::takeAdvice()
{
    if (m_advice)
        m_controller->apply(policy::Edit(m_advice->edit)); // a copy: the advice is replaced
}

} // namespace halftone::widgets

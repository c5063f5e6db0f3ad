#include "widgets/oplists/conditions_dialog.h"

#include "core/dialect/dialect.h"
#include "core/policy/condition_check.h"
#include "widgets/common/formatters.h"
#include "widgets/oplists/condition_row.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace halftone::widgets {

ConditionsDialog::ConditionsDialog(const dialect::Dialect &dialect, const std::string &op, const Rules &rules,
                                   Preview preview, QWidget *parent)
    : QDialog(parent)
    , m_op(op)
    , m_dialect(dialect)
    , m_info(dialect.findOp(op))
    , m_preview(std::move(preview))
    , m_hadNone(rules.empty())
    , m_rowsLayout(new QVBoxLayout)
    , m_message(new QLabel(this))
    , m_add(new QPushButton(tr("Add Condition"), this))
{
    setWindowTitle(tr("Conditions for %1").arg(plain(op)));
    auto *const explanation = new QLabel(tr("%1 stays in fp32 where one of these conditions holds. Elsewhere "
                                            "it computes in the type of its inputs.")
                                             .arg(plain(op)),
                                         this);
    explanation->setWordWrap(true);
    m_message->setWordWrap(true);
    m_message->setMinimumHeight(2 * fontMetrics().lineSpacing());
    m_message->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_add->setAutoDefault(false);
    auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_ok = buttons->button(QDialogButtonBox::Ok);

    auto *const layout = new QVBoxLayout(this);
    layout->addWidget(explanation);
    layout->addLayout(m_rowsLayout);
    layout->addWidget(m_add, 0, Qt::AlignLeft);
    layout->addStretch();
    layout->addWidget(m_message);
    layout->addWidget(buttons);
    setMinimumWidth(76 * fontMetrics().averageCharWidth());

    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow({m_op, {}, {}});
        m_rows.back()->focusFirst();
    });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (const policy::ConditionalRule &rule : rules)
        addRow(rule);
    if (rules.empty())
        addRow({m_op, {}, {}});
    m_rows.front()->focusFirst();
    check();
}

void ConditionsDialog::addRow(const policy::ConditionalRule &rule)
{
    auto *const row = new ConditionRow(m_info, rule, this);
    row->placeInTabOrder(m_rows.empty() ? nullptr : m_rows.back(), m_add);
    m_rows.push_back(row);
    m_rowsLayout->addWidget(row);
    connect(row, &ConditionRow::changed, this, &ConditionsDialog::check);
    connect(row, &ConditionRow::removeRequested, this, [this, row] { removeRow(row); });
    check();
}

void ConditionsDialog::removeRow(ConditionRow *row)
{
    std::erase(m_rows, row);
    row->hide();
    row->deleteLater();
    check();
}

ConditionsDialog::Rules ConditionsDialog::rules() const
{
    Rules rules;
    for (const ConditionRow *row : m_rows) {
        policy::ConditionalRule rule = row->rule();
        if (!rule.values.empty())
            rules.push_back(std::move(rule));
    }
    return rules;
}

/// Says what is wrong, or else what the rules would do.
void ConditionsDialog::check()
{
    const Rules now = rules();
    QString wrong;
    QString doubtful;
    for (const policy::ConditionalRule &rule : now) {
        std::vector<policy::Warning> warnings;
        if (!m_info)
            continue;
        if (const auto possible = policy::checkCondition(m_dialect, *m_info, rule, rule.attribute, warnings);
            !possible.ok())
            wrong = plain(possible.error().message());
        if (!warnings.empty())
            doubtful = plain(warnings.front().text);
    }
    const bool isNothing = now.empty() && m_hadNone;
    m_ok->setEnabled(wrong.isEmpty() && !isNothing);
    m_ok->setText(now.empty() && !m_hadNone ? tr("Remove Conditions") : tr("Apply"));
    m_message->setText(!wrong.isEmpty() ? wrong
                           : isNothing  ? tr("Select an attribute and enter the values for which "
                                              "%1 stays in fp32.")
                                             .arg(plain(m_op))
                                       : doubtful);
    if (wrong.isEmpty() && !isNothing && doubtful.isEmpty() && m_preview)
        m_preview(now, [dialog = QPointer(this), now](const QString &text) {
            if (dialog && dialog->rules() == now)
                dialog->m_message->setText(text);
        });
}

} // namespace halftone::widgets

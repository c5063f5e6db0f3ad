#include "widgets/oplists/condition_row.h"

#include "core/dialect/op_info.h"
#include "widgets/common/formatters.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

namespace halftone::widgets {
namespace {

using dialect::AttributeSpec;
using dialect::AttributeType;

QStringList valuesIn(const QString &text)
{
    QStringList values;
    for (const QString &value : text.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
        if (!value.trimmed().isEmpty())
            values << value.trimmed();
    }
    return values;
}

QStringList knownValues(const AttributeSpec &spec)
{
    QStringList values;
    for (const std::string &value : spec.values)
        values << exact(value);
    if (spec.type == AttributeType::Boolean)
        values << QStringLiteral("True") << QStringLiteral("False");
    if (spec.nullable && !values.isEmpty())
        values << QStringLiteral("None");
    return values;
}

QString formOf(const AttributeSpec &spec)
{
    switch (spec.type) {
    case AttributeType::Integer:
        return QStringLiteral("integers, such as 1; 2");
    case AttributeType::Real:
        return QStringLiteral("numbers, such as 0.5; 1");
    case AttributeType::Tuple:
    case AttributeType::RealTuple:
        return QStringLiteral("tuples, such as (1, 1); (3, 3)");
    case AttributeType::Enum:
    case AttributeType::Boolean:
        return QStringLiteral("values, separated by semicolons");
    case AttributeType::Text:
        break;
    }
    return QStringLiteral("strings, separated by semicolons");
}

} // namespace

ConditionRow::ConditionRow(const dialect::OpInfo *info, const policy::ConditionalRule &rule, QWidget *parent)
    : QWidget(parent)
    , m_info(info)
    , m_op(rule.op)
    , m_attribute(new QComboBox(this))
    , m_values(new QLineEdit(this))
    , m_offer(new QToolButton(this))
    , m_remove(new QToolButton(this))
{
    m_remove->setText(QString(QChar(0x2715)));
    m_remove->setAutoRaise(true);
    m_remove->setToolTip(tr("Remove this condition"));
    m_remove->setAccessibleName(tr("Remove this condition"));
    m_attribute->setAccessibleName(tr("Attribute"));
    m_values->setAccessibleName(tr("Values"));
    m_offer->setText(tr("Values"));
    m_offer->setPopupMode(QToolButton::InstantPopup);
    m_offer->setToolTip(tr("Possible values of this attribute"));
    m_offer->setMenu(new QMenu(m_offer));

    if (info) {
        for (const AttributeSpec &spec : info->attributes)
            m_attribute->addItem(exact(spec.name));
    }
    m_attribute->setEditable(!info || info->takesAnyAttribute);
    int at = m_attribute->findText(exact(rule.attribute));
    if (at < 0
        && !rule.attribute
                .empty()) { // one that the operator has not: it is told, and not replaced by another
        m_attribute->addItem(exact(rule.attribute));
        at = m_attribute->count() - 1;
    }
    if (at >= 0)
        m_attribute->setCurrentIndex(at);
    QStringList values;
    for (const std::string &value : rule.values)
        values << exact(value);
    m_values->setText(values.join(QStringLiteral("; ")));

    auto *const layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_attribute, 2);
    layout->addWidget(new QLabel(QStringLiteral("="), this));
    layout->addWidget(m_values, 3);
    layout->addWidget(m_offer);
    layout->addWidget(m_remove);

    offerValues();
    connect(m_attribute, &QComboBox::currentTextChanged, this, [this] {
        offerValues();
        Q_EMIT changed();
    });
    connect(m_values, &QLineEdit::textChanged, this, &ConditionRow::changed);
    connect(m_remove, &QToolButton::clicked, this, &ConditionRow::removeRequested);
}

policy::ConditionalRule ConditionRow::rule() const
{
    policy::ConditionalRule rule{m_op, m_attribute->currentText().toStdString(), {}};
    for (const QString &value : valuesIn(m_values->text()))
        rule.values.push_back(value.toStdString());
    return rule;
}

void ConditionRow::focusFirst()
{
    (m_values->text().isEmpty() ? static_cast<QWidget *>(m_attribute) : m_values)->setFocus();
}

void ConditionRow::placeInTabOrder(const ConditionRow *before, QWidget *after)
{
    if (before)
        setTabOrder(before->m_remove, m_attribute);
    setTabOrder(m_attribute, m_values);
    setTabOrder(m_values, m_offer);
    setTabOrder(m_offer, m_remove);
    setTabOrder(m_remove, after);
}

void ConditionRow::offerValues()
{
    const AttributeSpec *const spec
        = m_info ? m_info->attribute(m_attribute->currentText().toStdString()) : nullptr;
    m_values->setPlaceholderText(spec ? formOf(*spec) : QString());
    QMenu *const menu = m_offer->menu();
    menu->clear();
    const QStringList known = spec ? knownValues(*spec) : QStringList();
    m_offer->setEnabled(!known.isEmpty());
    const QStringList chosen = valuesIn(m_values->text());
    for (const QString &value : known) {
        QAction *const action = menu->addAction(value);
        action->setCheckable(true);
        action->setChecked(chosen.contains(value));
        connect(action, &QAction::toggled, this, [this, value](bool on) { toggleValue(value, on); });
    }
}

void ConditionRow::toggleValue(const QString &value, bool on)
{
    QStringList values = valuesIn(m_values->text());
    values.removeAll(value);
    if (on)
        values << value;
    m_values->setText(values.join(QStringLiteral("; ")));
}

} // namespace halftone::widgets

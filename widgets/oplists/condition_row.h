#pragma once

#include "core/policy/policy.h"

#include <QWidget>

class QComboBox;
class QLineEdit;
class QToolButton;

namespace halftone::dialect {
struct OpInfo;
}

namespace halftone::widgets {

/// One rule: an attribute and the values that it may have. Values are separated by "; " since tuples hold commas.
class ConditionRow : public QWidget
{
    Q_OBJECT

public:
    /// `info` may be null: then any attribute can be written.
    ConditionRow(const dialect::OpInfo *info, const policy::ConditionalRule &rule, QWidget *parent = nullptr);

    policy::ConditionalRule rule() const;

    void focusFirst(); ///< to the values of a rule that says some, else to the attribute
    /// The order of Tab: `before` (null: nothing), this row, `after`.
    void placeInTabOrder(const ConditionRow *before, QWidget *after);

Q_SIGNALS:
    void changed();
    void removeRequested();

private:
    void offerValues();
    void toggleValue(const QString &value, bool on);

    const dialect::OpInfo *m_info;
    std::string m_op;
    QComboBox *m_attribute;
    QLineEdit *m_values;
    QToolButton *m_offer;
    QToolButton *m_remove;
};

} // namespace halftone::widgets

#pragma once

#include "core/policy/policy.h"

#include <QDialog>

#include <functional>
#include <string>
#include <vector>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace halftone::dialect {
class Dialect;
struct OpInfo;
} // namespace halftone::dialect

namespace halftone::widgets {

class ConditionRow;

/// Edits the conditional rules of one operator: in fp32 where an attribute has one of the values. Attributes and, where
/// they are few, values are offered; what cannot be is said at once.
class ConditionsDialog : public QDialog
{
    Q_OBJECT

public:
    using Rules = std::vector<policy::ConditionalRule>;

    using Show = std::function<void(const QString &)>;
    /// Shows what these rules would do, as a line for the person, as soon as that is known.
    using Preview = std::function<void(const Rules &, const Show &)>;

    ConditionsDialog(const dialect::Dialect &dialect, const std::string &op, const Rules &rules,
                     Preview preview, QWidget *parent = nullptr);

    Rules rules() const; ///< those that name a value

    void addRow(const policy::ConditionalRule &rule);

private:
    void removeRow(ConditionRow *row);
    void check();

    std::string m_op;
    const dialect::Dialect &m_dialect;
    const dialect::OpInfo *m_info;
    Preview m_preview;
    std::vector<ConditionRow *> m_rows;
    bool m_hadNone; ///< when it was opened
    QVBoxLayout *m_rowsLayout;
    QLabel *m_message;
    QPushButton *m_add;
    QPushButton *m_ok;
};

} // namespace halftone::widgets

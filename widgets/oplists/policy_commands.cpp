#include "widgets/oplists/policy_commands.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "widgets/common/formatters.h"
#include "widgets/oplists/pattern_dialog.h"
#include "widgets/oplists/policy_dialogs.h"
#include "widgets/oplists/python_call.h"

#include <QClipboard>
#include <QGuiApplication>

namespace halftone::widgets {

PolicyCommands::PolicyCommands(DocumentController *controller, QWidget *window)
    : QObject(window)
    , m_controller(controller)
    , m_window(window)
{
}

void PolicyCommands::editByPattern()
{
    if (!m_controller->snapshot())
        return;
    auto *const dialog = new PatternDialog(m_controller, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (const auto edit = dialog->edit())
            m_controller->apply(*edit);
    });
    dialog->open();
}

void PolicyCommands::copyCall()
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    const QString call = pythonCall(*snapshot);
    if (call.isEmpty()) {
        Q_EMIT said(tr("There is no Python converter for models of this format."));
        return;
    }
    QGuiApplication::clipboard()->setText(call);
    Q_EMIT said(tr("Copied a Python program that converts the model with these lists."));
}

void PolicyCommands::loadPolicy()
{
    askForPolicy(m_window, [this](const QString &name, Result<policy::Policy> read) {
        if (read.ok())
            m_controller->apply(
                policy::ReplacePolicy{std::move(read).value(), tr("Load %1").arg(name).toStdString()});
        else
            Q_EMIT said(plain(read.error().message()));
    });
}

void PolicyCommands::importLists()
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    const dialect::Dialect &dialect = dialect::of(snapshot->graph());
    if (!dialect.hasForeignLists()) {
        Q_EMIT said(tr("Lists of other converters do not name the operators of %1 models.")
                        .arg(plain(std::string(dialect.title()))));
        return;
    }
    askForLists(m_window, dialect, [this](const QString &name, Result<policy::ImportedLists> read) {
        if (!read.ok()) {
            Q_EMIT said(plain(read.error().message()));
            return;
        }
        policy::ImportedLists lists = std::move(read).value();
        m_controller->apply(
            policy::ReplacePolicy{std::move(lists.policy), tr("Import %1").arg(name).toStdString()});
        // Most lists name operators that a model does not have. What is more than a line is in Messages.
        if (!lists.unmatched.empty())
            Q_EMIT noted(tr("%1: no operator matches %2").arg(name, plain(joined(lists.unmatched, 20))));
        for (const std::string &note : lists.notes)
            Q_EMIT noted(tr("%1: %2").arg(name, plain(note)));
        if (lists.notes.size() == 1)
            Q_EMIT said(plain(lists.notes.front()) + QLatin1Char('.'));
        else if (!lists.notes.empty())
            Q_EMIT said(tr("%1. %2 more notes are in Messages.")
                            .arg(plain(lists.notes.front()))
                            .arg(lists.notes.size() - 1));
    });
}

void PolicyCommands::savePolicy()
{
    if (m_controller->document())
        askWhereToSave(m_window, m_controller->document()->policy(),
                       [this](const QString &text) { Q_EMIT said(text); });
}

void PolicyCommands::resetLists()
{
    if (!m_controller->document())
        return;
    // What is not about lists stays: mode, types of inputs, how parameters are stored.
    policy::Policy reset = m_controller->document()->policy();
    reset.targetOps.reset();
    reset.fp32Ops.reset();
    reset.widestOps.reset();
    reset.conditionalOps.reset();
    reset.excludedNames.clear();
    reset.moves.clear();
    reset.addedConditions.clear();
    reset.nodeOverrides.clear();
    reset.int8Ops.reset();
    m_controller->apply(policy::ReplacePolicy{std::move(reset), tr("Reset Lists").toStdString()});
}

} // namespace halftone::widgets

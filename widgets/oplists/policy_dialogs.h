#pragma once

#include "core/base/result.h"
#include "core/policy/import_lists.h"
#include "core/policy/policy.h"

#include <QString>

#include <functional>

class QWidget;

/// Asking for a policy's file; the answers come later, and not at all when the person gives up.
namespace halftone::widgets {

void askForPolicy(QWidget *parent, std::function<void(const QString &name, Result<policy::Policy>)> deliver);

/// `said`: a line for the person, that it is saved or why not.
void askWhereToSave(QWidget *parent, const policy::Policy &policy, std::function<void(const QString &)> said);

/// Lists of another program, which the chosen kind of file names.
void askForLists(QWidget *parent, const dialect::Dialect &dialect,
                 std::function<void(const QString &name, Result<policy::ImportedLists>)> deliver);

/// fails: what the file system and policy::importLists() say, with the file's name.
Result<policy::ImportedLists> readListsFile(const QString &path, policy::ListOrigin origin,
                                            const dialect::Dialect &dialect);

/// fails: what the file system and policy::readPolicy() say, with the file's name.
Result<policy::Policy> readPolicyFile(const QString &path);

} // namespace halftone::widgets

#pragma once

#include "core/base/result.h"

#include <QString>

#include <string>
#include <vector>

namespace halftone::widgets {

/// "Find: conv · op = Conv · …": `begin` and the examples of session::nodeQueryExamples(), for an empty field.
QString withQueryExamples(const QString &begin);

/// How to ask, in a line or two; in the tool tip with all that can be asked.
QString queryHelp();
QString queryToolTip();

/// What is wrong with a query, wherever it was typed.
QString queryFault(const Error &error);

/// What session::findNodes() notes, one sentence after the other.
QString joinedNotes(const std::vector<std::string> &notes);

} // namespace halftone::widgets

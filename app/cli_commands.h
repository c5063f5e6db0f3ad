#pragma once

#include "core/base/result.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <stop_token>

namespace halftone::cli {

/// What the chosen command will do once the line is parsed.
using Action = std::function<Result<void>(std::stop_token)>;

/// Each adds its command to `app`; parsing a line that names it sets `chosen`.
void addInfo(CLI::App &app, Action &chosen);
void addLists(CLI::App &app, Action &chosen);
void addConvert(CLI::App &app, Action &chosen);
void addRewrite(CLI::App &app, Action &chosen);
void addRun(CLI::App &app, Action &chosen);
void addProfile(CLI::App &app, Action &chosen);
void addCompare(CLI::App &app, Action &chosen);
void addCalibrate(CLI::App &app, Action &chosen);
void addQuantize(CLI::App &app, Action &chosen);
void addLayout(CLI::App &app, Action &chosen);
void addReport(CLI::App &app, Action &chosen);
void addBackends(CLI::App &app, Action &chosen);

} // namespace halftone::cli

#pragma once

#include "app/cli/parser.h"
#include "core/base/result.h"

#include <functional>
#include <stop_token>

namespace halftone::cli {

/// What the chosen command will do once the line is parsed.
using Action = std::function<Result<void>(std::stop_token)>;

/// Each adds its command to `app`; parsing a line that names it sets `chosen`.
void addInfo(Parser &app, Action &chosen);
void addLists(Parser &app, Action &chosen);
void addConvert(Parser &app, Action &chosen);
void addRewrite(Parser &app, Action &chosen);
void addRun(Parser &app, Action &chosen);
void addProfile(Parser &app, Action &chosen);
void addCompare(Parser &app, Action &chosen);
void addCalibrate(Parser &app, Action &chosen);
void addMerge(Parser &app, Action &chosen);
void addQuantize(Parser &app, Action &chosen);
void addLayout(Parser &app, Action &chosen);
void addVerify(Parser &app, Action &chosen);
void addPolicy(Parser &app, Action &chosen);
void addReport(Parser &app, Action &chosen);
void addBackends(Parser &app, Action &chosen);
void addHardware(Parser &app, Action &chosen);
void addTune(Parser &app, Action &chosen);
void addMcp(Parser &app, Action &chosen); ///< `app` must outlive `chosen`
void addCompletion(Parser &app, Action &chosen); ///< `app` must outlive `chosen`

} // namespace halftone::cli

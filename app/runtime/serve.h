#pragma once

#include "app/runtime/engine.h"

namespace halftone::served {

/// Answers requests (core/runtimes/message.h) that come through a channel until it is closed.
/// channel  a socket, for both directions
void serve(Engine &engine, int channel);

/// Answers one request with this error, for a library that cannot be used.
void refuse(const Error &error, int channel);

/// Ends this process once the other end of the channel is closed, also while a call of the library hangs.
void endWithParent(int channel);

} // namespace halftone::served

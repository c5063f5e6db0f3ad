#pragma once

#include "core/base/json.h"
#include "core/base/result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// What this program and halftone-runtime say to each other over a pair of streams: a head in JSON and a body of bytes.
///
/// Requests, by `do`:
///   open    model (path), profile (bool), threads, provider, precision -> inputs [name], outputs [count], version, device
///   run     inputs [{name, dtype, dims, bytes}], body: their values one after another -> ms, outputs [{dtype, dims, bytes}], body
///   time    inputs as in run, runs -> body: the runtime's own record of the runs, in a form of its own
///   providers -> names
/// Answers have `error` instead where the runtime refuses, in its own words.
namespace halftone::runtimes {

struct Message
{
    OrderedJson head = OrderedJson::object();
    std::vector<std::byte> body{};
};

/// Reads or writes so many bytes, or fails.
using ReadBytes = std::function<Result<void>(std::span<std::byte>)>;
using WriteBytes = std::function<Result<void>(std::span<const std::byte>)>;

/// fails: errors of `read`; BadInput for what is no message
Result<Message> readMessage(const ReadBytes &read);
/// The body in pieces, so that none of them has to be copied. fails: errors of `write`
Result<void> writeMessage(const OrderedJson &head, std::span<const std::span<const std::byte>> body,
                          const WriteBytes &write);

// Fields of a head; of another type than the one that is asked for, they are as if they were missing.
std::string textOf(const OrderedJson &head, const char *key);
std::int64_t numberOf(const OrderedJson &head, const char *key);

} // namespace halftone::runtimes

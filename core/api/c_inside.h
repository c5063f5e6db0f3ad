#pragma once

#include "core/api/inside.h"

#include "halftone/c.h"
#include "halftone/quantize.h"

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Between the C interface and the C++ one.

struct ht_model
{
    halftone::api::Model model;
};

struct ht_data
{
    halftone::api::Data data;
};

struct ht_runner
{
    halftone::api::Prepared prepared;
};

struct ht_values
{
    std::vector<halftone::api::Array> owned;
    std::vector<std::string> types;
    std::vector<ht_array> arrays; ///< point into those
};

struct ht_conversion
{
    std::variant<halftone::api::Conversion, halftone::api::Quantization> made;
};

struct ht_calibration
{
    halftone::api::Calibration calibration;
};

struct ht_front
{
    halftone::api::Front front;
};

namespace halftone::api::c {

/// Success, or an error.
using Done = Result<std::monostate>;

inline Error badSetting(std::string setting, std::string found, std::string expected)
{
    const std::string message = setting + ": " + found + (expected.empty() ? "" : ", expected " + expected);
    return {ErrorKind::BadCall, {}, std::move(setting), {}, std::move(found), std::move(expected), message};
}

/// The kind of `failure`, written to `error` as a record; of none HT_OK. Throws nothing.
ht_kind tell(const Error *failure, ht_error **error) noexcept;

void freeError(ht_error *error) noexcept;

/// Calls `work`, which gives a Done, and tells how it went.
template <class F>
ht_kind call(ht_error **error, F &&work) noexcept
{
    try {
        const Done done = std::forward<F>(work)();
        return tell(done.ok() ? nullptr : &done.error(), error);
    } catch (...) {
        const auto failure = guarded([]() -> halftone::Result<Error> { return errorOf(currentFailure()); });
        return tell(failure.ok() ? &failure.value() : nullptr, error);
    }
}

/// A copy for ht_free(); throws std::bad_alloc.
char *copyOf(const std::string &text);

/// Sets *to to a copy. to  null: nobody wants it
inline Done give(const std::string &text, char **to)
{
    if (to != nullptr)
        *to = copyOf(text);
    return std::monostate();
}

inline std::string textOf(const char *text)
{
    return text != nullptr ? text : "";
}

/// A callback as Progress, called at most every 20 ms.
class Follower
{
public:
    Follower(ht_progress report, void *user);
    const Progress &progress() const { return m_progress; }

private:
    std::stop_source m_stop;
    Progress m_progress;
};

/// Borrows the elements. fails: BadInput for an unknown type, a missing name or shape
Result<std::vector<Array>> arraysOf(const ht_array *arrays, std::size_t count);

ht_values *valuesOf(std::vector<Array> arrays);

/// Unless a handle is null. name  of the argument
inline Done present(const void *handle, const char *name)
{
    return handle != nullptr ? Done(std::monostate()) : badSetting(name, "NULL", "a value");
}

} // namespace halftone::api::c

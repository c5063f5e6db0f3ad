#include "core/api/c_inside.h"

#include "halftone/version.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace halftone::api::c {
namespace {

/// A record and the texts that it points to.
struct Record : ht_error
{
    Error error;

    explicit Record(const Error &failure)
        : ht_error()
        , error(failure)
    {
        kind = static_cast<ht_kind>(static_cast<int>(error.kind) + 1);
        message = error.message.c_str();
        file = error.file.c_str();
        setting = error.setting.c_str();
        place = error.place.c_str();
        found = error.found.c_str();
        expected = error.expected.c_str();
    }
};
static_assert(static_cast<int>(ErrorKind::BadInput) + 1 == HT_BAD_INPUT);
static_assert(static_cast<int>(ErrorKind::Cancelled) + 1 == HT_CANCELLED);

/// What is told where there is no memory for a record.
ht_error s_noMemory{HT_NO_MEMORY, "not enough memory", "", "", "", "not enough memory", ""};

} // namespace

ht_kind tell(const Error *failure, ht_error **error) noexcept
{
    if (error != nullptr)
        *error = nullptr;
    if (failure == nullptr)
        return HT_OK;
    const auto kind = static_cast<ht_kind>(static_cast<int>(failure->kind) + 1);
    if (error == nullptr)
        return kind;
    try {
        *error = new Record(*failure);
        return kind;
    } catch (const std::bad_alloc &) {
        *error = &s_noMemory;
        return HT_NO_MEMORY;
    }
}

void freeError(ht_error *error) noexcept
{
    if (error != &s_noMemory)
        delete static_cast<Record *>(error);
}

char *copyOf(const std::string &text)
{
    auto *const copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (copy == nullptr)
        throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

Follower::Follower(ht_progress report, void *user)
{
    if (report == nullptr)
        return;
    m_progress.stop = m_stop.get_token();
    m_progress.report = [stop = m_stop, report, user, last = std::chrono::steady_clock::time_point()](
                            double share, std::string_view what) mutable {
        constexpr std::chrono::milliseconds kPace(20);
        const auto now = std::chrono::steady_clock::now();
        if (now - last < kPace && share < 1)
            return;
        last = now;
        if (report(share, std::string(what).c_str(), user) != 0)
            stop.request_stop();
    };
}

Result<std::vector<Array>> arraysOf(const ht_array *arrays, std::size_t count)
{
    std::vector<Array> all;
    if (arrays == nullptr && count > 0)
        return badSetting("arrays", "NULL", "arrays");
    for (std::size_t k = 0; k < count; ++k) {
        const ht_array &one = arrays[k];
        const Type type = typeNamed(textOf(one.type));
        const bool hasShape = one.rank >= 0 && (one.rank == 0 || one.shape != nullptr);
        if (one.name == nullptr || type == Type::Unknown || !hasShape
            || (one.data == nullptr && one.bytes > 0))
            return badSetting("arrays",
                              "array " + std::to_string(k) + " (" + textOf(one.name) + ", " + textOf(one.type)
                                  + ')',
                              "a name, a known type, a shape and elements");
        all.push_back({one.name,
                       type,
                       {one.shape, one.shape + one.rank},
                       {static_cast<const std::byte *>(one.data), one.bytes},
                       nullptr});
    }
    return all;
}

ht_values *valuesOf(std::vector<Array> arrays)
{
    auto values = std::make_unique<ht_values>();
    values->owned = std::move(arrays);
    values->types.reserve(values->owned.size());
    for (const Array &array : values->owned) {
        const std::string &type = values->types.emplace_back(nameOf(array.type));
        values->arrays.push_back({array.name.c_str(), type.c_str(),
                                  static_cast<std::int32_t>(array.shape.size()), array.shape.data(),
                                  array.bytes.data(), array.bytes.size()});
    }
    return values.release();
}

} // namespace halftone::api::c

const char *ht_version(void)
{
    return HALFTONE_VERSION;
}

void ht_free(void *memory)
{
    std::free(memory);
}

void ht_error_free(ht_error *error)
{
    halftone::api::c::freeError(error);
}

size_t ht_values_count(const ht_values *values)
{
    return values != nullptr ? values->arrays.size() : 0;
}

const ht_array *ht_values_array(const ht_values *values, size_t k)
{
    return values != nullptr && k < values->arrays.size() ? &values->arrays[k] : nullptr;
}

void ht_values_free(ht_values *values)
{
    delete values;
}

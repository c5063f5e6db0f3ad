#include "core/api/c_settings.h"

#include <memory>

namespace halftone::api::c {
namespace {

void readExamples(Settings &settings, Data &data)
{
    settings.readCount("examples", data.examples);
    settings.read("metric", data.metric);
    settings.read("next_token", data.nextToken);
}

/// Calls `release` when the last array is gone; not before it is armed.
struct Borrowed
{
    void (*release)(void *);
    void *user;
    bool isArmed = false;

    Borrowed(void (*toCall)(void *), void *with)
        : release(toCall)
        , user(with)
    {
    }
    Borrowed(const Borrowed &) = delete;
    Borrowed &operator=(const Borrowed &) = delete;
    ~Borrowed()
    {
        if (isArmed && release != nullptr)
            release(user);
    }
};

} // namespace
} // namespace halftone::api::c

using namespace halftone::api;
using namespace halftone::api::c;

ht_kind ht_data_open(const char *text, ht_data **data, ht_error **error)
{
    return call(error, [&]() -> Done {
        Settings settings(text);
        Data made;
        settings.read("inputs", made.inputs);
        settings.read("preprocess", made.preprocessing);
        settings.read("labels", made.labels);
        settings.read("targets", made.targets);
        readExamples(settings, made);
        HALFTONE_CHECK(settings.finish());
        if (made.inputs.empty())
            return badSetting("inputs", "missing", "an .npz file or a folder of pictures");
        *data = new ht_data{std::move(made)};
        return std::monostate();
    });
}

ht_kind ht_data_pull(ht_next next, void *user, const char *text, ht_data **data, ht_error **error)
{
    return call(error, [&]() -> Done {
        HALFTONE_CHECK(present(reinterpret_cast<const void *>(next), "next"));
        Settings settings(text);
        Data made;
        readExamples(settings, made);
        HALFTONE_CHECK(settings.finish());
        std::optional<Error> failure;
        const auto pull = [&]() -> std::vector<Array> {
            const ht_array *arrays = nullptr;
            std::size_t count = 0;
            const int found = next(&arrays, &count, user);
            if (found == 0)
                return {};
            if (found != 1) {
                failure = errorOf(halftone::cancelled());
                return {};
            }
            Result<std::vector<Array>> batch = arraysOf(arrays, count);
            if (!batch.ok())
                failure = batch.error();
            else if (count == 0)
                failure = badSetting("arrays", "a batch without arrays", "one for each input");
            return failure ? std::vector<Array>() : std::move(batch).value();
        };
        HALFTONE_TRY(made.inMemory, examplesOf(pull));
        if (failure)
            return *failure;
        *data = new ht_data{std::move(made)};
        return std::monostate();
    });
}

ht_kind ht_data_borrow(const ht_array *arrays, size_t count, const char *text, void (*release)(void *user),
                       void *user, ht_data **data, ht_error **error)
{
    return call(error, [&]() -> Done {
        Settings settings(text);
        Data made;
        readExamples(settings, made);
        HALFTONE_CHECK(settings.finish());
        HALFTONE_TRY(std::vector<Array> borrowed, arraysOf(arrays, count));
        const auto owner = std::make_shared<Borrowed>(release, user);
        for (Array &array : borrowed)
            array.owner = owner;
        HALFTONE_TRY(made.inMemory, examplesOf(std::move(borrowed)));
        *data = new ht_data{std::move(made)};
        owner->isArmed = true;
        return std::monostate();
    });
}

void ht_data_free(ht_data *data)
{
    delete data;
}

#include "core/runtimes/message.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace halftone::runtimes {
namespace {

constexpr std::uint64_t kMostHead = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostBody = std::uint64_t{1} << 40;

} // namespace

Result<Message> readMessage(const ReadBytes &read)
{
    std::array<std::uint64_t, 2> sizes{};
    HALFTONE_CHECK(read(std::as_writable_bytes(std::span(sizes))));
    if (sizes[0] > kMostHead || sizes[1] > kMostBody)
        return badInput("message",
                        "sizes of " + std::to_string(sizes[0]) + " and " + std::to_string(sizes[1]));
    std::string head(sizes[0], '\0');
    HALFTONE_CHECK(read(std::as_writable_bytes(std::span(head))));
    Message message;
    message.head = parseOrdered(head);
    if (!message.head.is_object())
        return badInput("message", "no JSON object");
    message.body.resize(sizes[1]);
    HALFTONE_CHECK(read(message.body));
    return message;
}

Result<void> writeMessage(const OrderedJson &head, std::span<const std::span<const std::byte>> body,
                          const WriteBytes &write)
{
    const std::string text = jsonText(head);
    std::array<std::uint64_t, 2> sizes{text.size(), 0};
    for (const std::span<const std::byte> part : body)
        sizes[1] += part.size();
    HALFTONE_CHECK(write(std::as_bytes(std::span(sizes))));
    HALFTONE_CHECK(write(std::as_bytes(std::span(text))));
    for (const std::span<const std::byte> part : body)
        HALFTONE_CHECK(write(part));
    return {};
}

std::string textOf(const OrderedJson &head, const char *key)
{
    const auto found = head.find(key);
    return found != head.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t numberOf(const OrderedJson &head, const char *key)
{
    const auto found = head.find(key);
    return found != head.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

} // namespace halftone::runtimes

#pragma once

namespace halftone {

/// The right to be told before anybody writes to a file (fcntl(2), F_SETLEASE): whoever opens it for writing, or cuts it, waits until
/// the lease is given back, at most as long as /proc/sys/fs/lease-break-time says (45 s).
namespace leases {

/// `onWriter` is called, on a thread of its own, whenever somebody waits for a leased file. Once for a process.
void begin(void (*onWriter)());

/// Leases a file that was opened for reading. false: begin() was not called, somebody has it open for writing, it belongs to
/// another user, or its file system has no leases that hold (that of a network, or in user space).
bool take(int file);
/// Does somebody wait for it?
bool isWanted(int file);
void giveBack(int file);

} // namespace leases
} // namespace halftone

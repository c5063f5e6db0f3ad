"""What the linker wrote into programs and libraries, as readelf tells it."""
import re
import struct
import subprocess

# Every system has these: they come with its libc and its compiler's runtime.
SYSTEM = {"ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libresolv.so.2",
          "libstdc++.so.6", "libgcc_s.so.1"}


def readelf(option, file):
    return subprocess.run(["readelf", "--wide", option, file], capture_output=True, text=True, check=True).stdout


def is_elf(file):
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", file))


def floor(file):
    """The newest glibc whose symbols it asks for, as (2, 27)."""
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", readelf("--version-info", file))
    return max(((int(major), int(minor)) for major, minor in versions), default=(2, 0))


# Functions of which glibc 2.29 has new versions, which only no longer look for _LIB_VERSION.
OLD_TOO = {"exp", "exp2", "log", "log2", "pow"}


def lower(file):
    """Lets a library take the versions of OLD_TOO that glibc has had since 2.2.5: what --wrap does where objects are linked (compat.c)."""
    new, old = "GLIBC_2.29", "GLIBC_2.2.5"
    names = set(re.findall(rf"(\w+)@{re.escape(new)}\b", readelf("--dyn-syms", file)))
    if not names:
        return
    if not names <= OLD_TOO:
        raise ValueError(f"{file}: asks for {', '.join(sorted(names - OLD_TOO))} of glibc 2.29")
    with open(file, "r+b") as opened:
        image = bytearray(opened.read())
        sections = re.findall(r"\[ *\d+\] (\.\S+)\s+\S+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", readelf("--section-headers", file))
        place = {name: (int(offset, 16), int(size, 16)) for name, offset, size in sections}
        begin, size = place[".dynstr"]
        text = image[begin:begin + size].find(b"\0" + old.encode() + b"\0") + 1
        if text == 0:
            raise ValueError(f"{file}: names no {old}")
        need = place[".gnu.version_r"][0]
        while True: # Elf64_Verneed and its Elf64_Vernaux (System V ABI, Linux Standard Base 5.0, 10.7.4)
            _, count, _, aux, following = struct.unpack_from("<HHIII", image, need)
            entry = need + aux
            for _ in range(count):
                _, flags, other, name, after = struct.unpack_from("<IHHII", image, entry)
                end = image.index(b"\0", begin + name)
                if image[begin + name:end] == new.encode():
                    struct.pack_into("<IHHII", image, entry, elf_hash(old), flags, other, text, after)
                entry += after
            if following == 0:
                break
            need += following
        opened.seek(0)
        opened.write(image)


def elf_hash(name):
    """Of the System V ABI, "Hash Table"."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xf0000000
        value = (value ^ (high >> 24)) & ~high & 0xffffffff
    return value

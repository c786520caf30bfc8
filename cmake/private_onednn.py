#!/usr/bin/env python3
"""Copies a shared oneDNN and makes the copy ours alone (docs/decisions/0015-a-private-onednn.md).

    private_onednn.py <libdnnl.so> <copy> <names.h>

Only the tables that the dynamic linker reads are changed, each in its own place:
  - the OpenMP functions it asks for get the prefix plimsoll_, and libgomp is no longer needed: gomp_shim.cpp has them;
  - the functions of its C interface get the same prefix, and names.h tells our compiler so;
  - everything else it defines is hidden, under a soname of its own.
So it neither takes nor gives a symbol that another oneDNN or another OpenMP program in the process has.
Exits with 2 and a reason if this oneDNN cannot be changed so.
"""
import os
import struct
import sys

PREFIX = b"plimsoll_"
SONAME = b"libplimsoll_onednn.so.3"
OPENMP_LIBRARY = b"libgomp.so.1"
# What gomp_shim.cpp defines.
OPENMP_FUNCTIONS = {
    b"GOMP_parallel", b"GOMP_parallel_start", b"GOMP_parallel_end", b"GOMP_barrier", b"GOMP_loop_static_start",
    b"GOMP_loop_static_next", b"GOMP_loop_end_nowait", b"omp_get_max_threads", b"omp_get_num_threads",
    b"omp_get_thread_num", b"omp_in_parallel",
}

DYNAMIC, HASH, DYNSYM, GNU_HASH, VERDEF, VERNEED, VERSYM = 6, 5, 11, 0x6FFFFFF6, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
DT_NULL, DT_NEEDED, DT_HASH, DT_SONAME, DT_RPATH, DT_RUNPATH, DT_VERNEEDNUM = 0, 1, 4, 14, 15, 29, 0x6FFFFFFF
STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE, STV_HIDDEN = 1, 2, 10, 2


class Unfit(Exception):
    pass


class Section:
    def __init__(self, elf, header):
        self.header = header
        _, self.type, _, _, self.offset, self.size, self.link, self.info = struct.unpack_from("<IIQQQQII", elf, header)


def sections_of(elf):
    if elf[:6] != b"\x7fELF\x02\x01":
        raise Unfit("it is no 64-bit little-endian ELF file")
    table, entry_size, count = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 58)
    return [Section(elf, table + i * entry_size) for i in range(count)]


class Strings:
    """The table of names, written anew: those that nobody looks up any more make room for the prefixes."""

    def __init__(self, elf, section):
        self.elf, self.section = elf, section
        self.old = bytes(elf[section.offset : section.offset + section.size])
        self.new, self.places = b"\0", {b"": 0}

    def read(self, place):
        return self.old[place : self.old.index(b"\0", place)]

    def put(self, name):
        if name not in self.places:
            self.places[name] = len(self.new)
            self.new += name + b"\0"
        return self.places[name]

    def write(self):
        if len(self.new) > self.section.size:
            raise Unfit("its table of names has no room")
        start = self.section.offset
        self.elf[start : start + self.section.size] = self.new.ljust(self.section.size, b"\0")


def rename_symbols(elf, symbols, versions, strings):
    """Returns the names of the C interface, and of all symbols as they are now."""
    interface, names = [], []
    for i in range(symbols.size // 24):
        at = symbols.offset + 24 * i
        place, info, other, section = struct.unpack_from("<IBBH", elf, at)
        name, binding = strings.read(place), info >> 4
        if section == 0 and name in OPENMP_FUNCTIONS:
            name = PREFIX + name
            struct.pack_into("<H", elf, versions.offset + 2 * i, 1)  # of any version
        elif section != 0 and name.startswith(b"dnnl_"):
            interface.append(name)
            name = PREFIX + name
        elif section != 0 and binding in (STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE):
            name, other = PREFIX + b"%x" % i, STV_HIDDEN  # linkers want a name, and each its own
            if binding == STB_GNU_UNIQUE:
                info = STB_WEAK << 4 | info & 15
        struct.pack_into("<IBB", elf, at, strings.put(name), info, other)
        names.append(name)
    return interface, names


def write_hash(elf, table, names):
    """One bucket for all: nothing needs to be sorted, and only some forty names are ever looked up."""
    first = struct.unpack_from("<I", elf, table.offset + 4)[0]
    hashes = []
    for name in names[first:]:
        h = 5381
        for c in name:
            h = (h * 33 + c) & 0xFFFFFFFF
        hashes.append(h & ~1)
    hashes[-1] |= 1
    new = struct.pack("<IIIIQI", 1, first, 1, 0, 2**64 - 1, first) + struct.pack(f"<{len(hashes)}I", *hashes)
    elf[table.offset : table.offset + table.size] = new.ljust(table.size, b"\0")


def without_libgomp(elf, at, strings):
    """Takes libgomp out of the chained list of libraries with versions that begins at `at`; offsets count from their entry."""
    before = None
    while True:
        _, _, file, _, step = struct.unpack_from("<HHIII", elf, at)
        if strings.read(file) == OPENMP_LIBRARY and before is None:
            if step == 0:
                raise Unfit("it needs versions of no other library than libgomp")
            version, count, file, first, next_step = struct.unpack_from("<HHIII", elf, at + step)
            struct.pack_into("<HHIII", elf, at, version, count, file, first + step, next_step + step if next_step else 0)
            return
        if strings.read(file) == OPENMP_LIBRARY:
            struct.pack_into("<I", elf, before + 12, at + step - before if step else 0)
            return
        if step == 0:
            return
        before, at = at, at + step


def write_needed_versions(elf, needed, strings):
    """Returns how many libraries are left."""
    without_libgomp(elf, needed.offset, strings)
    at, left = needed.offset, 0
    while True:
        left += 1
        _, count, file, first, step = struct.unpack_from("<HHIII", elf, at)
        struct.pack_into("<I", elf, at + 4, strings.put(strings.read(file)))
        one = at + first
        for _ in range(count):
            name, next_one = struct.unpack_from("<II", elf, one + 8)
            struct.pack_into("<I", elf, one + 8, strings.put(strings.read(name)))
            one += next_one
        if step == 0:
            break
        at += step
    struct.pack_into("<I", elf, needed.header + 44, left)
    return left


def write_dynamic(elf, dynamic, strings, libraries_with_versions):
    entries = []
    for i in range(dynamic.size // 16):
        tag, value = struct.unpack_from("<QQ", elf, dynamic.offset + 16 * i)
        if tag == DT_HASH or (tag == DT_NEEDED and strings.read(value) == OPENMP_LIBRARY):
            continue
        if tag == DT_SONAME:
            value = strings.put(SONAME)
        elif tag in (DT_NEEDED, DT_RPATH, DT_RUNPATH):
            value = strings.put(strings.read(value))
        elif tag == DT_VERNEEDNUM:
            value = libraries_with_versions
        entries.append((tag, value))
    if DT_SONAME not in dict(entries):
        raise Unfit("it has no soname")
    entries += [(DT_NULL, 0)] * (dynamic.size // 16 - len(entries))
    for i, entry in enumerate(entries):
        struct.pack_into("<QQ", elf, dynamic.offset + 16 * i, *entry)


def make_private(elf):
    sections = sections_of(elf)
    by_type = {s.type: s for s in sections}
    for needed in (DYNAMIC, DYNSYM, GNU_HASH, VERSYM, VERNEED):
        if needed not in by_type:
            raise Unfit(f"it has no section of type {needed:#x}")
    if VERDEF in by_type:
        raise Unfit("its symbols have versions")
    symbols = by_type[DYNSYM]
    strings = Strings(elf, sections[symbols.link])
    for i in range(symbols.size // 24):
        place, _, _, section = struct.unpack_from("<IBBH", elf, symbols.offset + 24 * i)
        name = strings.read(place)
        if section == 0 and name.startswith((b"GOMP_", b"omp_")) and name not in OPENMP_FUNCTIONS:
            raise Unfit(f"it calls {name.decode()}, which we do not have")
        if section == 0 and name.startswith(b"__kmpc_"):
            raise Unfit("it was built for another OpenMP than GCC's")
    interface, names = rename_symbols(elf, symbols, by_type[VERSYM], strings)
    write_hash(elf, by_type[GNU_HASH], names)
    write_dynamic(elf, by_type[DYNAMIC], strings, write_needed_versions(elf, by_type[VERNEED], strings))
    strings.write()
    return interface


def write_file(path, content):
    """Whole or not at all."""
    with open(path + ".new", "wb") as f:
        f.write(content)
    os.replace(path + ".new", path)


def main(source, copy, header):
    with open(source, "rb") as f:
        elf = bytearray(f.read())
    try:
        interface = make_private(elf)
    except Unfit as e:
        print(e)
        sys.exit(2)
    defines = "".join(f"#define {n.decode()} {(PREFIX + n).decode()}\n" for n in sorted(interface))
    # The C++ interface is inline code: under a name of its own, lest it be merged with a host's.
    write_file(header, f"// Written by cmake/private_onednn.py.\n#pragma once\n#define dnnl plimsoll_dnnl\n{defines}".encode())
    write_file(copy, elf)


if __name__ == "__main__":
    main(*sys.argv[1:])

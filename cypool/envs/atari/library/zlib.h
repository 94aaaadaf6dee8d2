// Stands in for zlib while ALE is compiled, so that a build needs no zlib at all.
//
// ALE uses zlib twice: to read ROMs that may be gzip'ed (ours are not: plain files go through stdio here, gzip'ed
// ones are refused), and to write screenshots as PNG (which reports failure: we never ask for it).
#ifndef CYPOOL_BUILDING_ZLIB_H
#define CYPOOL_BUILDING_ZLIB_H

#include <cstdio>

typedef unsigned char Bytef;
typedef unsigned long uLong;
typedef uLong uLongf;
typedef std::FILE* gzFile;

enum { Z_OK = 0, Z_STREAM_ERROR = -2 };

static inline gzFile gzopen(const char* path, const char* mode) {
    gzFile file = std::fopen(path, mode);
    if (file && std::fgetc(file) == 0x1f && std::fgetc(file) == 0x8b) {  // the first bytes of every gzip file
        std::fclose(file);
        return nullptr;
    }
    if (file) std::rewind(file);
    return file;
}

static inline int gzread(gzFile file, void* into, unsigned bytes) {
    return static_cast<int>(std::fread(into, 1, bytes, file));  // ALE takes this for a size: never negative
}

static inline int gzclose(gzFile file) { return std::fclose(file) ? Z_STREAM_ERROR : Z_OK; }

static inline uLong crc32(uLong, const Bytef*, unsigned) { return 0; }

static inline int compress(Bytef*, uLongf*, const Bytef*, uLong) { return Z_STREAM_ERROR; }

#endif

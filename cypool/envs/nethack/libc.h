// The C library as NetHack sees it. All that has state is ours and keeps it in the game's block: heap, files, clock,
// the ways out. There is no real file, and nothing that another game or another program could notice.
#pragma once

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pwd.h>
#include <regex.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "cypool/envs/nethack/memory.h"
#include "cypool/envs/nethack/text.h"

namespace cypool::nethack {

// NetHack's archive of texts and levels, the only file that exists outside of a game; read once.
inline std::string archive;

struct File {
    File* next;
    char* data;  // ends with a zero that does not count
    size_t size, capacity;
    int uses;
    bool has_name;
    char name[64];
};

// The target of FILE*. None stands for stdin, stdout and stderr.
struct Stream {
    File* file;  // null: the archive
    size_t position;
    int descriptor, pushed_back;  // -1: none
    bool appends, discards;
};

namespace instead {

enum : int { FIRST_DESCRIPTOR = 100 };

// ---- heap

inline void* malloc(size_t size) {
    void* const given = running->allocate(size);
    if (given == nullptr) fail("it needs too much memory");
    return given;
}
inline void free(void* given) { running->release(given); }
inline void* calloc(size_t count, size_t size) {
    if (size != 0 && count > ARENA_BYTES / size) fail("it needs too much memory");
    return malloc(count * size);
}
inline void* realloc(void* given, size_t size) {
    if (given == nullptr) return malloc(size);
    const size_t old = Block::size_of(given);
    if (size <= old) return given;
    void* const larger = malloc(size);
    std::memcpy(larger, given, old);
    free(given);
    return larger;
}

// ---- ways out

inline void exit(int) { fail("it tried to end the process"); }
inline void abort() { fail("a panic"); }
inline void throws() { fail("a C++ exception"); }
inline void unexpected() { fail("it called a forbidden function"); }
inline void error(const char* format, ...) {
    char text[sizeof(Head::failure)];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail(text);
}

// ---- files, by the last part of their path

inline const char* leaf(const char* path) {
    const char* const slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}
inline File* find(const char* path) {
    for (File* file = running->head().files; file != nullptr; file = file->next) {
        if (file->has_name && std::strcmp(file->name, leaf(path)) == 0) return file;
    }
    running->head().error_number = ENOENT;
    return nullptr;
}
inline File* create(const char* path) {
    auto* const file = static_cast<File*>(malloc(sizeof(File)));
    std::snprintf(file->name, sizeof file->name, "%s", leaf(path));
    file->has_name = true;
    file->next = running->head().files;
    return running->head().files = file;
}
inline void release(File* file) {
    if (file->uses > 0 || file->has_name) return;
    for (File** at = &running->head().files; *at != nullptr; at = &(*at)->next) {
        if (*at == file) {
            *at = file->next;
            break;
        }
    }
    free(file->data);
    free(file);
}
inline Stream* open_stream(File* file) {
    auto* const stream = static_cast<Stream*>(malloc(sizeof(Stream)));
    stream->file = file;
    stream->descriptor = stream->pushed_back = -1;
    if (file != nullptr) ++file->uses;
    return stream;
}
inline void close_stream(Stream* stream) {
    if (stream->descriptor >= 0) running->head().streams[stream->descriptor % Head::NUM_STREAMS] = nullptr;
    if (stream->file != nullptr) {
        --stream->file->uses;
        release(stream->file);
    }
    free(stream);
}
inline size_t size_of(const Stream* stream) { return stream->file != nullptr ? stream->file->size : archive.size(); }
inline const char* data_of(const Stream* stream) {
    return stream->file != nullptr ? stream->file->data : archive.data();
}
inline size_t get(Stream* stream, void* bytes, size_t count) {
    auto* to = static_cast<char*>(bytes);
    size_t pushed = 0;
    if (stream->pushed_back >= 0 && count > 0) {
        *to++ = static_cast<char>(stream->pushed_back);
        stream->pushed_back = -1;
        pushed = 1;
    }
    const size_t size = size_of(stream), left = stream->position < size ? size - stream->position : 0;
    const size_t taken = count - pushed < left ? count - pushed : left;
    if (taken > 0) std::memcpy(to, data_of(stream) + stream->position, taken);
    stream->position += taken;
    return pushed + taken;
}
inline size_t put(Stream* stream, const void* bytes, size_t count) {
    File* const file = stream->file;
    if (stream->discards || file == nullptr) return count;
    if (stream->appends) stream->position = file->size;
    if (count > ARENA_BYTES || stream->position > ARENA_BYTES) fail("it wrote a file that is too long");
    const size_t end = stream->position + count;
    if (end >= file->capacity) {
        file->capacity = 2 * end + 256;
        file->data = static_cast<char*>(realloc(file->data, file->capacity));
    }
    std::memcpy(file->data + stream->position, bytes, count);
    stream->position = end;
    if (end > file->size) file->size = end;
    file->data[file->size] = 0;
    return count;
}
inline int64_t seek(Stream* stream, int64_t offset, int whence) {
    const auto size = static_cast<int64_t>(size_of(stream)), position = static_cast<int64_t>(stream->position);
    const int64_t at = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : size);
    if (at < 0) return -1;
    stream->pushed_back = -1;
    stream->position = static_cast<size_t>(at);
    return at;
}

// ---- descriptors

inline Stream* stream_of(int descriptor) {
    const int place = descriptor - FIRST_DESCRIPTOR;
    Stream* const stream = place >= 0 && place < Head::NUM_STREAMS ? running->head().streams[place] : nullptr;
    if (stream == nullptr) running->head().error_number = EBADF;
    return stream;
}
inline int open(const char* path, int flags, ...) {
    File* file = find(path);
    if (file == nullptr && !(flags & O_CREAT)) return -1;
    if (file == nullptr) file = create(path);
    if (flags & O_TRUNC) file->size = 0;
    auto& streams = running->head().streams;
    for (int place = 0; place < Head::NUM_STREAMS; ++place) {
        if (streams[place] == nullptr) {
            streams[place] = open_stream(file);
            streams[place]->descriptor = place;
            return FIRST_DESCRIPTOR + place;
        }
    }
    running->head().error_number = EMFILE;
    return -1;
}
inline int creat(const char* path, mode_t) { return open(path, O_CREAT | O_TRUNC | O_WRONLY); }
inline int close(int descriptor) {
    Stream* const stream = stream_of(descriptor);
    if (stream == nullptr) return -1;
    close_stream(stream);
    return 0;
}
inline ssize_t read(int descriptor, void* bytes, size_t count) {
    Stream* const stream = stream_of(descriptor);
    if (stream == nullptr) return descriptor == 0 ? 0 : -1;
    return static_cast<ssize_t>(get(stream, bytes, count));
}
inline ssize_t write(int descriptor, const void* bytes, size_t count) {
    Stream* const stream = stream_of(descriptor);
    if (stream == nullptr) return static_cast<ssize_t>(count);
    return static_cast<ssize_t>(put(stream, bytes, count));
}
inline off_t lseek(int descriptor, off_t offset, int whence) {
    Stream* const stream = stream_of(descriptor);
    return stream == nullptr ? -1 : seek(stream, offset, whence);
}
inline int unlink(const char* path) {
    File* const file = find(path);
    if (file == nullptr) return -1;
    file->has_name = false;
    release(file);
    return 0;
}
inline int rename(const char* from, const char* to) {
    File* const file = find(from);
    if (file == nullptr) return -1;
    unlink(to);
    std::snprintf(file->name, sizeof file->name, "%s", leaf(to));
    return 0;
}
inline int access(const char* path, int) { return find(path) != nullptr ? 0 : -1; }

// ---- streams

inline Stream* fopen(const char* path, const char* mode) {
    if (std::strcmp(leaf(path), "nhdat") == 0) return open_stream(nullptr);
    File* file = find(path);
    if (file == nullptr && mode[0] == 'r') return nullptr;
    if (file == nullptr) file = create(path);
    if (mode[0] == 'w') file->size = 0;
    Stream* const stream = open_stream(file);
    stream->appends = mode[0] == 'a';
    // these are not read, and would grow
    for (const char* log : {"logfile", "xlogfile", "paniclog"}) {
        if (std::strcmp(leaf(path), log) == 0) stream->discards = true;
    }
    return stream;
}
inline Stream* fdopen(int descriptor, const char*) { return stream_of(descriptor); }
inline int fclose(Stream* stream) {
    if (stream != nullptr) close_stream(stream);
    return 0;
}
inline size_t fread(void* bytes, size_t size, size_t count, Stream* stream) {
    return stream != nullptr && size > 0 ? get(stream, bytes, size * count) / size : 0;
}
inline size_t fwrite(const void* bytes, size_t size, size_t count, Stream* stream) {
    // output to a terminal is not seen
    if (stream == nullptr) return count;
    return size > 0 ? put(stream, bytes, size * count) / size : 0;
}
inline int fgetc(Stream* stream) {
    unsigned char letter;
    return stream != nullptr && get(stream, &letter, 1) == 1 ? letter : EOF;
}
inline char* fgets(char* line, int size, Stream* stream) {
    int length = 0;
    while (length < size - 1) {
        const int letter = fgetc(stream);
        if (letter == EOF) break;
        line[length++] = static_cast<char>(letter);
        if (letter == '\n') break;
    }
    if (length == 0) return nullptr;
    line[length] = 0;
    return line;
}
inline int fputs(const char* text, Stream* stream) {
    fwrite(text, 1, std::strlen(text), stream);
    return 1;
}
inline int fputc(int letter, Stream* stream) {
    const char one = static_cast<char>(letter);
    fwrite(&one, 1, 1, stream);
    return letter;
}
inline int fprintf(Stream* stream, const char* format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    int length = std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length > static_cast<int>(sizeof text) - 1) length = sizeof text - 1;
    if (length > 0) fwrite(text, 1, static_cast<size_t>(length), stream);
    return length;
}
// Of an entry in the list of high scores or in the archive's directory: they are short.
inline int fscanf(Stream* stream, const char* format, ...) {
    if (stream == nullptr) return EOF;
    const size_t begin = stream->position;
    char entry[512];
    const size_t length = get(stream, entry, sizeof entry);
    if (length == 0) return EOF;
    FILE* const text = ::fmemopen(entry, length, "r");
    if (text == nullptr) fail("it needs too much memory");
    va_list args;
    va_start(args, format);
    const int got = std::vfscanf(text, format, args);
    va_end(args);
    stream->position = begin + static_cast<size_t>(std::ftell(text));
    std::fclose(text);
    return got;
}
inline int fseek(Stream* stream, long offset, int whence) {
    return stream != nullptr && seek(stream, offset, whence) >= 0 ? 0 : -1;
}
inline long ftell(Stream* stream) { return stream != nullptr ? static_cast<long>(stream->position) : -1; }
inline void rewind(Stream* stream) { fseek(stream, 0, SEEK_SET); }
inline int ungetc(int letter, Stream* stream) {
    if (stream != nullptr) stream->pushed_back = letter;
    return letter;
}
inline int fileno(Stream* stream) { return stream == nullptr ? -1 : FIRST_DESCRIPTOR + stream->descriptor; }
inline Stream* fmemopen(void* bytes, size_t size, const char*) {
    File* const file = create("memory");
    file->has_name = false;
    Stream* const stream = open_stream(file);
    put(stream, bytes, size);
    stream->position = 0;
    return stream;
}

// ---- clock: that of the wall, so there are no time zones

inline time_t time(time_t* to) {
    const time_t now = running->head().clock;
    if (to != nullptr) *to = now;
    return now;
}
inline int gettimeofday(struct timeval* to, void*) {
    *to = {time(nullptr), 0};
    return 0;
}
inline struct tm* localtime(const time_t* when) {
    using namespace std::chrono;
    const sys_seconds now{seconds{*when}};
    const sys_days day = floor<days>(now);
    const year_month_day date_of_day(day);
    const hh_mm_ss time_of_day(now - day);
    struct tm& date = running->head().date;
    date = {};
    date.tm_sec = static_cast<int>(time_of_day.seconds().count());
    date.tm_min = static_cast<int>(time_of_day.minutes().count());
    date.tm_hour = static_cast<int>(time_of_day.hours().count());
    date.tm_mday = static_cast<int>(unsigned{date_of_day.day()});
    date.tm_mon = static_cast<int>(unsigned{date_of_day.month()}) - 1;
    date.tm_year = int{date_of_day.year()} - 1900;
    date.tm_wday = static_cast<int>(weekday(day).c_encoding());
    date.tm_yday = static_cast<int>((day - sys_days(date_of_day.year() / January / 1)).count());
    return &date;
}

// ---- names, letters, order

inline int* errno_location() { return &running->head().error_number; }
inline const unsigned short* const* ctype_b_loc() {
    static const unsigned short* const letters = newlocale(LC_ALL_MASK, "C", nullptr)->__ctype_b;
    return &letters;
}
inline const char* strerror(int) { return "an error"; }
// its debug mode asks who plays
inline struct passwd* getpwuid(uid_t) {
    static char name[] = "player";
    static struct passwd player = [] {
        struct passwd made{};
        made.pw_name = name;
        return made;
    }();
    return &player;
}
// Keeps the order of equal items, as the C library's does; without memory of the process.
inline void qsort(void* items, size_t count, size_t size, int (*compare)(const void*, const void*)) {
    auto* const all = static_cast<char*>(items);
    char item[256];
    if (size > sizeof item) fail("it tried to sort items that are too large");
    for (size_t k = 1; k < count; ++k) {
        size_t low = 0, high = k;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (compare(all + k * size, all + middle * size) < 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (low == k) continue;
        std::memcpy(item, all + k * size, size);
        std::memmove(all + (low + 1) * size, all + low * size, (k - low) * size);
        std::memcpy(all + low * size, item, size);
    }
}
// The C library's keeps patterns in the process's heap, and takes any amount of it.
inline int regcomp(regex_t*, const char*, int) { return REG_ESPACE; }
inline int regexec(const regex_t*, const char*, size_t, regmatch_t*, int) { return REG_NOMATCH; }
inline size_t regerror(int, const regex_t*, char* to, size_t size) {
    return static_cast<size_t>(std::snprintf(to, size, "patterns are not available")) + 1;
}

// ---- the stack

struct StackEnd {
    void* end;
    size_t bytes;
};
inline StackEnd create_stack(size_t) { return {running->stack_end(), STACK_BYTES}; }

// ---- std::string as gcc had it before C++11, whose code would use the process's heap

struct Text {
    size_t length, capacity;
    int uses;
    char* letters() { return reinterpret_cast<char*>(this + 1); }
};
static_assert(sizeof(Text) == 24);
inline struct {
    Text text;
    char end;
} empty;
inline Text* text_of(char** string) { return reinterpret_cast<Text*>(*string) - 1; }
inline Text* string_create(size_t capacity, size_t old, const void*) {
    if (capacity > old && capacity < 2 * old) capacity = 2 * old;
    auto* const text = static_cast<Text*>(malloc(sizeof(Text) + capacity + 1));
    text->capacity = capacity;
    return text;
}
inline void string_destroy(Text* text, const void*) { free(text); }
inline char** string_assign(char** string, const char* letters, size_t length) {
    Text* text = &empty.text;
    if (length > 0) {
        text = string_create(length, 0, nullptr);
        std::memcpy(text->letters(), letters, length);
        text->length = length;
    }
    Text* const old = text_of(string);
    if (old != &empty.text && old->uses-- <= 0) free(old);
    *string = text->letters();
    return string;
}
inline char** string_assign_string(char** string, char** other) {
    return string == other ? string : string_assign(string, *other, text_of(other)->length);
}
inline void string_copy(char** string, char** other) {
    *string = empty.text.letters();
    string_assign_string(string, other);
}

// ---- the observation

inline const char* const FILL = "_ZN10nethack_rl9NetHackRL8fill_obsEP15nle_observation";
inline const char* const DESCRIBE = "_ZN10nethack_rl9NetHackRL24store_screen_descriptionEiii";
inline const char *const PRINT = "tmt_write", *const DRAW_GLYPH = "tty_print_glyph",
                         *const DRAW_STATUS = "tty_status_update";
// all in game.h
void fill(Window* window, Observation* observation);
void describe(Window* window, int x, int y, int glyph);
void print(Terminal* terminal, const char* text, size_t size);
void draw_glyph(int window, int x, int y, int glyph, int background);
void draw_status(int field, void* value, int change, int percent, int color, unsigned long* masks);

// ---- nothing

inline void nothing() {}
inline int zero() { return 0; }
inline int minus_one() {
    running->head().error_number = ENOTTY;
    return -1;
}
inline void* null() { return nullptr; }
inline void* no_stream = nullptr;  // stdin, stdout and stderr

}  // namespace instead

// clang-format off
// of the C library's functions, those that depend on nothing but their arguments
#define CYPOOL_NETHACK_SAME(X)                                                                                     \
    X(memcpy) X(memmove) X(memset) X(sscanf) X(stpcpy) X(strcat) X(strcmp) X(strcpy) X(strlen) X(strncat)          \
    X(strncmp) X(strncpy) X(strnlen) X(strtol)
// ours in place of those of the same name; the library's own `error` is another function's name in the C library
#define CYPOOL_NETHACK_OURS(X)                                                                                     \
    X(snprintf) X(sprintf) X(strstri) X(vsnprintf) X(malloc) X(free) X(calloc) X(realloc) X(exit) X(abort)         \
    X(error) X(open) X(creat) X(close) X(read) X(write) X(lseek) X(unlink) X(rename) X(access) X(fopen) X(fdopen)  \
    X(fclose) X(fread) X(fwrite) X(fgetc) X(fgets) X(fputs) X(fputc) X(fprintf) X(fscanf) X(fseek) X(ftell)        \
    X(rewind) X(ungetc) X(fileno) X(fmemopen) X(time) X(gettimeofday) X(localtime) X(getpwuid) X(strerror)         \
    X(qsort) X(regcomp) X(regexec) X(regerror)
// ours in place of those of another name: ways out, files, the terminal, which there is not, the process, C++
#define CYPOOL_NETHACK_OTHERS(X)                                                                                   \
    X(_Znwm, malloc) X(_ZdlPv, free) X(_exit, exit) X(_ZSt17__throw_bad_allocv, throws)                            \
    X(_ZSt19__throw_logic_errorPKc, throws) X(_ZSt20__throw_length_errorPKc, throws) X(__cxa_rethrow, throws)      \
    X(_Unwind_Resume, throws) X(__cxa_begin_catch, unexpected) X(__cxa_end_catch, unexpected)                      \
    X(__gxx_personality_v0, unexpected) X(getrlimit, unexpected) X(mmap, unexpected) X(mprotect, unexpected)       \
    X(munmap, unexpected) X(mktime, unexpected) X(chmod, zero) X(fcntl, zero) X(_IO_getc, fgetc)                   \
    X(_IO_putc, fputc) X(fflush, zero) X(ferror, zero) X(clearerr, nothing) X(perror, nothing)                     \
    X(ioctl, minus_one) X(isatty, zero) X(tcgetattr, minus_one) X(tcsetattr, minus_one) X(sigaction, zero)         \
    X(sleep, zero) X(sysconf, zero) X(getpid, zero) X(getuid, zero) X(getlogin, null) X(getpwnam, null)            \
    X(getenv, null) X(getcwd, null) X(__ctype_b_loc, ctype_b_loc) X(__errno_location, errno_location)              \
    X(regfree, nothing) X(create_fcontext_stack, create_stack) X(destroy_fcontext_stack, nothing)                  \
    X(__cxa_atexit, zero) X(__cxa_finalize, nothing) X(_ZNSt8ios_base4InitC1Ev, nothing)                           \
    X(_ZNSt8ios_base4InitD1Ev, nothing) X(_ZNSs4_Rep9_S_createEmmRKSaIcE, string_create)                           \
    X(_ZNSs4_Rep10_M_destroyERKSaIcE, string_destroy) X(_ZNSs6assignEPKcm, string_assign)                          \
    X(_ZNSs6assignERKSs, string_assign_string) X(_ZNSsC1ERKSs, string_copy)

// The replacement of each function and variable that the library asks for, and for some that it has itself.
inline const std::unordered_map<std::string, const void*>& symbols() {
    using namespace instead;
    const auto f = [](auto* function) { return reinterpret_cast<const void*>(function); };
    static const std::unordered_map<std::string, const void*> all = {
#define X(name) {#name, f(&::name)},
        CYPOOL_NETHACK_SAME(X)
#undef X
#define X(name) {#name, f(&instead::name)},
        CYPOOL_NETHACK_OURS(X)
#undef X
#define X(name, ours) {#name, f(&instead::ours)},
        CYPOOL_NETHACK_OTHERS(X)
#undef X
        {"strrchr", f(static_cast<const char* (*)(const char*, int)>(&std::strrchr))},
        {"strstr", f(static_cast<const char* (*)(const char*, const char*)>(&std::strstr))},
        {"strchr", f(static_cast<const char* (*)(const char*, int)>(&std::strchr))},
        {"stdin", &no_stream},
        {"stdout", &no_stream},
        {"stderr", &no_stream},
        {"_ZNSs4_Rep20_S_empty_rep_storageE", &empty},
        // those that write the observation
        {FILL, f(&instead::fill)},
        {DESCRIBE, f(&instead::describe)},
        {PRINT, f(&instead::print)},
        {DRAW_GLYPH, f(&instead::draw_glyph)},
        {DRAW_STATUS, f(&instead::draw_status)},
        // asked for, but not needed
        {"__gmon_start__", nullptr},
        {"__pthread_key_create", nullptr},
        {"_ITM_deregisterTMCloneTable", nullptr},
        {"_ITM_registerTMCloneTable", nullptr},
    };
    return all;
}
// clang-format on

}  // namespace cypool::nethack

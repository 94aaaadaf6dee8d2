// Functions of texts that NetHack calls all the time, with the C library's results. Here they are short for NetHack's
// usual calls; the C library does the rest.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cypool::nethack::instead {

// NetHack's own: like strstr, but A is a.
inline const char* strstri(const char* text, const char* part) {
    const auto lower = [](char letter) { return letter >= 'A' && letter <= 'Z' ? letter | 0x20 : int{letter}; };
    if (*part == 0) return text;
    const int first = lower(*part);
    for (; *text != 0; ++text) {
        if (lower(*text) != first) continue;
        size_t k = 1;
        while (part[k] != 0 && lower(text[k]) == lower(part[k])) ++k;
        if (part[k] == 0) return text;
    }
    return nullptr;
}

// The output of printf, in memory.
class Printed {
public:
    // `size` as of snprintf.
    Printed(char* to, size_t size) : to_(to), left_(size > 0 ? size - 1 : 0), has_end_(size > 0) {}

    // Returns the length; negative: a part of the format is not available here.
    int print(const char* format, va_list args) {
        for (;;) {
            const char* const begin = format;
            while (*format != 0 && *format != '%') ++format;
            put(begin, static_cast<size_t>(format - begin));
            if (*format == 0) break;
            ++format;
            bool on_left = false;
            char filler = ' ';
            for (; *format == '-' || *format == '0'; ++format)
                *format == '-' ? (void)(on_left = true) : (void)(filler = '0');
            const int width = number(format, args, 0), precision = *format == '.' ? number(++format, args, 0) : -1;
            bool is_long = false;
            if (*format == 'l') is_long = true, ++format;
            if (width < 0 || (on_left && filler == '0')) return -1;
            char digits[24];
            const char* text = digits;
            size_t length = 1;
            switch (*format++) {
                case '%':
                    if (format[-2] != '%') return -1;
                    digits[0] = '%';
                    break;
                case 'c':
                    if (is_long || filler == '0') return -1;
                    digits[0] = static_cast<char>(va_arg(args, int));
                    break;
                case 's':
                    text = va_arg(args, const char*);
                    if (text == nullptr || is_long || filler == '0') return -1;
                    length = precision < 0 ? std::strlen(text) : ::strnlen(text, static_cast<size_t>(precision));
                    break;
                case 'd':
                case 'i': {
                    const int64_t value = is_long ? va_arg(args, long) : va_arg(args, int);
                    char* at = std::end(digits);
                    uint64_t rest = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
                    do *--at = static_cast<char>('0' + rest % 10);
                    while ((rest /= 10) != 0);
                    // the sign would be in front of the zeros
                    if (precision >= 0 || (value < 0 && filler == '0')) return -1;
                    if (value < 0) *--at = '-';
                    text = at;
                    length = static_cast<size_t>(std::end(digits) - at);
                    break;
                }
                default: return -1;
            }
            const size_t fill = static_cast<size_t>(width) > length ? static_cast<size_t>(width) - length : 0;
            if (!on_left) pad(filler, fill);
            put(text, length);
            if (on_left) pad(filler, fill);
        }
        if (has_end_) *to_ = 0;
        return length_;
    }

private:
    char* to_;
    size_t left_;
    bool has_end_;
    int length_ = 0;

    static int number(const char*& format, va_list args, int value) {
        if (*format == '*') return ++format, va_arg(args, int);
        for (; *format >= '0' && *format <= '9' && value < 1000; ++format) value = value * 10 + (*format - '0');
        return value;
    }
    void put(const char* text, size_t length) {
        const size_t most = std::min(length, left_);
        std::memmove(to_, text, most);
        to_ += most;
        left_ -= most;
        length_ += static_cast<int>(length);
    }
    void pad(char filler, size_t count) {
        for (; count > 0; --count) put(&filler, 1);
    }
};

inline int vsnprintf(char* to, size_t size, const char* format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = Printed(to, size).print(format, args);
    if (length < 0) length = std::vsnprintf(to, size, format, again);
    va_end(again);
    return length;
}
inline int snprintf(char* to, size_t size, const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(to, size, format, args);
    va_end(args);
    return length;
}
inline int sprintf(char* to, const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(to, INT32_MAX, format, args);
    va_end(args);
    return length;
}

}  // namespace cypool::nethack::instead

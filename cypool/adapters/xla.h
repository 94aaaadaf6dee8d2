// The fields that we read of the structs that XLA passes to functions outside of it, in their order: version 0.3 of its
// foreign function interface, and those that were the same before. tests/adapters/test_xla_layout.py compares with
// jaxlib's own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cypool::xla {

constexpr int32_t MAJOR = 0, MINOR = 3;
constexpr int32_t MINOR_WITHOUT_API = 1;                 // of those that ask for metadata with no Api in the frame
constexpr int32_t METADATA = 1;                          // the type of an extension
constexpr int32_t EXECUTE = 3;                           // a stage
constexpr int32_t BUFFER = 1;                            // the type of an argument or a result
constexpr int32_t SCALAR = 3;                            // the type of an attribute
constexpr int32_t PRED = 1, S32 = 4, S64 = 5, F64 = 12;  // data types: from bool to double they are numbered as listed
constexpr int32_t INTERNAL = 13;                         // the code of an error

struct Error;  // XLA's own
struct Context;

struct Extension {
    size_t size;  // as all structs begin: with the bytes that the other side knows
    int32_t type;
    Extension* next;
};

struct Version {
    size_t size;
    Extension* extension;
    int32_t major;
    int32_t minor;
};

// XLA asks a function for these before it calls it.
struct Metadata {
    size_t size;
    Version version;
    uint32_t traits;
};

struct MetadataExtension {
    Extension base;
    Metadata* metadata;
};

struct ErrorArguments {
    size_t size;
    Extension* extension;
    const char* message;
    int32_t code;
};

// XLA's functions; there are more.
struct Api {
    size_t size;
    Extension* extension;
    Version version;
    const void* internal;
    Error* (*create_error)(ErrorArguments*);
};

struct Buffer {
    size_t size;
    Extension* extension;
    int32_t dtype;
    void* data;
    int64_t rank;
    int64_t* dims;
};

struct Scalar {
    int32_t dtype;
    void* value;
};

struct Name {
    const char* text;
    size_t length;
};

// Arguments, and results.
struct Values {
    size_t size;
    Extension* extension;
    int64_t count;
    int32_t* types;
    void** values;
};

struct Attributes {
    size_t size;
    Extension* extension;
    int64_t count;
    int32_t* types;
    Name** names;
    void** values;
};

struct Frame {
    size_t size;
    Extension* extension;
    const Api* api;
    Context* context;
    int32_t stage;
    Values arguments;
    Values results;
    Attributes attributes;
};

// sizes without the padding of the last word
constexpr size_t METADATA_SIZE = offsetof(Metadata, traits) + sizeof(uint32_t);
constexpr size_t ERROR_ARGUMENTS_SIZE = offsetof(ErrorArguments, code) + sizeof(int32_t);

}  // namespace cypool::xla

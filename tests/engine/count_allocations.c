// Loaded before all else, counts calls of the C allocator, from all threads; operator new calls malloc.
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// the names of glibc's own allocator inside of it
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

static atomic_long allocations, frees;

long count_allocations(void) { return allocations; }
long count_frees(void) { return frees; }

void* malloc(size_t size) {
    ++allocations;
    return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
    ++allocations;
    return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
    ++allocations;
    return __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) {
    ++allocations;
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
    ++allocations;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
    ++allocations;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

void free(void* memory) {
    if (memory) ++frees;
    __libc_free(memory);
}

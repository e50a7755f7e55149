/* A separator for floatgate: docs/own-policies.md explains what it sees. */
#include <stddef.h>

#include "floatgate_policy.h"

/* The state is a byte per page: how often it was written, up to 255. */
static uint64_t state_bytes(const floatgate_shape *shape, const double *params) {
    (void)params;
    return shape->logical_pages;
}

static uint32_t streams(const double *params) {
    (void)params;
    return 3;
}

/* Returns the stream of a page that the host writes. */
static uint32_t on_write(const floatgate_write *page, const double *params, void *state) {
    uint8_t *writes = state;
    if (writes[page->page] < 255) writes[page->page]++;
    return writes[page->page] >= params[0] ? 1 : 0;
}

/* Returns the stream of a live page that leaves a block. */
static uint32_t move_stream(const floatgate_move *page, const double *params, const void *state) {
    (void)page, (void)params, (void)state;
    return 2;
}

const floatgate_policy *floatgate_policy_v1(void) {
    static const floatgate_param params[] = {
        {"often", "writes from which a page was written often", FLOATGATE_KIND_WHOLE, 0, 4, 1, 255},
    };
    static const floatgate_policy policy = {
        .version = FLOATGATE_VERSION,
        .size = sizeof(floatgate_policy),
        .slot = "ftl.separate",
        .name = "NAME",
        .summary = "pages that were written often apart from others",
        .source = "-",
        .params = params,
        .params_len = 1,
        .state_bytes = state_bytes,
        .streams = streams,
        .write = on_write,
        .move_stream = move_stream,
    };
    return &policy;
}

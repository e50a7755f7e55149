/* A victim policy for floatgate: docs/own-policies.md explains what it sees. */
#include <stddef.h>

#include "floatgate_policy.h"

/* Returns the block to collect next, or FLOATGATE_NONE. */
static uint32_t pick(const floatgate_blocks *blocks, const double *params) {
    uint32_t emptiest = blocks->first, block = blocks->first;
    for (double n = params[0]; n > 0 && block != FLOATGATE_NONE; n--) {
        if (blocks->valid[block].valid < blocks->valid[emptiest].valid) emptiest = block;
        block = blocks->links[block][1];
    }
    return emptiest;
}

const floatgate_policy *floatgate_policy_v1(void) {
    static const floatgate_param params[] = {
        {"oldest", "blocks that are compared", FLOATGATE_KIND_WHOLE, 0, 16, 1, 4096},
    };
    static const floatgate_policy policy = {
        .version = FLOATGATE_VERSION,
        .size = sizeof(floatgate_policy),
        .slot = "ftl.collect",
        .name = "NAME",
        .summary = "the emptiest of the oldest blocks",
        .source = "-",
        .params = params,
        .params_len = 1,
        .order = FLOATGATE_ORDER_CLOSING,
        .pick = pick,
    };
    return &policy;
}

/* A throttle for floatgate: docs/own-policies.md explains what it sees. */
#include <stddef.h>

#include "floatgate_policy.h"

/* Returns the delay of every page write of an epoch, seconds. */
static double delay(const floatgate_epoch *epoch, const double *params, void *state) {
    (void)state;
    if (epoch->demand_bytes <= epoch->capacity_bytes) return 0;
    double pages = epoch->capacity_bytes / epoch->page_write_bytes;
    return params[0] * epoch->length_s / (pages > 1 ? pages : 1);
}

const floatgate_policy *floatgate_policy_v1(void) {
    static const floatgate_param params[] = {
        {"share", "share of the epoch over which the writes are spread", FLOATGATE_KIND_REAL, 0, 1, 0, 1},
    };
    static const floatgate_policy policy = {
        .version = FLOATGATE_VERSION,
        .size = sizeof(floatgate_policy),
        .slot = "lifetime.throttle",
        .name = "NAME",
        .summary = "page writes are spread over an epoch that is likely to exceed its capacity",
        .source = "-",
        .params = params,
        .params_len = 1,
        .delay = delay,
    };
    return &policy;
}

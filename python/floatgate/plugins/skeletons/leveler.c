/* A wear-leveler for floatgate: docs/own-policies.md explains what it sees. */
#include <stddef.h>

#include "floatgate_policy.h"

/* Returns the block whose data should move into the most worn free block: the least erased one, if its data are cold and
 * the erases of both are far apart. */
static uint32_t job(const floatgate_wear *wear, const double *params, void *state) {
    (void)state;
    uint32_t block = wear->least_erased;
    if (block == FLOATGATE_NONE || wear->most_worn_free == FLOATGATE_NONE) return FLOATGATE_NONE;
    double age = (double)(wear->now - wear->closed_at[block]);
    double apart = (double)wear->most_worn_free - (double)wear->erases[block];
    return age >= params[1] * wear->logical_pages && apart > params[0] ? block : FLOATGATE_NONE;
}

const floatgate_policy *floatgate_policy_v1(void) {
    static const floatgate_param params[] = {
        {"apart", "erases that may lie between both blocks", FLOATGATE_KIND_WHOLE, 0, 20, 1, 1000000},
        {"cold", "drive writes that data must outlive to be cold", FLOATGATE_KIND_REAL, 0, 1, 0, 1000},
    };
    static const floatgate_policy policy = {
        .version = FLOATGATE_VERSION,
        .size = sizeof(floatgate_policy),
        .slot = "ftl.level",
        .name = "NAME",
        .summary = "cold data of the least erased block move into the most worn free block",
        .source = "-",
        .params = params,
        .params_len = 2,
        .job = job,
    };
    return &policy;
}

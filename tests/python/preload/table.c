/* Puts the matcher and the loader of hints.c to the test, apart from the functions that the library wraps.
 *
 * Build: cc -fsanitize=address,undefined -DSOURCE='"PATH/hints.c"' -o table table.c
 * Use:   table pairs FILE        zero-terminated patterns and paths in turn; prints 1 or 0 for each pair
 *        table first TABLE FILE  zero-terminated paths; prints the number of the first row that matches, or -1
 *        table load TABLE...     prints for each table its number of rows, or the line and what is wrong
 */
#define FLOATGATE_HINTS_TABLE_ONLY
#include SOURCE

static struct row row_with(const char *pattern)
{
    return (struct row){1, components_of(pattern), pattern};
}

static char *next_text(char **at, const char *end)
{
    char *text = *at;
    if (text >= end)
        return NULL;
    *at += strlen(text) + 1;
    return text;
}

/* A text in memory of exactly its size, since the sanitizer sees reads beyond that. */
static char *alone(const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text);
    if (copy == NULL)
        abort();
    return copy;
}

static char *whole(const char *path, char **end)
{
    FILE *in = fopen(path, "rb");
    char *text = malloc(1 << 24);
    if (in == NULL || text == NULL)
        abort();
    size_t length = fread(text, 1, (1 << 24) - 1, in);
    text[length] = '\0';
    fclose(in);
    *end = text + length;
    return text;
}

static void pairs(const char *path)
{
    char *end, *text = whole(path, &end), *at = text, *next;
    while ((next = next_text(&at, end)) != NULL) {
        char *pattern = alone(next), *name = alone(next_text(&at, end));
        struct row row = row_with(pattern);
        putchar('0' + (first_row(&row, 1, name) == 0));
        free(pattern);
        free(name);
    }
    free(text);
}

static void first(const char *path, const char *names)
{
    struct table table;
    size_t line;
    char *end, *text = whole(names, &end), *at = text, *next;
    if (load(path, &table, &line) != NULL)
        abort();
    while ((next = next_text(&at, end)) != NULL) {
        char *name = alone(next);
        size_t row = first_row(table.rows, table.count, name);
        printf("%ld\n", row == table.count ? -1L : (long)row);
        free(name);
    }
    drop(&table);
    free(text);
}

static void loads(const char *path)
{
    struct table table;
    size_t line;
    const char *wrong = load(path, &table, &line);
    if (wrong != NULL) {
        printf("%zu: %s\n", line, wrong);
        return;
    }
    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].hint < 1 || table.rows[i].hint > 5 || table.rows[i].pattern[0] == '\0')
            abort();
    first_row(table.rows, table.count, "/some/where/a.log");
    printf("%zu rows\n", table.count);
    drop(&table);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "pairs") == 0)
        pairs(arguments[2]);
    else if (count == 4 && strcmp(arguments[1], "first") == 0)
        first(arguments[2], arguments[3]);
    else if (count > 2 && strcmp(arguments[1], "load") == 0)
        for (int i = 2; i < count; i++)
            loads(arguments[i]);
    else
        return 2;
    return 0;
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"
#include "version.h"

int main(int argc, char **argv)
{
    size_t n = 0, room = 16;
    double *values = malloc(room * sizeof *values);

    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("stats %s\n", VERSION);
        return 0;
    }
    while (values != NULL && scanf("%lf", &values[n]) == 1) {
        if (++n == room)
            values = realloc(values, (room *= 2) * sizeof *values);
    }
    if (values == NULL)
        return 1;
    struct summary s = summarise(values, n);
    printf("n %zu\nmean %.3f\ndeviation %.3f\nmedian %.3f\n", s.n, s.mean, s.deviation, s.median);
    free(values);
    return 0;
}

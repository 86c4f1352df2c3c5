#include "summary.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct summary summarise(double *values, size_t n)
{
    struct summary s = {n, 0, 0, 0};
    double sum = 0, squares = 0;

    if (n == 0)
        return s;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    s.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow(values[i] - s.mean, 2);
    if (n > 1)
        s.deviation = sqrt(squares / (double)(n - 1));
    qsort(values, n, sizeof *values, by_size);
    s.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    return s;
}

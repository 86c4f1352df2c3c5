#ifndef SUMMARY_H
#define SUMMARY_H

#include <stddef.h>

/* Figures of a sample; all are 0 for an empty one. */
struct summary {
    size_t n;
    double mean;
    double deviation; /* of the sample, with n - 1; 0 for n < 2 */
    double median;
};

struct summary summarise(double *values, size_t n);

#endif

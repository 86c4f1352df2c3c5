#ifndef VERSION_H
#define VERSION_H
#define VERSION "1.4"
#endif

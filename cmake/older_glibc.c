// A wheel calls the hypot of glibc 2.2.5 instead of that of 2.35, which would be the newest function
// that it requires: see OctantWheel.cmake. Both compute the same bits in a given C library; the newer
// one does not set errno.
double hypot_of_glibc_2_2_5(double x, double y);
__asm__(".symver hypot_of_glibc_2_2_5, hypot@GLIBC_2.2.5");

double __wrap_hypot(double x, double y) { return hypot_of_glibc_2_2_5(x, y); }

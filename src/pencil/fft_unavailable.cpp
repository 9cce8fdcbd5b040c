#if !defined(OCTANT_FFTW) && !defined(OCTANT_CUFFT) && !defined(OCTANT_HIPFFT)

#include "core/error.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

namespace {

[[noreturn]] void refuse() {
  throw InputError(
      "this program was built without a library for Fourier transforms: configure it with "
      "OCTANT_FFTW=ON");
}

}  // namespace

bool has_transforms() { return false; }

std::unique_ptr<Transform> make_transform(TransformKind, TransformShape, int, bool) { refuse(); }
std::unique_ptr<ManyFft> make_complex_fft(const FftLines&) { refuse(); }
std::unique_ptr<ManyFft> make_real_fft(int, int, int) { refuse(); }

}  // namespace octant::pencil

#endif

#if !defined(OCTANT_FFTW) && !defined(OCTANT_CUFFT) && !defined(OCTANT_HIPFFT)

#include "core/error.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

bool has_transforms() { return false; }

std::unique_ptr<Transform> make_transform(TransformKind, TransformShape, int, bool) {
  throw InputError(
      "this program was built without a library for Fourier transforms: configure it with "
      "OCTANT_FFTW=ON");
}

}  // namespace octant::pencil

#endif

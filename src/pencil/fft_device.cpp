// Transforms by a GPU library: cuFFT (NVIDIA) or hipFFT (AMD).
#if defined(OCTANT_CUFFT) || defined(OCTANT_HIPFFT)

#include <cstdint>
#include <new>

#include "core/error.hpp"
#include "core/gpu_runtime.hpp"
#include "core/observer.hpp"
#include "pencil/fft.hpp"

#if defined(OCTANT_CUFFT)
#include <cufft.h>
#else
#include <hipfft/hipfft.h>
#endif

namespace octant::pencil {

namespace {

#if defined(OCTANT_CUFFT)
using LibraryPlan = cufftHandle;
using LibraryComplex = cufftDoubleComplex;
using LibraryKind = cufftType;
constexpr auto k_success = CUFFT_SUCCESS, k_no_memory = CUFFT_ALLOC_FAILED;
constexpr int k_forward = CUFFT_FORWARD, k_backward = CUFFT_INVERSE;
constexpr auto k_complex = CUFFT_Z2Z, k_to_complex = CUFFT_D2Z, k_to_real = CUFFT_Z2D;
constexpr auto plan_many = cufftPlanMany;
constexpr auto execute_complex = cufftExecZ2Z;
constexpr auto execute_to_complex = cufftExecD2Z;
constexpr auto execute_to_real = cufftExecZ2D;
[[maybe_unused]] constexpr auto set_stream = cufftSetStream;
constexpr auto destroy_plan = cufftDestroy;
#else
using LibraryPlan = hipfftHandle;
using LibraryComplex = hipfftDoubleComplex;
using LibraryKind = hipfftType;
constexpr auto k_success = HIPFFT_SUCCESS, k_no_memory = HIPFFT_ALLOC_FAILED;
constexpr int k_forward = HIPFFT_FORWARD, k_backward = HIPFFT_BACKWARD;
constexpr auto k_complex = HIPFFT_Z2Z, k_to_complex = HIPFFT_D2Z, k_to_real = HIPFFT_Z2D;
constexpr auto plan_many = hipfftPlanMany;
constexpr auto execute_complex = hipfftExecZ2Z;
constexpr auto execute_to_complex = hipfftExecD2Z;
constexpr auto execute_to_real = hipfftExecZ2D;
[[maybe_unused]] constexpr auto set_stream = hipfftSetStream;
constexpr auto destroy_plan = hipfftDestroy;
#endif

template <class Result>
void check(Result result, const char* what) {
  if (result == k_no_memory) throw std::bad_alloc();
  if (result != k_success)
    throw RunError("the GPU FFT library could not {} (error {})", what, static_cast<int>(result));
}

// Assigns the plan to the stream of Kokkos' kernels, if kernels run on a GPU.
void join_kernels([[maybe_unused]] LibraryPlan plan) {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  check(set_stream(plan, gpu::kernels_stream()), "join the kernels' stream");
#endif
}

// Reports a transform to profilers as a Kokkos kernel.
class AsKernel {
 public:
  // A line of complex numbers counts as two lines.
  AsKernel(int length, std::int64_t lines) {
    record_kernel_work("pencil: transform", lines * length, {16.0, fft_operations(length)});
    const Kokkos::DefaultExecutionSpace space;
    Kokkos::Tools::beginParallelFor("pencil: transform",
                                    Kokkos::Tools::Experimental::device_id(space), &kernel_);
  }
  ~AsKernel() { Kokkos::Tools::endParallelFor(kernel_); }
  AsKernel(const AsKernel&) = delete;
  AsKernel& operator=(const AsKernel&) = delete;

 private:
  std::uint64_t kernel_ = 0;
};

LibraryComplex* complex(double* values) { return reinterpret_cast<LibraryComplex*>(values); }

class Plan {
 public:
  // Both sides have the same point stride but different line strides.
  Plan(LibraryKind kind, const FftLines& l, int target_line_stride) {
    int length = l.length;
    check(plan_many(&plan_, 1, &length, &length, l.point_stride, l.line_stride, &length,
                    l.point_stride, target_line_stride, kind, l.lines),
          "plan");
    join_kernels(plan_);
  }
  ~Plan() { destroy_plan(plan_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  LibraryPlan get() const { return plan_; }

 private:
  LibraryPlan plan_{};
};

class ComplexLines final : public ManyFft {
 public:
  explicit ComplexLines(const FftLines& lines)
      : lines_(lines), plan_(k_complex, lines, lines.line_stride) {}

  void forward(double* first) const override { execute(first, k_forward); }
  void backward(double* first) const override { execute(first, k_backward); }

 private:
  void execute(double* first, int sign) const {
    const AsKernel kernel(lines_.length, 2 * std::int64_t{lines_.lines});
    check(execute_complex(plan_.get(), complex(first), complex(first), sign), "transform");
  }

  FftLines lines_;
  Plan plan_;
};

class RealLines final : public ManyFft {
 public:
  RealLines(int length, int lines, int stride)
      : length_(length),
        lines_(lines),
        forward_(k_to_complex, {length, lines, 1, stride}, stride / 2),
        backward_(k_to_real, {length, lines, 1, stride / 2}, stride) {}

  void forward(double* first) const override {
    const AsKernel kernel(length_, lines_);
    check(execute_to_complex(forward_.get(), first, complex(first)), "transform");
  }
  void backward(double* first) const override {
    const AsKernel kernel(length_, lines_);
    check(execute_to_real(backward_.get(), complex(first), first), "transform");
  }

 private:
  int length_, lines_;
  Plan forward_, backward_;
};

}  // namespace

std::unique_ptr<ManyFft> make_complex_fft(const FftLines& lines) {
  return std::make_unique<ComplexLines>(lines);
}

std::unique_ptr<ManyFft> make_real_fft(int length, int lines, int line_stride) {
  return std::make_unique<RealLines>(length, lines, line_stride);
}

}  // namespace octant::pencil

#endif

# Compiler settings that every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3")

find_program(OCTANT_CCACHE ccache)
if(OCTANT_CCACHE AND NOT OCTANT_COVERAGE)  # whose objects contain the paths of their counter files
  # It trusts the compiler's list of headers, and does not preprocess a source to know them.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 ${OCTANT_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# Contraction into fused multiply-adds is off because compilers place it differently in different
# inlinings: without it every block size, tile, pack width and thread count gives the same bits.
add_library(octant_flags INTERFACE)
set(OCTANT_HOST_FLAGS -Wall -Wextra -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND OCTANT_HOST_FLAGS
    -Wno-stringop-overflow   # g++ 12 sees one inside fmt::join
    -Wno-subobject-linkage   # the sources of a batch are no main files to it
    # Collecting its garbage took a twelfth of its time; so it needs 1.3 GB instead of 1.
    --param=ggc-min-heapsize=1048576)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER 15)
  # The std::stable_sort of libstdc++ 12 calls a deprecated function; g++ finds those in sources.
  list(APPEND OCTANT_HOST_FLAGS -Wno-deprecated-declarations)
endif()
list(JOIN OCTANT_HOST_FLAGS "," OCTANT_HOST_FLAGS_OF_NVCC)
target_compile_options(octant_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:${OCTANT_HOST_FLAGS}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${OCTANT_HOST_FLAGS_OF_NVCC}>)
if(OCTANT_MEMORY_APART)
  target_compile_definitions(octant_flags INTERFACE OCTANT_MEMORY_APART)
  target_link_options(octant_flags INTERFACE -rdynamic)  # names for its messages
endif()
if(OCTANT_KEY128)
  target_compile_definitions(octant_flags INTERFACE OCTANT_KEY128)
endif()
target_compile_definitions(octant_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

# The modules become parts of a module that Python loads.
if(OCTANT_PYTHON STREQUAL "module")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(octant_flags INTERFACE
    -fvisibility=hidden -fvisibility-inlines-hidden -fno-semantic-interposition)
endif()

if(OCTANT_CUDA)
  # fmt 9 mistrusts nvcc and leaves out `constexpr`, on which its checks of format strings rely.
  target_compile_definitions(octant_flags INTERFACE FMT_USE_CONSTEXPR=1)
endif()

if(OCTANT_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  target_compile_options(octant_flags INTERFACE ${sanitizers} -O1 -fno-omit-frame-pointer)
  target_link_options(octant_flags INTERFACE ${sanitizers})
endif()

# Only the libraries have counters of executed branches here; tests/fuzz adds the main program.
if(OCTANT_FUZZ)
  set(sanitizers -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow)
  target_compile_options(octant_flags INTERFACE
    ${sanitizers} -fno-sanitize-recover=all -O1 -g1 -fno-omit-frame-pointer)
  target_link_options(octant_flags INTERFACE ${sanitizers})
endif()

# Counters are atomic: with plain ones, threads lose counts, and gcov, which computes some counts as
# differences of others, then reports executed lines as not executed. Functions of tests and of the
# libraries' headers have no counters, which took most of the time of some tests.
if(OCTANT_COVERAGE)
  string(REGEX REPLACE "([][+.*()^$?{}|\\])" "\\\\\\1" folder "${PROJECT_SOURCE_DIR}/src/")
  target_compile_options(octant_flags INTERFACE
    --coverage -fprofile-update=atomic -fprofile-abs-path "-fprofile-filter-files=^${folder}" -O1)
  target_link_options(octant_flags INTERFACE --coverage)
endif()

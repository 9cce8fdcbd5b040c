# Makes a wheel that is built on Debian 12 (glibc 2.36) run on glibc 2.34 (RHEL 9, Ubuntu 22.04).
# The platform tag of a wheel follows from the newest symbols that it requires. Two are avoidable:
# hypot of glibc 2.35 (older_glibc.c), and std::condition_variable::wait of g++ 12 in the shared
# library of spdlog, whose headers are used instead.
set(OCTANT_SPDLOG spdlog::spdlog_header_only)

# octant_accept_older_glibc(<targets>...)
function(octant_accept_older_glibc)
  foreach(target ${ARGN})
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/older_glibc.c)
    target_link_options(${target} PRIVATE LINKER:--wrap=hypot)
  endforeach()
endfunction()

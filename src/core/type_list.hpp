// Types with names, for choices that a kernel must know when it is compiled:
//
//   struct Minmod { static constexpr const char* name = "minmod"; ... };
//   using Limiters = TypeList<Minmod, VanLeer>;
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace octant {

template <class... Types>
struct TypeList {
  // In the order of the list.
  static std::vector<std::string> names() { return {Types::name...}; }

  // Calls body.template operator()<T>() with the type of this name. Throws RunError if none has it.
  template <class Body>
  static void with(std::string_view name, const Body& body) {
    const bool found = ((name == Types::name && (body.template operator()<Types>(), true)) || ...);
    OCTANT_REQUIRE(found, "there is no \"{}\" among {}", name, fmt::join(names(), ", "));
  }
};

}  // namespace octant

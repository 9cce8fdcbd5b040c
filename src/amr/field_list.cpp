#include "amr/field_list.hpp"

#include "hydro/diagnostics.hpp"

namespace octant {

using mesh::LevelFields;

namespace {

// Returns gas variable n as a field, with a function that reads the values.
template <class Read>
MeshField gas_field(const AmrSimulation& simulation, const mesh::FieldInfo& info, int n,
                    const Read& read) {
  return {"hydro", info, [&simulation, read, n](int level, std::span<const int> slots) {
            const mesh::Mesh& mesh = simulation.mesh();
            return read(mesh.layout(), mesh.fields(level).blocks(LevelFields::k_now),
                        mesh.cells(level, slots), n);
          }};
}

MeshField gravity_field(const AmrSimulation& simulation, int n) {
  const gravity::StoredPotential& stored = simulation.gravity()->stored();
  return {"gravity", gravity::k_stored_fields[n].info(),
          [&simulation, &stored, n](int level, std::span<const int> slots) {
            return hydro::read_conserved(stored.layout(), stored.data(level),
                                         simulation.mesh().cells(level, slots), n);
          }};
}

MeshField face_field(const AmrSimulation& simulation, const mesh::StaggeredField& faces, int axis) {
  return {"faces", faces.info().component(axis),
          [&simulation, &faces, axis](int level, std::span<const int> slots) {
            return mesh::read_component(faces, level, simulation.mesh().cells(level, slots).blocks,
                                        axis);
          }};
}

void add_gas(std::vector<CheckpointField>& fields, AmrSimulation& simulation) {
  const hydro::GasVariables variables = simulation.options().hydro.variables();
  for (int n = 0; n < std::ssize(variables); ++n)
    fields.push_back({gas_field(simulation, variables[n].stored_field(), n, hydro::read_conserved),
                      variables[n].role == hydro::GasRole::separate
                          ? "radiation.enabled and ionization.*"
                          : "hydro.enabled, hydro.scalars and hydro.dual_energy",
                      [&mesh = simulation.mesh(), n](int level, const mesh::CellRange& blocks,
                                                     const std::vector<double>& values) {
                        hydro::write_conserved(mesh.layout(),
                                               mesh.fields(level).blocks(LevelFields::k_now),
                                               blocks, n, values);
                      }});
}

void add_gravity(std::vector<CheckpointField>& fields, AmrSimulation& simulation) {
  for (int n = 0; n < gravity::k_fields; ++n)
    fields.push_back(
        {gravity_field(simulation, n), "gravity.enabled",
         [&stored = simulation.gravity()->stored(), n](int level, const mesh::CellRange& blocks,
                                                       const std::vector<double>& values) {
           hydro::write_conserved(stored.layout(), stored.data(level), blocks, n, values);
         }});
}

void add_faces(std::vector<CheckpointField>& fields, const AmrSimulation& simulation) {
  for (const mesh::StaggeredField& faces : simulation.faces()->fields())
    for (int axis = 0; axis < 3; ++axis)
      fields.push_back({face_field(simulation, faces, axis), "the parameters of its process",
                        [&faces, axis](int level, const mesh::CellRange& blocks,
                                       const std::vector<double>& values) {
                          mesh::write_component(faces, level, blocks.blocks, axis, values);
                        }});
}

}  // namespace

std::vector<MeshField> shown_fields(const AmrSimulation& simulation) {
  std::vector<MeshField> fields;
  const hydro::HydroOptions& gas = simulation.options().hydro;
  const auto read = [&gas](const mesh::BlockLayout& layout, const double* blocks,
                           const mesh::CellRange& cells,
                           int n) { return hydro::read_primitive(gas, layout, blocks, cells, n); };
  const auto variables = gas.enabled ? gas.variables() : hydro::GasVariables{};
  for (int n = 0; n < std::ssize(variables); ++n)
    fields.push_back(gas_field(simulation, variables[n].shown_field(), n, read));
  for (int n = 0; simulation.gravity() && n < gravity::k_fields; ++n)
    if (gravity::k_stored_fields[n].is_shown) fields.push_back(gravity_field(simulation, n));
  if (simulation.faces())
    for (const mesh::StaggeredField& faces : simulation.faces()->fields())
      for (int axis = 0; axis < 3; ++axis) fields.push_back(face_field(simulation, faces, axis));
  return fields;
}

std::vector<CheckpointField> checkpoint_fields(AmrSimulation& simulation) {
  std::vector<CheckpointField> fields;
  if (simulation.options().hydro.enabled) add_gas(fields, simulation);
  if (simulation.gravity()) add_gravity(fields, simulation);
  if (simulation.faces()) add_faces(fields, simulation);
  return fields;
}

}  // namespace octant

// The face-centred fields of a run, such as a magnetic field. They follow every change of the mesh:
// values migrate with their blocks, and new blocks are prolonged without divergence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mesh/face_transfer.hpp"

namespace octant::mesh {

// Functions are collective unless they say otherwise.
class FaceFields {
 public:
  // Creates fields of zeros. Throws InputError as FaceTransfer does. The mesh must outlive it.
  FaceFields(Mesh& mesh, const CommOptions& options, std::vector<SolenoidalField> fields);
  FaceFields(const FaceFields&) = delete;
  FaceFields& operator=(const FaceFields&) = delete;

  // Sets all fields to the curl of their initial potential.
  void initialise();

  std::span<const StaggeredField> fields() const { return fields_; }
  // Throws RunError if there is no field of this name. Local.
  const StaggeredField& field(const std::string& name) const;
  FaceTransfer& transfer() { return transfer_; }

  // Operations on all levels at one time: fill ghost faces; restrict faces; replace electromotive
  // forces on coarse edges that fine ones cover by means of the fine ones.
  void fill_ghosts(const StaggeredField& faces);
  void restrict_faces(const StaggeredField& faces);
  void replace_forces(const StaggeredField& forces);

 private:
  void set_potential(int level, const VectorPotential& potential,
                     const StaggeredField& edges) const;
  void follow_mesh();

  const Mesh& mesh_;
  FaceTransfer transfer_;
  std::vector<VectorPotential> initial_potentials_;
  std::vector<StaggeredField> fields_;
};

}  // namespace octant::mesh

// The face-centred fields of a run, such as a magnetic field. At every regridding, values migrate
// with their blocks, and new blocks are filled by divergence-free prolongation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mesh/face_transfer.hpp"

namespace octant::mesh {

// Face-centred fields of a run on all levels. Functions are collective unless they say otherwise.
class FaceFields {
 public:
  // Creates fields of zeros. Throws InputError for blocks with fewer than 4 cells along an axis.
  // The mesh must outlive this object.
  FaceFields(Mesh& mesh, const CommOptions& options, std::vector<SolenoidalField> fields);
  FaceFields(const FaceFields&) = delete;
  FaceFields& operator=(const FaceFields&) = delete;

  // Sets all fields to the curl of their initial potential.
  void initialise();

  // All fields, in the order of the constructor's argument. Local.
  std::span<const StaggeredField> fields() const { return fields_; }
  // Returns the field with the given name. Throws RunError if there is none. Local.
  const StaggeredField& field(const std::string& name) const;
  // Operations that transfer fields between blocks, ranks and levels. Local.
  FaceTransfer& transfer() { return transfer_; }

  // Fills the ghost faces of all levels; the states of all levels must be at the same time.
  void fill_ghosts(const StaggeredField& faces);
  // Restricts faces from each level to the next coarser one, from the finest level to level 0.
  void restrict_faces(const StaggeredField& faces);
  // Replaces electromotive forces on coarse edges covered by fine edges by the mean of the fine
  // ones.
  void restrict_emfs(const StaggeredField& forces);

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

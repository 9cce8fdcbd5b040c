// The two kinds of outputs that RAMSES's family writes, behind ramses_output.hpp: files of every
// domain in a folder (ramses_folder.cpp), and cuRAMSES's HDF5 file (ramses_hdf5.cpp).
#pragma once

#include <memory>

#include "io/ramses_source.hpp"

namespace octant {

// Each adds what the texts of facts.folder, or the header of facts.hdf5_file, say of the whole.
// Throws InputError on every rank, naming the file, if it is not what RAMSES writes. Collective.
void read_folder_facts(const Communicator& communicator, RamsesFacts& facts);
void read_hdf5_facts(const Communicator& communicator, RamsesFacts& facts);

// Each opens what holds cells and particles. Collective; `facts` must outlive what it gives.
using OpenRamses = std::unique_ptr<RamsesSource>(const Communicator& communicator,
                                                 const RamsesFacts& facts, int chunk,
                                                 RamsesCells cells);
OpenRamses open_folder, open_hdf5;

}  // namespace octant

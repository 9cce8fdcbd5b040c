"""The columns of telemetry, as docs/telemetry.md describes them: version 1 of the schema."""

from collections.abc import Mapping

VERSION = 1

Columns = Mapping[str, tuple[str, str]]  # name: (type in SQL, meaning)

_FIRST: Columns = {
    "segment": ("SMALLINT", "0, and one more for each restart"),
    "step": ("BIGINT", "coarse step"),
}
_RANK: Columns = {"rank": ("INTEGER", "rank that recorded the row")}
_LEVEL: Columns = {"level": ("TINYINT", "refinement level; -1 where none applies")}
_SPAN: Columns = {
    "start_ns": ("BIGINT", "begin, ns since the run's start"),
    "end_ns": ("BIGINT", "end, ns since the run's start"),
}
_PHASE: Columns = {
    "phase": ("VARCHAR", "compute, pack, send, wait, unpack, collective, regrid, ..."),
    "name": ("VARCHAR", "kernel, component of an exchange, or purpose"),
}
_TASK: Columns = {"task": ("INTEGER", "number of the task in its step and rank; 0: the step")}
_KERNEL: Columns = {
    "name": ("VARCHAR", "kernel"),
    "part": ("VARCHAR", "part of the program that launched it"),
    **_TASK,
}
_MESH: Columns = {
    "blocks": ("BIGINT", "blocks"),
    "leaf_cells": ("BIGINT", "leaf cells"),
    "updates": ("BIGINT", "cell updates in the step"),
}

TABLES: Mapping[str, Columns] = {
    "steps": {
        **_FIRST,
        "time": ("DOUBLE", "time at the step's end, code units"),
        "dt": ("DOUBLE", "coarse time step, code units"),
        **_SPAN,
        **_MESH,
        "finest_level": ("TINYINT", "finest level in use"),
        "regridded": ("BOOLEAN", "whether the mesh was adapted"),
        "rebalanced": ("BOOLEAN", "whether blocks changed ranks"),
    },
    "ranks": {
        **_FIRST,
        **_RANK,
        "node": ("INTEGER", "node that the rank ran on"),
        **_SPAN,
        "cpu_ns": ("BIGINT", "processor time of the rank's threads"),
        "memory_bytes": ("BIGINT", "resident memory"),
        "memory_peak_bytes": ("BIGINT", "largest resident memory so far"),
        "data_bytes": ("BIGINT", "fields and particles, without tables and buffers"),
        "device_bytes": ("BIGINT", "arrays in device memory; 0 without a device"),
        **_MESH,
        "work": ("DOUBLE", "work units: cell updates times their weight"),
    },
    "phases": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        **_PHASE,
        **_TASK,
        "parent": ("INTEGER", "task that encloses it; -1: none"),
        "calls": ("INTEGER", "number of calls"),
        "start_ns": ("BIGINT", "begin of the first call"),
        "total_ns": ("BIGINT", "time with what is nested inside"),
        "self_ns": ("BIGINT", "time without what is nested inside"),
        "cpu_ns": ("BIGINT", "processor time of self_ns"),
        "cells": ("BIGINT", "cells worked on; 0 where none are"),
        "bytes": ("BIGINT", "bytes moved; 0 where none are"),
    },
    "kernels": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        **_KERNEL,
        "calls": ("INTEGER", "number of launches"),
        "start_ns": ("BIGINT", "when the first one began to run"),
        "duration_ns": ("BIGINT", "how long they ran"),
        "items": ("BIGINT", "cells, faces or particles worked on; 0: not known"),
        "bytes": ("BIGINT", "that they must move, were there no caches; 0: not known"),
        "operations": ("BIGINT", "of real numbers; 0: not known"),
    },
    "launches": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        **_KERNEL,
        "start_ns": ("BIGINT", "when it began to run, ns since the run's start"),
        "duration_ns": ("BIGINT", "how long it ran"),
    },
    "samples": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        "kind": ("VARCHAR", "task or kernel"),
        "name": ("VARCHAR", "name of the task or kernel"),
        **_TASK,
        "start_ns": ("BIGINT", "begin, ns since the run's start"),
        "duration_ns": ("BIGINT", "duration, with what is nested inside"),
    },
    "messages": {
        **_FIRST,
        **_RANK,
        "peer": ("INTEGER", "rank at the other end"),
        "component": ("VARCHAR", "component of the exchange"),
        "direction": ("VARCHAR", "send or receive"),
        "messages": ("INTEGER", "number of messages"),
        "bytes": ("BIGINT", "their bytes"),
        "wait_ns": ("BIGINT", "time stood still until they had arrived, or left"),
        "post_ns": ("BIGINT", "sum of the delays between the exchange's start and posting"),
    },
    "copies": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        "name": ("VARCHAR", "part of the program"),
        "cargo": ("VARCHAR", "fields, particles, messages, lists, numbers, tables or files"),
        "way": ("VARCHAR", "to_device or to_host"),
        "copies": ("INTEGER", "number of copies"),
        "bytes": ("BIGINT", "their bytes, copied or not"),
    },
    "blocks": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        "key": ("UBIGINT", "Morton key of the block"),
        "updates": ("SMALLINT", "sub-steps"),
        "cost_ns": ("FLOAT", "measured time of its kernels in the coarse step"),
        "work": ("FLOAT", "work units"),
        "gravity_ns": ("FLOAT", "part of cost_ns: gravity"),
        "cells_ns": ("FLOAT", "part of cost_ns: processes on cells, such as cooling"),
        "particles_ns": ("FLOAT", "part of cost_ns: motion and mass deposition of particles"),
        "interactions_ns": (
            "FLOAT",
            "part of cost_ns: processes on gas and particles, such as feedback",
        ),
    },
    "placement": {
        **_FIRST,
        **_LEVEL,
        "policy": ("VARCHAR", "placement policy"),
        "cplx_x": ("FLOAT", "percentage of ranks that CPLX rebalances"),
        "makespan_before": ("DOUBLE", "largest over mean cost before"),
        "makespan_after": ("DOUBLE", "largest over mean cost after"),
        "blocks_moved": ("BIGINT", "blocks that changed ranks"),
        "bytes_moved": ("BIGINT", "their bytes"),
        "off_rank_share": ("DOUBLE", "share of neighbours' bytes that leave the rank"),
        "off_node_share": ("DOUBLE", "share of neighbours' bytes that leave the node"),
        "duration_ns": ("BIGINT", "time that it took"),
    },
    "events": {
        **_FIRST,
        **_RANK,
        **_LEVEL,
        **_PHASE,
        "start_ns": ("BIGINT", "begin, ns since the run's start"),
        "duration_ns": ("BIGINT", "duration"),
        "peer": ("INTEGER", "rank at the other end; -1 where none"),
        "sequence": ("BIGINT", "number of the message between the pair; -1 where none"),
        "bytes": ("BIGINT", "bytes moved"),
    },
}

# What the views add to a table, or are made of.
NODE = {"node": ("INTEGER", "node of the rank")}
DURATION = {"duration_ns": ("BIGINT", "end_ns - start_ns")}

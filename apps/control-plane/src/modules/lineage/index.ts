/** Public face of the instance's lineage: which database this is, and what was erased for good. */

export { createErasureMacs, type ErasureMacs } from './erasure-macs.ts'
export { type Erased, listErasures, recordErasure, takeErasures } from './erasures.ts'
export { createLineage, type Lineage, type Remembered } from './lineage.ts'
export { createStoreMemory, type StoreMemory } from './store-memory.ts'

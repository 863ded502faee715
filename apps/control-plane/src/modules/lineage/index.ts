/** Public interface of the lineage module: detection of a restored database, and permanent erasures. */

export { createErasureMacs, type ErasureMacs } from './erasure-macs.ts'
export { type Erased, listErasures, recordErasure, recordErasures } from './erasures.ts'
export { createLineage, type Lineage, type Remembered } from './lineage.ts'
export { createStoreMemory, type StoreMemory } from './store-memory.ts'

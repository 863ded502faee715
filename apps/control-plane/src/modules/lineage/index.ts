/** Public interface of the lineage module: detection of a restored database, and permanent erasures. */

export { areCopiesChecked, markCopiesChecked, markObjectsChecked } from './checked-epoch.ts'
export type { ErasureMacs } from './erasure-macs.ts'
export { type Erased, listErasures, recordErasure, recordErasures } from './erasures.ts'
export type { Lineage } from './lineage.ts'
export { createLineageModule, type LineageModule } from './module.ts'

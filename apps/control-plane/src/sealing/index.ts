/** Public face of sealing: secrets at rest, each under a key of the organization or person it belongs to. */
export { ensureKeyRing, findKeyRing, type KeyRing, newRingEntry, parseKeyRing } from './key-ring.ts'
export { createKeyUpkeep, type KeyUpkeep } from './key-upkeep.ts'
export {
  finishRotations,
  type RotationContext,
  rewrapDataKeys,
  rotateDataKey,
  rotateDataKeys,
} from './rotate-keys.ts'
export type { KeyOwner, Place, SealedColumn } from './sealed-place.ts'
export { Unreadable } from './sealed-value.ts'
export { checkKeyRing, createSealer, type Sealer } from './sealer.ts'

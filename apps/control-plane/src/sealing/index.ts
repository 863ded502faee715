/** Public face of sealing: encrypts secrets at rest with a data key of their organization or person. */
export { ensureKeyRing, findKeyRing, type KeyRing, newRingEntry, parseKeyRing } from './key-ring.ts'
export { createKeyUpkeep, type KeyUpkeep } from './key-upkeep.ts'
export {
  finishRotations,
  type RotationContext,
  rewrapDataKeys,
  rotateDataKey,
  rotateDataKeys,
} from './rotate-keys.ts'
export { instanceOwner, type KeyOwner, type Place, type SealedColumn } from './sealed-place.ts'
export { Unreadable } from './sealed-value.ts'
export { checkKeyRing, createSealer, type Sealer } from './sealer.ts'

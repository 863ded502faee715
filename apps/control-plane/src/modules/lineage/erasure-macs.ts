/**
 * MACs of the erasures that hosts keep. After a restore the instance reads erasures back from hosts, which may be hostile,
 * and accepts only those that it signed itself. Replaying an old MAC is harmless, because an erasure is permanent.
 */
import type { KeyRing } from '../../sealing/index.ts'
import type { Erased } from './erasures.ts'

const textOf = ({ kind, id }: Erased): string => JSON.stringify(['dock erasure v1', kind, id])

export type ErasureMacs = {
  signed(erased: Erased): Erased & { mac: string }
  isOurs(erased: Erased & { mac?: string | undefined }): boolean
}

export function createErasureMacs(ring: KeyRing): ErasureMacs {
  return {
    signed: ({ kind, id }) => ({ kind, id, mac: ring.mac(textOf({ kind, id })) }),
    isOurs: ({ mac, ...erased }) => mac !== undefined && ring.isMac(textOf(erased), mac),
  }
}

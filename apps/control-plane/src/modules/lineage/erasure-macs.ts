/**
 * MACs of erasures that hosts keep. After a restore they come back from hosts, which may be hostile: only what the instance
 * itself has said counts. An old MAC does no harm, since what was erased stays erased.
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

import { awaitImage } from './await-image.ts'
import { builders } from './builders.ts'
import { declareLost } from './declare-lost.ts'
import { hostToken } from './host-token.ts'
import { limits } from './limits.ts'
import { plan } from './plan.ts'
import { quarantine } from './quarantine.ts'
import { removeImage } from './remove-image.ts'
import { rotateKeys } from './rotate-keys.ts'
import { rotateSshHostKeys } from './rotate-ssh-host-keys.ts'
import type { Verb } from './verb.ts'

/** The verbs of script/admin by name, in the order of the list. */
export const verbs: ReadonlyMap<string, Verb> = new Map([
  ['builders', builders],
  ['declare-lost', declareLost],
  ['host-token', hostToken],
  ['limits', limits],
  ['plan', plan],
  ['quarantine', quarantine],
  ['rotate-keys', rotateKeys],
  ['rotate-ssh-host-keys', rotateSshHostKeys],
  ['await-image', awaitImage],
  ['remove-image', removeImage],
])

/** All targets of the fuzz. The doors of a Run's Dock are reached from inside it, see open-doors.ts. */
import { fileTargets } from './file-targets.ts'
import { portTargets } from './port-targets.ts'
import { processTargets } from './process-targets.ts'
import { serviceTargets } from './service-targets.ts'
import { snapshotTargets } from './snapshot-targets.ts'
import { sshTargets } from './ssh-targets.ts'
import type { Target } from './target.ts'
import { upgradeTargets } from './upgrade-targets.ts'

export const allTargets: readonly Target[] = [
  ...[...snapshotTargets, ...fileTargets, ...processTargets, ...serviceTargets, ...upgradeTargets],
  ...[...portTargets, ...sshTargets],
]

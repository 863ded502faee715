/**
 * script/prove hostile [part...]: starts Dock in a separate network namespace and attacks it: by a hostile host, the
 * control plane's user, a local user and a tenant, and by floods, flushed firewall rules, a full disk, squatted invitations,
 * squatted SSH keys, accounts of nobody, responses and connections without an end, hostile disks, floods of output and disks
 * that are costly to copy. Each attack has a positive control and prints a line. Exits with 1 if any attack succeeded.
 */
import { fileURLToPath } from 'node:url'
import { print } from '../../bench/parts/bench-server.ts'
import { fakeAccounts } from './hostile/accounts.ts'
import { within } from './hostile/attackers.ts'
import { hostileDockUser } from './hostile/dock-user.ts'
import { floodsOf } from './hostile/floods.ts'
import { fullDisk } from './hostile/full-disk.ts'
import { attackedGates } from './hostile/gates.ts'
import { hostileHost } from './hostile/host.ts'
import { squattedInvitations } from './hostile/invitations.ts'
import { floodOfOutput } from './hostile/kept-output.ts'
import { hostileLocalUser } from './hostile/local-user.ts'
import { isInOwnNetwork, runInOwnNetwork } from './hostile/own-network.ts'
import { hostileDisk } from './hostile/parser.ts'
import { createReport, type Report } from './hostile/report.ts'
import { flushedRules } from './hostile/rules.ts'
import { snapshotBombs } from './hostile/snapshot-bombs.ts'
import { squattedSshKeys } from './hostile/ssh-keys.ts'
import { hostileTenant } from './hostile/tenant.ts'

const parts: Record<string, (report: Report) => Promise<void>> = {
  host: hostileHost,
  'dock-user': hostileDockUser,
  'local-user': hostileLocalUser,
  tenant: hostileTenant,
  floods: floodsOf,
  rules: flushedRules,
  'full-disk': fullDisk,
  invitations: squattedInvitations,
  gates: attackedGates,
  accounts: fakeAccounts,
  'ssh-keys': squattedSshKeys,
  parser: hostileDisk,
  'kept-output': floodOfOutput,
  'snapshot-bombs': snapshotBombs,
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)
const unknown = wanted.filter((name) => !parts[name])
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(' ')}`)
  process.exit(2)
}
if (!isInOwnNetwork()) process.exit(await runInOwnNetwork([fileURLToPath(import.meta.url), ...wanted]))

const partMs = 600_000
let failed = 0
for (const name of wanted) {
  const report = createReport(name)
  const begin = performance.now()
  try {
    await within(partMs, parts[name]!(report), name)
  } catch (error) {
    report.attack({ what: 'the part itself', control: true, holds: false, seen: String(error) })
  }
  failed += report.failed()
  print(`       ${name}: ${Math.round((performance.now() - begin) / 1000)} s`)
}
print(failed === 0 ? 'every attack was repelled' : `${failed} attacks succeeded or had no control`)
process.exit(failed === 0 ? 0 : 1)

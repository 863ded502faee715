/**
 * Shows that nothing is lost and nothing left behind when the control plane, the agent or clients are killed while bytes
 * flow, and when strangers and clients misbehave. `script/prove ssh [PART=COUNT …]`; parts: control-plane, agent and
 * client (kills, 50 each), handshakes (10000), uploads (1000), readers (100). A count of 0 leaves a part out.
 */
import { freePort } from '@dock/testkit/src/free-port.ts'
import { print, withServer } from '../../bench/parts/bench-server.ts'
import { createSshClient } from '../api/ssh/ssh-client.ts'
import { createDock } from '../e2e/support/dock.ts'
import { type Check, proveKills } from './ssh/kills.ts'
import { proveNoLeaks } from './ssh/leaks.ts'
import { readFatalLines } from './ssh/process-figures.ts'

const counts = {
  'control-plane': 50,
  agent: 50,
  client: 50,
  handshakes: 10_000,
  uploads: 1_000,
  readers: 100,
}
for (const argument of process.argv.slice(2)) {
  const [part = '', count] = argument.split('=')
  if (!(part in counts) || !/^\d+$/.test(count ?? '')) {
    print(`usage: script/prove ssh [PART=COUNT …], where PART is one of: ${Object.keys(counts).join(' ')}`)
    process.exit(2)
  }
  counts[part as keyof typeof counts] = Number(count)
}

let problems = 0
const check: Check = (what, holds, detail = '') => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

const port = await freePort()
// Sandboxes of the warm pool would come and go, with their files.
await withServer({ DOCK_SSH_PORT: String(port), DOCK_WARM_POOL: '0' }, async (server) => {
  const client = await createSshClient(() => port)
  try {
    const publicKey = await client.makeKey('id', '-t', 'ed25519')
    await server.client.call('addSshKey', { body: { name: 'prove', publicKey } })
    const { id } = await createDock(server)
    await proveKills(server, id, client, counts, check)
    await proveNoLeaks(server, id, port, counts, check)
    const fatal = await readFatalLines(server)
    check('nothing fatal is in the log', fatal.length === 0, fatal.slice(0, 3).join('\n'))
  } finally {
    await client.remove()
  }
})
print(problems === 0 ? 'nothing is lost, and nothing left behind' : `${problems} problems`)
process.exit(problems === 0 ? 0 : 1)

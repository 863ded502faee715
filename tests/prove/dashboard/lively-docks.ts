/** Real Docks in several states, with files, processes, ports, Snapshots and a Template. */
import { setTimeout as delay } from 'node:timers/promises'
import { sandboxOf } from '../../crash/processes.ts'
import { createDock, exec, run, untilState } from '../../e2e/support/dock.ts'
import type { Server } from '../../e2e/support/server.ts'
import { writeUsageHistory } from './usage-history.ts'

export type LivelyDocks = {
  /** On, with files, processes and an exposed port. */
  shop: string
  /** Archived, with two Snapshots. */
  report: string
  snapshots: readonly [older: string, newer: string]
  /** Its machine ended too often. */
  broken: string
  template: string
}

/** A busy machine takes long to boot a Dock again and again. These only end a proof that waits for nothing. */
const brokenWithinMs = 900_000
const stateWithinMs = 600_000
const lookEveryMs = 500
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const makeShop = async (server: Server): Promise<string> => {
  const { client, dataDir } = server
  const { id } = await createDock(server, { name: 'web-shop', environment: 'web-app', ttlSeconds: 7200 })
  await run(
    server,
    id,
    `mkdir -p src/pages docs && printf '# Web shop\n\nRun \`npm start\`.\n' > README.md &&
     printf 'export const answer = 42\n' > src/index.ts && touch src/pages/cart.tsx docs/plan.md &&
     ln -s README.md link && echo ${png} | base64 -d > logo.png && head -c 4096 /dev/urandom > data.bin &&
     touch 'a name with spaces, which is much longer than a narrow page is wide.txt'`,
  )
  await client.call('exposePort', { params: { id }, body: { port: 3000 } })
  for (const command of [
    'while true; do date; sleep 5; done',
    'echo "Listening on 3000"; sleep infinity',
    'exit 3',
    'echo built',
  ])
    await client.call('startDockProcess', { params: { id }, body: { command } })
  await writeUsageHistory(dataDir, id)
  return id
}

const makeReport = async (server: Server) => {
  const { client } = server
  const { id } = await createDock(server, { name: 'nightly-report' })
  const params = { id }
  const stop = async (): Promise<void> => {
    await client.call('stopDock', { params, body: {} })
    await untilState(server, id, ['archived'], stateWithinMs)
  }
  await run(server, id, 'mkdir data && echo one > report.txt && echo 1 > data/kept.csv && echo x > old.txt')
  await stop()
  await client.call('resumeDock', { params, body: {} })
  await untilState(server, id, ['ready', 'idle', 'running'], stateWithinMs)
  await run(server, id, 'echo "one and two" > report.txt && rm old.txt && echo 2 > data/new.csv')
  await stop()
  const { snapshots } = await client.call('listDockSnapshots', { params, query: { limit: 10 } })
  const [newer, older] = snapshots
  if (!newer || !older) throw new Error('the report has fewer than two Snapshots')
  await client.call('createTemplate', { body: { dockId: id, name: 'report-base' } })
  return { report: id, snapshots: [older.id, newer.id] as const, template: 'report-base' }
}

/** Ends the machine of a Dock until Dock no longer restarts it. Each end makes entries of the timeline and alerts. */
const makeBroken = async (server: Server): Promise<string> => {
  const { id } = await createDock(server, { name: 'import-of-orders' })
  const deadline = Date.now() + brokenWithinMs
  let killed: number | undefined
  while ((await server.client.call('readDock', { params: { id } })).state !== 'error') {
    if (Date.now() > deadline) throw new Error('a Dock whose machine ends again and again is still restarted')
    const pid = await sandboxOf(id).catch(() => undefined)
    if (pid !== undefined && pid !== killed) process.kill(pid, 'SIGKILL')
    killed = pid ?? killed
    // A sandbox that nobody uses is frozen, and a frozen process does not end. A command thaws it.
    await exec(server, id, 'true').catch(() => undefined)
    await delay(lookEveryMs)
  }
  return id
}

/** Makes the Docks. The Environment `web-app` must exist. */
export async function makeLivelyDocks(server: Server): Promise<LivelyDocks> {
  const { client, admin } = server
  const [shop, report, broken] = await Promise.all([
    makeShop(server),
    makeReport(server),
    makeBroken(server),
    createDock(server, { name: `${'a-name-of-a-hundred-letters-'.repeat(4).slice(0, 97)}end` }),
    createDock(server, { name: '<img src=x onerror=alert(1)> \u05d0\u05d1\u05d2 & co' }),
    client.call('createDock', {
      body: {
        workspaceId: admin.workspaceId,
        name: 'setup-that-fails',
        ...{ cpus: 1, memoryMiB: 1024, diskGiB: 2 },
        setupScript: 'echo "no such package" >&2; exit 1',
      },
    }),
  ])
  return { shop, ...report, broken }
}

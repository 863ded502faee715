/** What the fuzz works on: running Docks with files, processes and a hosted port, Snapshots, a session and SSH. */
import { createHash } from 'node:crypto'
import { createSshClient, type SshClient } from '../../api/ssh/ssh-client.ts'
import { createDock, run, untilState } from '../../e2e/support/dock.ts'
import type { Server } from '../../e2e/support/server.ts'
import { sessionCookie } from '../../e2e/support/session.ts'
import { hostedPort, hostedProgram } from './hosted-program.ts'
import { endMaster } from './ssh-master.ts'

export const largeBytes = 30_000_000

export type Machine = {
  id: string
  /** Processes: one writes without end, one keeps much output, one is a shell with a terminal. */
  writer: string
  holder: string
  shell: string
  /** The value of `Host` that leads to its hosted port. */
  portHost: string
}

export type World = {
  server: Pick<Server, 'admin' | 'client' | 'dataDir'>
  port: number
  machines: readonly Machine[]
  /** `later` is of the same Dock. `digest` is that of the large file. */
  snapshots: { id: string; later: string; digest: string }
  cookie: string
  /** Paths of documents and pages. */
  pages: readonly string[]
  ssh: { client: SshClient; port: number } | null
}

const startMachine = async (server: World['server'], id: string): Promise<Machine> => {
  const start = async (body: { command: string; pty?: { cols: number; rows: number }; stdin?: boolean }) =>
    (await server.client.call('startDockProcess', { params: { id }, body })).id
  const program = Buffer.from(hostedProgram).toString('base64')
  await run(
    server,
    id,
    `echo ${program} | base64 -d >/tmp/hosted.py; mkdir -p unpacked; head -c ${largeBytes} /dev/urandom >large; echo small >small`,
  )
  await start({ command: 'exec python3 /tmp/hosted.py' })
  const [writer, holder, shell, exposed] = await Promise.all([
    // One process: starting programs in a loop would take most of a processor.
    start({
      command: `exec perl -e '$| = 1; for (;;) { print "\\0" x 20000; print STDERR "err\\n"; select undef, undef, undef, 0.1 }'`,
    }),
    start({ command: 'head -c 3500000 /dev/urandom; exec sleep infinity' }),
    // Ctrl-C between two of its shells must not end it.
    start({
      command: 'trap : INT; while :; do bash; sleep 0.5; done',
      pty: { cols: 80, rows: 24 },
      stdin: true,
    }),
    server.client.call('exposePort', { params: { id }, body: { port: hostedPort } }),
  ])
  await run(server, id, `until (exec 3<>/dev/tcp/127.0.0.1/${hostedPort}) 2>/dev/null; do sleep 0.05; done`)
  return { id, writer, holder, shell, portHost: new URL(exposed.url ?? '').host }
}

const archive = async (server: World['server'], id: string): Promise<string> => {
  await server.client.call('stopDock', { params: { id }, body: {} })
  await untilState(server, id, ['archived'])
  const snapshot = await server.client.call('readLatestSnapshot', { params: { id } })
  return snapshot!.id
}

/** Makes two Snapshots of one Dock, which is archived then. */
const makeSnapshots = async (server: World['server']): Promise<World['snapshots'] & { dockId: string }> => {
  const { id: dockId } = await createDock(server)
  const digest = await run(
    server,
    dockId,
    `head -c ${largeBytes} /dev/urandom >large; echo small >small; for n in $(seq 300); do echo $n >of-many-$n; done
     sha256sum <large | cut -d' ' -f1`,
  )
  const id = await archive(server, dockId)
  await server.client.call('resumeDock', { params: { id: dockId }, body: {} })
  await untilState(server, dockId, ['ready'])
  await run(server, dockId, 'for n in $(seq 100); do echo changed >of-many-$n; done')
  return { id, later: await archive(server, dockId), digest: digest.trim(), dockId }
}

const findPages = async (baseUrl: string): Promise<string[]> => {
  const index = await (await fetch(baseUrl, { headers: { accept: 'text/html' } })).text()
  const assets = [...index.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path!)
  return ['/openapi.json', '/openapi.json', '/docs/', '/docs/cli/', '/', '/health', ...assets]
}

/** Prepares everything on a server that runs. With `sshPort` null, SSH is left out. */
export async function prepareWorld(
  server: World['server'],
  options: { machines: number; sshPort: number | null },
): Promise<World & { dockIds: string[]; close(): Promise<void> }> {
  const { dockId, ...snapshots } = await makeSnapshots(server)
  const machines: Machine[] = []
  while (machines.length < options.machines)
    machines.push(await startMachine(server, (await createDock(server)).id))
  const { sshPort } = options
  const client = sshPort === null ? null : await createSshClient(() => sshPort)
  if (client) {
    const publicKey = await client.makeKey('id', '-t', 'ed25519')
    await server.client.call('addSshKey', { body: { name: `aborts ${Date.now()}`, publicKey } })
  }
  return {
    ...{ server, machines, snapshots },
    port: Number(new URL(server.admin.baseUrl).port),
    cookie: await sessionCookie(server.admin),
    pages: await findPages(server.admin.baseUrl),
    ssh: client && sshPort !== null ? { client, port: sshPort } : null,
    dockIds: [dockId, ...machines.map(({ id }) => id)],
    close: async () => {
      if (client) await endMaster(client)
      await client?.remove()
    },
  }
}

/** Returns the digest of the large file in the Snapshot as the service sends it. */
export async function readDigest({ server, snapshots }: World): Promise<string> {
  const query = { path: '/home/user/work/large' }
  const bytes = await server.client.call('readSnapshotFile', { params: { id: snapshots.id }, query })
  return createHash('sha256').update(new Uint8Array(bytes)).digest('hex')
}

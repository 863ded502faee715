/**
 * Fills the data folder's filesystem to the last byte while Docks run, then frees the space again. The second time it also
 * makes the kernel give up the disk pool.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { processOf } from '../../crash/processes.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import { type Server, startServer } from '../../e2e/support/server.ts'
import { untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

const execute = promisify(execFile)
const fullMs = 15_000
const recoverMs = 60_000

/** Writes metadata of the pool until the kernel makes it read-only. Returns true if it did. */
const breakPool = async (server: { dataDir: string; port: number }): Promise<boolean> => {
  const [agent, pool] = [await processOf('agent', server), join(server.dataDir, 'host/pool')]
  const write = `mkdir -p ${pool}/files && cd ${pool}/files && seq 20000 | xargs touch; sync -f .`
  await execute('nsenter', [`--mount=/proc/${agent}/ns/mnt`, 'sh', '-c', write]).catch(() => undefined)
  const mount = (await readFile(`/proc/${agent}/mountinfo`, 'utf8'))
    .split('\n')
    .find((line) => line.split(' ')[4] === pool)
  return mount !== undefined && / ro[ ,]/.test(`${mount},`)
}

/** Waits until a file that a Dock synced before can be read, and a new Dock works. */
const comesBack = async (server: Server, dockId: string): Promise<{ holds: boolean; seen: string }> => {
  const failures = new Set<string>()
  const until = (holds: () => Promise<boolean>) =>
    untilTrue(holds, recoverMs, 500, (error) => failures.add(String(error)))
  const told = (ms: number | null, does: string, doesNot: string): string =>
    ms === null ? `${doesNot}: ${[...failures].join(' ')}` : `${does} after ${ms} ms`
  const backMs = await until(async () => (await run(server, dockId, 'cat kept')).trim() === 'kept')
  const createMs = await until(async () => {
    const fresh = await createDock(server)
    return (await run(server, fresh.id, 'echo works')).trim() === 'works'
  })
  return {
    holds: backMs !== null && createMs !== null,
    seen: `the Dock’s file is ${told(backMs, 'read', 'not read')}, a create ${told(createMs, 'works', 'does not work')}`,
  }
}

export async function fullDisk(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-full-'))
  const [image, dataDir] = [join(folder, 'disk.img'), join(folder, 'data')]
  await execute('truncate', ['-s', '12G', image])
  await execute('mkfs.ext4', ['-q', '-F', '-m', '0', image])
  await mkdir(dataDir)
  await execute('mount', ['-o', 'loop', image, dataDir])
  let server: Server | undefined
  try {
    await chmod(dataDir, 0o700)
    const port = await freePort()
    server = await startServer(dataDir, port, { DOCK_WARM_POOL: '1' })
    const { client, admin } = server
    const dock = await createDock(server)
    await run(server, dock.id, 'echo kept >kept; sync')
    const database = await processOf('database', { dataDir, port })

    const ballast = join(dataDir, 'ballast')
    const freeBytes = async (): Promise<number> => {
      const { bavail, bsize } = await statfs(dataDir)
      return bavail * bsize
    }
    const fill = async (): Promise<void> => {
      await execute('fallocate', ['-l', String(await freeBytes()), ballast]).catch(() => undefined)
      await execute('sh', ['-c', `cat /dev/zero >>${join(dataDir, 'rest')} 2>/dev/null; true`])
    }
    await fill()
    let left = await freeBytes()
    const refused: string[] = []
    const begun = performance.now()
    while (performance.now() - begun < fullMs) {
      await client
        .call('createDock', {
          body: { workspaceId: admin.workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2 },
        })
        .catch((error: { code?: string }) => refused.push(error.code ?? String(error)))
      await run(server, dock.id, 'head -c 20M /dev/urandom >noise').catch(() => undefined)
      // Space that was freed meanwhile is filled again.
      await fill()
      left = Math.min(left, await freeBytes())
      await delay(500)
    }
    const health = await fetch(`${admin.baseUrl}/health`).then(
      ({ status }) => status,
      () => 0,
    )
    const databaseNow = await processOf('database', { dataDir, port })
    report.attack({
      what: 'the data folder’s disk is full',
      control: left < 2 ** 20,
      holds: database !== null && databaseNow === database,
      seen: `${left} bytes are left, PostgreSQL is ${databaseNow === database ? 'the same process' : databaseNow === null ? 'gone' : 'another process'}, /health returns ${health}, creates end with ${[...new Set(refused)].join(' ') || 'success'}`,
    })

    const empty = async (): Promise<void> => {
      for (const name of ['ballast', 'rest']) await rm(join(dataDir, name), { force: true })
    }
    await empty()
    report.attack({ what: 'space comes back', control: true, ...(await comesBack(server, dock.id)) })

    await fill()
    const isReadOnly = await untilTrue(() => breakPool({ dataDir, port }), fullMs, 500)
    // The next agent finds the read-only pool and sandboxes that use it.
    const agent = await processOf('agent', { dataDir, port })
    if (agent !== null) process.kill(agent, 'SIGKILL')
    await empty()
    report.attack({
      what: 'the kernel makes the disk pool read-only, and the agent is killed',
      control: isReadOnly !== null,
      ...(await comesBack(server, dock.id)),
    })
  } finally {
    await server?.interrupt()
    const isUnmounted = await untilTrue(() => execute('umount', [dataDir]).then(() => true), 10_000, 500)
    // The kernel may still be releasing the pool's loop device.
    if (isUnmounted === null) await execute('umount', ['--lazy', dataDir])
    await rm(folder, { recursive: true, force: true })
  }
}

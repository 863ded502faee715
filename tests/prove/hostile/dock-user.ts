/**
 * Attacks by the control plane's user, who owns the control folder: it replaces files and folders that root's processes
 * create, change or read with symlinks. The targets stand for /etc and other files of root.
 */
import {
  chmod,
  chown,
  lchown,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { processOf } from '../../crash/processes.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../../e2e/support/server.ts'
import { runAs, untilTrue, within } from './attackers.ts'
import type { Report } from './report.ts'

const secret = 'a-secret-of-root'
const startMs = 45_000

export async function hostileDockUser(report: Report): Promise<void> {
  const dataDir = await newDataDir()
  const control = join(dataDir, 'control')
  const port = await freePort()
  const targets = await mkdtemp(join(tmpdir(), 'dock-stand-in-'))
  const secretFile = join(targets, 'shadow')
  await writeFile(secretFile, secret, { mode: 0o600 })
  const settings = { DOCK_WARM_POOL: '0' }
  let server: Server | undefined = await startServer(dataDir, port, settings)
  try {
    const { uid } = await stat(control)
    const facts = async (path: string) => {
      const { uid: owner, gid, mode } = await stat(path)
      return `${owner}:${gid} ${(mode & 0o7777).toString(8)}`
    }
    await chmod(targets, 0o755)
    const before = [await facts(targets), await facts(secretFile)].join(', ')
    /** Restores owner and mode of the targets after an attack. */
    const restore = async (): Promise<void> => {
      for (const path of [targets, secretFile]) await chown(path, 0, 0)
      await chmod(targets, 0o755)
      await chmod(secretFile, 0o600)
    }
    const asDock = async (name: string, target: string): Promise<void> => {
      const path = join(control, name)
      await rename(path, `${path}.of-before`).catch(() => undefined)
      await symlink(target, path)
      await lchown(path, uid, uid)
    }
    const putBack = async (name: string): Promise<void> => {
      const path = join(control, name)
      await rm(path, { force: true, recursive: true })
      await rename(`${path}.of-before`, path).catch(() => undefined)
    }
    const canWrite = await runAs(uid, 'sh', ['-c', 'true']).then(() => uid !== 0)

    // Kills PostgreSQL, because the process that restarts it prepares its folder.
    const database = await processOf('database', { dataDir, port })
    await asDock('run', targets)
    if (database) process.kill(database, 'SIGKILL')
    await untilTrue(async () => (await processOf('database', { dataDir, port })) !== null, 5_000)
    const afterKill = [await facts(targets), await facts(secretFile)].join(', ')
    await server.interrupt()
    server = undefined
    await putBack('run')
    await restore()
    report.attack({
      what: 'control/run becomes a link, PostgreSQL is killed',
      control: canWrite,
      holds: afterKill === before,
      seen: afterKill === before ? 'the target is unchanged' : `owner and mode are now ${afterKill}`,
    })

    for (const [name, target] of [
      ['run', targets],
      ['keys', targets],
      ['outbox', targets],
      ['pg.new', targets],
      ['admin.json', secretFile],
    ] as const) {
      await asDock(name, target)
      const started = await within(startMs, startServer(dataDir, port, settings), `start with ${name}`).then(
        (each) => each,
        (error: Error) => error,
      )
      const now = [await facts(targets), await facts(secretFile)].join(', ')
      const copied = await readFile(join(dataDir, 'admin.json'), 'utf8').catch(() => '')
      const isSafe = now === before && !copied.includes(secret)
      const how = started instanceof Error ? 'refused to start' : 'started'
      if (!(started instanceof Error)) await started.interrupt()
      await putBack(name)
      await restore()
      report.attack({
        what: `control/${name} becomes a link, then a restart`,
        control: canWrite,
        holds: isSafe,
        seen: `${how}, ${isSafe ? 'the target is unchanged' : `now ${now}${copied.includes(secret) ? ', its content was copied' : ''}`}`,
      })
    }

    // The agent must register again, and finds a symlink in place of its token.
    server = await startServer(dataDir, port, settings)
    const credential = join(dataDir, 'host/credential.json')
    const register = async (): Promise<boolean> => {
      await rm(credential)
      const agent = await processOf('agent', { dataDir, port })
      if (agent) process.kill(agent, 'SIGKILL')
      return (await untilTrue(async () => (await readFile(credential, 'utf8')) !== '', 15_000)) !== null
    }
    const isRegistered = await register()
    await asDock('run/join-token', secretFile)
    const registered = await register()
    report.attack({
      what: 'control/run/join-token becomes a link to a file of root’s, the agent must register',
      control: canWrite && isRegistered,
      holds: registered,
      seen: registered
        ? 'the agent registers with its own token'
        : 'the agent sends the content of the link’s target',
    })
  } finally {
    await server?.interrupt()
    await removeDataDir(dataDir)
    await rm(targets, { recursive: true })
  }
}

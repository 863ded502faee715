/** Attacks by an unprivileged local user, `nobody`: reading files and processes, and taking the server's port. */
import { spawn } from 'node:child_process'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { processOf } from '../../crash/processes.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import { joinToken } from '../../e2e/support/second-machine.ts'
import { newDataDir, removeDataDir, startServer } from '../../e2e/support/server.ts'
import { nobody, runAs, untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

/** A program that binds the port as soon as possible, prints a line, and keeps the port. */
const squatter = `use IO::Socket::INET; $| = 1;
  for (;;) {
    my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ARGV[0], Listen => 5, ReuseAddr => 1);
    if ($s) { print "won\\n"; sleep 600 }
    select(undef, undef, undef, 0.0005);
  }`

const startSquatter = (port: number) => {
  const user = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--']
  const child = spawn('setpriv', [...user, 'perl', '-e', squatter, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let hasWon = false
  child.stdout.on('data', () => (hasWon = true))
  return { hasWon: () => hasWon, end: () => child.kill('SIGKILL') }
}

const readableFiles = async (folder: string): Promise<string[]> => {
  const found = await runAs(nobody, 'find', [folder, '-type', 'f', '-readable', '-print']).catch(
    // find fails if it cannot read a folder, but still prints the other files.
    (error: { stdout?: string }) => error.stdout ?? '',
  )
  return found.split('\n').filter(Boolean)
}

const commandLines = (): Promise<string> =>
  runAs(nobody, 'sh', [
    '-c',
    'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"; true',
  ])

export async function hostileLocalUser(report: Report): Promise<void> {
  const dataDir = await newDataDir()
  // The mode that script/server uses. newDataDir creates a closed folder.
  await chmod(dataDir, 0o755)
  const port = await freePort()
  const shmBefore = new Set(await readdir('/dev/shm'))
  const server = await startServer(dataDir, port, { DOCK_WARM_POOL: '0' })
  let isOver = false
  let squatting: ReturnType<typeof startSquatter> | undefined
  try {
    const dock = await createDock(server)
    const token = await joinToken(dataDir)
    const planted = join(dataDir, 'planted')
    await mkdir(planted)
    await writeFile(join(planted, 'open'), 'open', { mode: 0o644 })
    const readable = await readableFiles(dataDir)
    const others = readable.filter((path) => !path.startsWith(planted))
    await rm(planted, { recursive: true })
    report.attack({
      what: 'reads every file below the data folder',
      control: readable.some((path) => path.startsWith(planted)),
      holds: others.every((path) => path === join(dataDir, 'lock')),
      seen: others.length === 0 ? 'none can be read' : `can be read: ${others.slice(0, 5).join(' ')}`,
    })

    const secrets = { 'API key': server.admin.apiKey, password: server.admin.password, 'join token': token }
    const shown = spawn('sleep', ['60', server.admin.apiKey].slice(0, 1), { argv0: server.admin.apiKey })
    const withPlanted = await commandLines()
    shown.kill()
    await untilTrue(async () => !(await commandLines()).includes(server.admin.apiKey), 5_000)
    const seen: string[] = []
    for (let look = 0; look < 10; look++) {
      const working = run(server, dock.id, 'true')
      const lines = await commandLines()
      for (const [name, secret] of Object.entries(secrets)) if (lines.includes(secret)) seen.push(name)
      await working
    }
    report.attack({
      what: 'looks for secrets in the command lines and environments of processes',
      control: withPlanted.includes(server.admin.apiKey),
      holds: seen.length === 0,
      seen: seen.length === 0 ? 'none' : [...new Set(seen)].join(', '),
    })

    const inShm: string[] = []
    for (let look = 0; look < 20; look++) {
      const working = run(server, dock.id, 'true')
      inShm.push(
        ...(await readdir('/dev/shm')).filter((name) => /dock|runsc/.test(name) && !shmBefore.has(name)),
      )
      await working
    }
    await runAs(nobody, 'mkdir', ['/dev/shm/hostile-probe'])
    await runAs(nobody, 'rmdir', ['/dev/shm/hostile-probe'])
    report.attack({
      what: 'waits for exec requests in /dev/shm',
      control: true,
      holds: inShm.length === 0,
      seen: inShm.length === 0 ? 'nothing of Dock’s is there' : [...new Set(inShm)].join(' '),
    })

    squatting = startSquatter(port)
    // With a timeout, because an attacker on the port may accept the connection and never respond.
    const isHealthy = async (): Promise<boolean> =>
      (await fetch(`${server.admin.baseUrl}/health`, { signal: AbortSignal.timeout(2_000) })).ok
    for (let kill = 0; kill < 3; kill++) {
      const pid = await processOf('control-plane', { dataDir, port })
      if (pid) process.kill(pid, 'SIGKILL')
      await delay(300)
      if (squatting.hasWon()) break
      await untilTrue(isHealthy, 20_000)
    }
    const wonWhileRunning = squatting.hasWon()
    await server.interrupt()
    isOver = true
    const control = await untilTrue(async () => squatting?.hasWon() ?? false, 10_000)
    report.attack({
      what: 'takes the port while the control plane is killed three times',
      control: control !== null,
      holds: !wonWhileRunning,
      seen: wonWhileRunning ? 'has it' : 'gets it only once the server has ended',
    })
  } finally {
    squatting?.end()
    if (!isOver) await server.interrupt()
    await removeDataDir(dataDir)
  }
}

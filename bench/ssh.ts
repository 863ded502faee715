/**
 * script/bench ssh [PART …]: measures the SSH gateway in front of a real Dock, beside OpenSSH's own server on this
 * machine.
 * DOCK_BENCH_COUNT (100) sets the number of samples, DOCK_BENCH_MIB (256) the size of the streams.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { createSshClient, type SshClient } from '../tests/api/ssh/ssh-client.ts'
import { processOf, sandboxOf } from '../tests/crash/processes.ts'
import { createDock, exec } from '../tests/e2e/support/dock.ts'
import { type Figure, percentile, sample } from './figures.ts'
import { type BenchServer, print, withServer } from './parts/bench-server.ts'
import { cpuSecondsOf } from './parts/cpu-seconds.ts'
import { startOpenSsh } from './parts/open-ssh.ts'

const count = Number(process.env.DOCK_BENCH_COUNT ?? '100')
const mebibytes = Number(process.env.DOCK_BENCH_MIB ?? '256')
const files = 300
/** Below the limit of exec for a Dock, so that no pause is needed. */
const starts = Math.min(count, 50)

/** One way to reach a shell: the Dock through the gateway, or a process of this machine through sshd. */
type Place = {
  name: string
  client: SshClient
  to: string[]
  user: string
  processes: Record<string, number>
}

const shared = (client: SshClient): string[] => ['-o', `ControlPath=${join(client.folder, 'control')}`]
const ssh = async (place: Place, ...args: string[]): Promise<void> => {
  const { client, to } = place
  const ended = await client.run('ssh', [...client.options(), ...shared(client), ...to, ...args])
  if (ended.code !== 0) throw new Error(`${place.name}: ssh ${args.join(' ')}: ${ended.code} ${ended.stderr}`)
}

/** Runs `use` while a master connection is open. */
const withMaster = async (place: Place, use: () => Promise<void>): Promise<void> => {
  const { client, to } = place
  const master = client.start('ssh', [
    ...[...client.options(), ...shared(client), '-o', 'ControlMaster=yes', '-N', ...to],
  ])
  try {
    for (let left = 600; left > 0; left--) {
      const checked = await client.run('ssh', [...client.options(), ...shared(client), '-O', 'check', ...to])
      if (checked.code === 0) break
    }
    await use()
  } finally {
    master.kill()
  }
}

const makeTree = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  for (let at = 0; at < files; at++) await writeFile(join(folder, `file-${at}`), randomBytes(4096))
}

const measureCopies = async ({ name, client, user }: Place, mode: string[]): Promise<Figure[]> => {
  const remote = (path: string): string => `${user}@127.0.0.1:${path}`
  const copy = async (...args: string[]): Promise<void> => {
    const ended = await client.run('scp', [...client.options(), ...mode, '-rq', ...args])
    if (ended.code !== 0) throw new Error(`${name}: scp ${args.join(' ')}: ${ended.stderr}`)
  }
  const flag = mode.includes('-O') ? 'scp -Or' : 'scp -r'
  const at = (round: number, from: string): string =>
    `/tmp/dock-bench-${process.pid}-${from}-${round}${mode.join('')}`
  const up = await sample(`${name}: ${flag} of ${files} files up`, 3, (round) =>
    copy('tree', remote(at(round, 'up'))),
  )
  const down = await sample(`${name}: ${flag} of ${files} files down`, 3, (round) =>
    copy(remote(at(0, 'up')), join(client.folder, `down-${round}${mode.join('')}`)),
  )
  return [up, down]
}

/** A file is what `cat` reads and writes in pieces of 128 KiB, where `head` writes 8 KiB. */
const directions = ['up', 'down', 'down, a file'] as const
const fileOf = (user: string): string => `/tmp/dock-bench-${process.pid}-${user}`
type Direction = (typeof directions)[number]

/**
 * Returns megabytes per second of one stream, and the milliseconds of processor time that each process took for a MiB.
 * These say something on a busy machine too.
 */
const measureStream = async (
  { client, to, user, processes }: Place,
  direction: Direction,
): Promise<{ rate: number; cost: string }> => {
  const bytes = mebibytes * 2 ** 20
  const words = ['ssh', ...client.options(), ...to]
  const remote = direction === 'down' ? `head -c ${bytes} /dev/zero` : `cat ${fileOf(user)}`
  const pids = Object.values(processes)
  const before = await Promise.all(pids.map(cpuSecondsOf))
  const begin = performance.now()
  const command =
    direction === 'up' ? `head -c ${bytes} /dev/zero | "$@" 'cat >/dev/null'` : `"$@" '${remote}' | wc -c`
  const ended = await client.run('bash', ['-c', command, 'bash', ...words])
  if (ended.code !== 0) throw new Error(ended.stderr)
  if (direction !== 'up' && Number(ended.stdout) !== bytes) throw new Error(`only ${ended.stdout} bytes came`)
  const rate = bytes / 1e6 / ((performance.now() - begin) / 1000)
  const after = await Promise.all(pids.map(cpuSecondsOf))
  const costs = Object.keys(processes).map((name, at) => {
    const seconds = (after[at] ?? Number.NaN) - (before[at] ?? Number.NaN)
    return `${name} ${((seconds * 1000) / mebibytes).toFixed(1)}`
  })
  return { rate, cost: costs.length > 0 ? `; ms of processor time for a MiB: ${costs.join(', ')}` : '' }
}

/** Returns the stream of median rate of three, after one stream in which V8 compiles what they run. */
const medianStream = async (place: Place, direction: Direction) => {
  const { client, to } = place
  const file = `head -c ${mebibytes * 2 ** 20} /dev/zero >${fileOf(place.user)}`
  if (direction === 'down, a file') await client.run('ssh', [...client.options(), ...to, file])
  await measureStream(place, direction)
  const streams = []
  for (let round = 0; round < 3; round++) streams.push(await measureStream(place, direction))
  return streams.toSorted((a, b) => a.rate - b.rate)[1]!
}

/** From a key to its echo, in a terminal in which `cat` runs. */
const measureEcho = async ({ name, client, to }: Place): Promise<Figure> => {
  const child = spawn(
    'ssh',
    [...client.options(), '-tt', ...to, 'stty -icanon; echo ready; cat >/dev/null'],
    {
      env: { PATH: process.env.PATH, HOME: client.folder, TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  let seen = ''
  let look = (): void => undefined
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk
    look()
  })
  const heard = (text: string): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (!seen.includes(text)) return
        seen = ''
        resolve()
      }
      look()
    })
  await heard('ready')
  const figure = await sample(`${name}: key to echo`, count, async (index) => {
    const letter = 'abcdefghijklmnopqrstuvwxyz'[index % 26]!
    child.stdin.write(letter)
    await heard(letter)
  })
  child.kill()
  return figure
}

const shown = (value: number): string => value.toFixed(1).padStart(7)
const verdict = (holds: boolean): string => (holds ? 'holds' : 'MISSED')
const show = (figure: Figure, wanted?: { p50: number; p95?: number }): void => {
  const [p50, p95] = [percentile(figure, 0.5), percentile(figure, 0.95)]
  const limits = wanted && `   wanted ${wanted.p50}${wanted.p95 ? ` / ${wanted.p95}` : ''}: `
  const holds = wanted && p50 <= wanted.p50 && p95 <= (wanted.p95 ?? Number.POSITIVE_INFINITY)
  print(
    `${figure.name.padEnd(40)} p50 ${shown(p50)}  p95 ${shown(p95)} ms${limits ?? ''}${wanted ? verdict(holds === true) : ''}`,
  )
}

const parts = {
  session: async (place: Place, isOurs: boolean) =>
    withMaster(place, async () => {
      const figure = await sample(`${place.name}: true, shared connection`, count, () => ssh(place, 'true'))
      show(figure, isOurs ? { p50: 60, p95: 100 } : undefined)
    }),
  copies: async (place: Place, isOurs: boolean) => {
    await makeTree(join(place.client.folder, 'tree'))
    for (const mode of [[], ['-O']])
      for (const figure of await measureCopies(place, mode)) show(figure, isOurs ? { p50: 2000 } : undefined)
  },
  streams: async (place: Place, isOurs: boolean) => {
    for (const direction of directions) {
      const { rate, cost } = await medianStream(place, direction)
      print(
        `${`${place.name}: one stream ${direction}`.padEnd(40)} ${shown(rate)} MB/s${isOurs ? `   wanted 60: ${verdict(rate >= 60)}` : ''}${cost}`,
      )
    }
  },
  echo: async (place: Place, isOurs: boolean) =>
    show(await measureEcho(place), isOurs ? { p50: 10 } : undefined),
}

const measureStarts = async (server: BenchServer, id: string): Promise<void> => {
  const params = { id }
  const execs = await sample('exec of true', starts, async () => void (await exec(server, id, 'true')), 20)
  const processes = await sample(
    'start of a process',
    starts,
    async () => {
      await server.client.call('startDockProcess', { params, body: { command: 'true', stdin: false } })
    },
    20,
  )
  show(execs)
  show(processes, { p50: Math.round(percentile(execs, 0.5) + 5) })
}

const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => name !== 'starts' && !(name in parts))
if (unknown !== undefined)
  throw new Error(`there is no part ${unknown}; parts: ${Object.keys(parts).join(', ')}, starts`)

const port = await freePort()
await withServer({ DOCK_SSH_PORT: String(port) }, async (server) => {
  const client = await createSshClient(() => port)
  const publicKey = await client.makeKey('id', '-t', 'ed25519')
  await server.client.call('addSshKey', { body: { name: 'bench', publicKey } })
  const { id } = await createDock(server)
  const sshd = await startOpenSsh(publicKey)
  const plain = await createSshClient(() => sshd.port)
  try {
    await plain.run('cp', [join(client.folder, 'id'), plain.folder])
    const to = (user: string): string[] => ['-l', user, '127.0.0.1']
    const processes = {
      'control plane': (await processOf('control-plane', server)) ?? 0,
      agent: (await processOf('agent', server)) ?? 0,
      sandbox: await sandboxOf(id),
    }
    const dock = { name: 'Dock', client, user: id, to: to(id), processes }
    const openSsh = { name: 'OpenSSH', client: plain, user: 'root', to: to('root'), processes: {} }
    for (const [name, measure] of Object.entries(parts)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue
      await measure(dock, true)
      await measure(openSsh, false)
    }
    if (chosen.length === 0 || chosen.includes('starts')) await measureStarts(server, id)
  } finally {
    sshd.stop()
    for (const each of [client, plain]) await each.remove()
    await rm(fileOf('root'), { force: true })
  }
})

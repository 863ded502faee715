/**
 * The same work done with plain tools: disk tools, ip and runsc, one program after the other, on a temporary pool. Runs
 * in a private mount namespace in which /proc/sys/net/core is empty (`bench/raw`). Prints its samples as JSON and
 * cleans up.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import { readSandboxState } from '../packages/runtime-gvisor/src/runsc/sandbox-state.ts'
import { Sentry } from '../packages/runtime-gvisor/src/sentry/sentry.ts'
import { type Figure, sample } from './figures.ts'
import { untilIdle } from './parts/until-idle.ts'

const [imageDisk, runsc, scratchParent, countText, largeText] = process.argv.slice(2)
if (!imageDisk || !runsc || !scratchParent)
  throw new Error('usage: raw-machine IMAGE_DISK RUNSC SCRATCH [COUNT [large]]')
const count = Number(countText ?? '20')

const scratch = await mkdtemp(join(scratchParent, 'dock-raw-'))
const pool = join(scratch, 'pool')
const runscFlags = [
  '--root',
  join(scratch, 'runsc'),
  '--platform=systrap',
  '--network=sandbox',
  '--overlay2=none',
]

type Machine = { id: string; disk: string; mount: string; device: string; bundle: string; netns: string }

const capabilities = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_SETGID', 'CAP_SETUID', 'CAP_KILL']

const ociConfig = (mount: string, id: string, netns: string) => ({
  ociVersion: '1.0.0',
  process: {
    user: { uid: 0, gid: 0 },
    args: ['/bin/sleep', 'infinity'],
    env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    cwd: '/',
    capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
  },
  root: { path: mount },
  hostname: id,
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs' },
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['ro'] },
    { destination: '/run', type: 'tmpfs', source: 'tmpfs' },
  ],
  linux: {
    namespaces: [
      { type: 'pid' },
      { type: 'ipc' },
      { type: 'uts' },
      { type: 'mount' },
      { type: 'network', path: `/run/netns/${netns}` },
    ],
  },
})

/** Runs `runsc create` without pipes: the sandbox inherits its standard streams, so pipes would stay open. */
const create = async (bundle: string, id: string): Promise<void> => {
  const args = [...runscFlags, 'create', '--bundle', bundle, '--pid-file', join(bundle, 'pid'), id]
  const [code] = await once(spawn(runsc, args, { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`runsc create: exit ${code}`)
}

const alive = new Set<Machine>()

const boot = async (id: string, from: string): Promise<Machine> => {
  const disk = join(pool, id)
  const mount = join(scratch, `m-${id}`)
  const bundle = join(scratch, `b-${id}`)
  const netns = `raw-${id}`
  await runCommand('btrfs', ['subvolume', 'snapshot', from, disk])
  await Promise.all([mkdir(mount), mkdir(bundle)])
  const losetup = ['-f', '--show', '--sector-size', '4096', '--direct-io=on', join(disk, 'disk.raw')]
  const device = (await runCommand('losetup', losetup)).trim()
  await runCommand('mount', ['-t', 'ext4', '-o', 'nosuid,nodev,noatime,discard', device, mount])
  await runCommand('ip', ['netns', 'add', netns])
  await runCommand('ip', ['link', 'add', `r${id}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', netns])
  await runCommand('ip', ['-n', netns, 'addr', 'add', '10.213.0.2/30', 'dev', 'eth0'])
  await runCommand('ip', ['-n', netns, 'link', 'set', 'eth0', 'up'])
  await writeFile(join(bundle, 'config.json'), JSON.stringify(ociConfig(mount, id, netns)))
  await create(bundle, id)
  await runCommand(runsc, [...runscFlags, 'start', id])
  const machine = { id, disk, mount, device, bundle, netns }
  alive.add(machine)
  return machine
}

const execIn = ({ id }: Machine, command: string): Promise<string> =>
  runCommand(runsc, [...runscFlags, 'exec', '--user', '1000:1000', id, '/bin/bash', '-lc', command])

const bootToReady = async (id: string, from: string): Promise<Machine> => {
  const machine = await boot(id, from)
  await execIn(machine, 'echo ready')
  return machine
}

/** Connects to the sandbox's control socket, to start a process and wait for it without marks, limits or output. */
const sentryOf = async ({ id }: Machine): Promise<Sentry> => {
  const { controlSocket } = await readSandboxState(join(scratch, 'runsc'), id)
  if (!controlSocket) throw new Error('the sandbox has no control socket')
  return new Sentry(controlSocket, id)
}

const nothing = openSync('/dev/null', 'r+')
const execBySocket = async (sentry: Sentry, command: string): Promise<void> => {
  const env = ['PATH=/usr/bin:/bin', 'HOME=/home/user']
  const none = { bounding: 0, effective: 0, permitted: 0 }
  const argv = ['/bin/bash', '-lc', command]
  const user = { uid: 1000, gid: 1000, cwd: '/home/user' }
  const pid = await sentry.start({ argv, env, ...user, capabilities: none }, [nothing, nothing, nothing])
  const exitCode = await sentry.wait(pid)
  if (exitCode !== 0) throw new Error(`${command}: exit ${exitCode}`)
}

const endSandbox = async ({ id }: Machine): Promise<void> => {
  await tryCommand(runsc, [...runscFlags, 'kill', '--all', id, 'KILL'])
  await runCommand(runsc, [...runscFlags, 'delete', '--force', id])
}

const detach = async ({ mount, device }: Machine): Promise<void> => {
  await runCommand('sync', ['-f', mount])
  await runCommand('umount', [mount])
  await runCommand('losetup', ['-d', device])
}

const captureOf = (machine: Machine, name: string): Promise<string> =>
  runCommand('btrfs', ['subvolume', 'snapshot', '-r', machine.disk, join(pool, name)])

const drop = async (machine: Machine): Promise<void> => {
  alive.delete(machine)
  await runCommand('ip', ['netns', 'del', machine.netns])
  await runCommand('btrfs', ['subvolume', 'delete', machine.disk])
  await Promise.all([rm(machine.bundle, { recursive: true }), rm(machine.mount, { recursive: true })])
}

const end = async (machine: Machine): Promise<void> => {
  await endSandbox(machine)
  await detach(machine)
  await drop(machine)
}

const makePool = async (): Promise<string> => {
  await mkdir(pool)
  await runCommand('truncate', ['-s', '60G', join(scratch, 'pool.img')])
  await runCommand('mkfs.btrfs', ['-q', join(scratch, 'pool.img')])
  await runCommand('mount', ['-o', 'loop,noatime,discard=async', join(scratch, 'pool.img'), pool])
  const image = join(pool, 'image')
  await runCommand('btrfs', ['subvolume', 'create', image])
  await writeFile(join(image, 'disk.raw'), '')
  await runCommand('chattr', ['+C', join(image, 'disk.raw')])
  await runCommand('cp', ['--sparse=always', imageDisk, join(image, 'disk.raw')])
  await runCommand('sync', [])
  return image
}

const timed = async <T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> => {
  const begin = performance.now()
  const result = await work()
  return { ms: performance.now() - begin, result }
}

/** The disk that machines start from, and the suffix of their figures' names. */
type Kind = { suffix: string; from: string }

/** Returns the image and, with `large`, a disk made from it with 5 GB more. */
const kinds = async (image: string): Promise<Kind[]> => {
  const plain = { suffix: '', from: image }
  if (largeText !== 'large') return [plain]
  const machine = await boot('large', image)
  await execIn(machine, `perl -e 'print "x" x 1_000_000 for 1 .. 5_000' > ~/more && sync ~/more`)
  await endSandbox(machine)
  await detach(machine)
  await captureOf(machine, 'with-5-GB')
  await drop(machine)
  return [plain, { suffix: ', 5 GB', from: join(pool, 'with-5-GB') }]
}

const write50 = (machine: Machine): Promise<string> =>
  execIn(machine, 'head -c 50000000 /dev/urandom > ~/data')

/** Measures stop, resume and branch, alternating between the kinds of disks. */
const timeLives = async (born: readonly Kind[]): Promise<Figure[]> => {
  const figures: Figure[] = []
  const time = async (name: string, once: (from: string, id: string) => Promise<number>): Promise<void> => {
    const ofLife = born.map((kind) => ({ ...kind, samplesMs: [] as number[] }))
    for (let index = 0; index < count; index++)
      for (const [nth, { from, samplesMs }] of ofLife.entries())
        samplesMs.push(await once(from, `${nth}x${index}`))
    figures.push(...ofLife.map(({ suffix, samplesMs }) => ({ name: `${name}${suffix}`, samplesMs })))
  }
  await time('stop', async (from, id) => {
    const machine = await boot(`stop${id}`, from)
    await write50(machine)
    const { ms } = await timed(async () => {
      await endSandbox(machine)
      await detach(machine)
      await captureOf(machine, `stopped${id}`)
    })
    await drop(machine)
    return ms
  })
  await time('resume', async (_from, id) => {
    const { ms, result } = await timed(() => bootToReady(`resume${id}`, join(pool, `stopped${id}`)))
    await end(result)
    return ms
  })
  await time('branch', async (from, id) => {
    const machine = await boot(`branch${id}`, from)
    await write50(machine)
    const { ms, result } = await timed(async () => {
      await runCommand('sync', ['-f', machine.mount])
      await runCommand('fsfreeze', ['-f', machine.mount])
      await captureOf(machine, `branched${id}`)
      await runCommand('fsfreeze', ['-u', machine.mount])
      return bootToReady(`copy${id}`, join(pool, `branched${id}`))
    })
    await end(machine)
    await end(result)
    return ms
  })
  return figures
}

const measure = async (): Promise<Figure[]> => {
  const image = await makePool()
  const figures: Figure[] = []
  const tti: Figure = { name: 'tti', samplesMs: [] }
  for (let index = 0; index < count; index++) {
    const { ms, result } = await timed(() => bootToReady(`tti${index}`, image))
    tti.samplesMs.push(ms)
    await end(result)
  }
  figures.push(tti)
  const steady = await boot('steady', image)
  await untilIdle()
  figures.push(
    await sample('exec', count * 2, async () => {
      await execIn(steady, 'true')
    }),
  )
  const sentry = await sentryOf(steady)
  figures.push(
    await sample('exec-socket', count * 2, () => execBySocket(sentry, 'true')),
    await sample('exec-socket-8', count, async () => {
      await Promise.all(Array.from({ length: 8 }, () => execBySocket(sentry, 'true')))
    }),
  )
  sentry.close()
  await end(steady)
  return [...figures, ...(await timeLives(await kinds(image)))]
}

try {
  process.stdout.write(JSON.stringify(await measure()))
} finally {
  // What a failure left behind. An error here must not hide the failure.
  for (const machine of alive) await end(machine).catch(() => undefined)
  await tryCommand('umount', ['-l', pool])
  await rm(scratch, { recursive: true, force: true }).catch((error: unknown) =>
    process.stderr.write(`could not remove ${scratch}: ${String(error)}\n`),
  )
}

/** Starts the machine of a Dock, and prepares it for its first command. */
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { type Logger, systemClock, waitAtMost } from '@dock/foundation'
import type { SandboxSpec } from '@dock/runtime'
import type { Machine } from '../machine/machine.ts'
import type { Machines } from '../machine/open-machines.ts'
import { diskSerials } from '../machine/qemu/qemu-arguments.ts'
import { GuestSession, GuestSilent } from './guest-session.ts'
import { machineName } from './machine-name.ts'
import { exitCodeOf } from './run-command.ts'

const memoryFolderMiB = 32
const entropyBytes = 64
/** Emulated machines that boot at the same time are slow. */
const bootMs = 180_000
const reasonLengthMax = 1_000
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The images' statically linked bash, which starts faster. */
const fastBash = '/usr/lib/dock/bash'

class GuestLate extends Error {
  override readonly name = 'GuestLate'
}

const asRoot = { cwd: '/', uid: 0, gid: 0, isPlatform: true } as const

/** Runs the preparation. Throws an error with its exit code and what it wrote to its standard error. */
const prepareGuest = async (session: GuestSession, prepare: SandboxSpec['prepare']): Promise<void> => {
  if (!prepare) return
  const script = `prepare() {\n:\n${prepare.script}\n}\nprepare >/dev/null`
  const program = await session.open(
    {
      ...asRoot,
      argv: ['/bin/bash', '-c', script],
      executable: fastBash,
      env: { PATH: usualPath, ...prepare.env },
    },
    bootMs,
  )
  let reason = ''
  program.stdout.resume()
  program.stderr.on('data', (chunk: Buffer) => {
    reason = `${reason}${chunk}`.slice(0, reasonLengthMax)
  })
  const told = new Promise((resolve) => program.stderr.once('close', resolve))
  program.stdin.end(prepare.input)
  const code = exitCodeOf(await session.follow(program.exited))
  await told
  void program.close()
  if (code !== 0) throw new Error(`the preparation of the sandbox ended with code ${code}: ${reason.trim()}`)
}

/** Starts the image's services. They are not waited for. */
const startServices = async (session: GuestSession): Promise<void> => {
  const script =
    'exec </dev/null >/dev/null 2>&1; [ -r /usr/lib/dock/services ] && . /usr/lib/dock/services 0'
  const program = await session.open(
    {
      ...asRoot,
      argv: ['/bin/bash', '-c', script],
      executable: fastBash,
      env: { PATH: usualPath },
    },
    bootMs,
  )
  void program.close()
}

/** If this throws, nothing is left of the machine. */
export async function startMachine(
  { vmm, templates }: Pick<Machines, 'vmm' | 'templates'>,
  spec: SandboxSpec,
  logger: Logger,
): Promise<GuestSession> {
  const { dockId, generation, cpus, memoryMiB, hostname, netnsPath, disk, inMemory } = spec
  if (!('device' in disk)) throw new Error('a microVM needs a disk that is not mounted')
  const id = machineName(dockId, generation)
  const size = { cpus, memoryMiB }
  const wanted = { id, ...size, disk: disk.device, netnsPath }
  const { size: bytes } = await stat(disk.device)
  let isConfigured = false
  const prepare = async (session: GuestSession): Promise<void> => {
    await session.ask(
      (link) =>
        link.go({
          ...{ clock: BigInt(Date.now()) * 1_000_000n, entropy: randomBytes(entropyBytes), hostname },
          network: session.machine.network ?? undefined,
          disk: { serial: diskSerials.root, bytes, grows: true },
          modules: { serial: diskSerials.modules, type: 'ext4' },
          memoryFolder: inMemory && { ...inMemory, sizeMiB: memoryFolderMiB },
        }),
      bootMs,
    )
    isConfigured = true
    await prepareGuest(session, spec.prepare)
    await startServices(session)
  }
  const startIn = async (machine: Machine): Promise<GuestSession> => {
    const session = new GuestSession(machine, logger)
    try {
      // Either limit may be noticed first.
      const preparing = prepare(session).catch((error: unknown) => {
        if (error instanceof GuestSilent) return 'late' as const
        throw error
      })
      const prepared = await waitAtMost(systemClock, bootMs, preparing)
      if (prepared === 'late') throw new GuestLate(`machine ${id} was not up within ${bootMs / 1000} s`)
      return session
    } catch (error) {
      await vmm.remove(id)
      throw error
    }
  }

  const { machine, isRestored } = await templates.start(wanted)
  try {
    const session = await startIn(machine)
    if (!isRestored) void templates.make(size)
    return session
  } catch (error) {
    // What fails after the configuration is the fault of the disk.
    if (!isRestored || isConfigured) throw error
    if (error instanceof GuestLate) {
      logger.warn(
        { err: error, id },
        'a machine hung that continued from a template; the template is discarded',
      )
      await templates.discard(size)
      throw error
    }
    // Without the template, a disk that no guest can mount fails again, and the template stays.
    const session = await startIn(await vmm.launch(wanted))
    logger.warn({ err: error, id }, 'a machine did not start from its template, and was booted')
    await templates.discard(size)
    void templates.make(size)
    return session
  }
}

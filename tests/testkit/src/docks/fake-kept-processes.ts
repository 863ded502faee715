/**
 * Kept processes of the fake host: programs of this machine, with the streams of a process keeper in this process. Tests
 * only.
 */
import { closeSync, openSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import {
  type HostKeptProcesses,
  HostRefused,
  type KeptPlace,
  type KeptProcess,
} from '@dock/control-plane/src/modules/hosts/index.ts'
import { Keeper } from '@dock/host-agent/src/process-keeper/keeper.ts'
import { KeeperRefusal } from '@dock/host-agent/src/process-keeper/keeper-refusal.ts'
import { keeperDefaults } from '@dock/host-agent/src/process-keeper/keeper-settings.ts'
import { readOutput } from '@dock/host-agent/src/process-keeper/read-output.ts'
import type { KeptEnd, StartKeptProcess } from '@dock/host-protocol'
import { ExecRefused } from '@dock/runtime'
import { runFolder } from '../run-folder.ts'
import { type LocalProcess, openLocalProcess } from '../runtime/local-process.ts'
import { fakeProcessFolder } from './fake-process.ts'

type Kept = {
  dockId: string
  request: StartKeptProcess
  local: LocalProcess
  startedAt: string
  end: KeptEnd | null
  ended: Promise<void>
}

const refuse = (error: unknown): never => {
  if (error instanceof KeeperRefusal) throw new HostRefused(error.code, error.message)
  if (error instanceof ExecRefused) throw new HostRefused('exec_refused', error.message)
  throw error
}

/**
 * `enter` throws the error that a host has for a Dock that does not run with this generation (null: with any). While
 * `isConfined` returns true, a program that ends at once replaces every other one.
 */
export function fakeKeptProcesses(
  enter: (dockId: string, generation: number | null) => void,
  isConfined: () => boolean,
): HostKeptProcesses & { startsOfKept: StartKeptProcess[] } {
  const kept = new Map<string, Kept>()
  const startsOfKept: StartKeptProcess[] = []
  let opening: Promise<Keeper> | undefined
  const openKeeper = async (): Promise<Keeper> => {
    const folder = await mkdtemp(join(runFolder(), 'dock-kept-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return Keeper.open(folder, keeperDefaults, () => undefined)
  }
  const keeper = (): Promise<Keeper> => {
    opening ??= openKeeper()
    return opening
  }
  const find = ({ dockId, processId }: Omit<KeptPlace, 'hostId'>): Kept => {
    enter(dockId, null)
    const found = kept.get(processId)
    if (found?.dockId !== dockId) throw new HostRefused('not_found', 'this Dock has no such process')
    return found
  }
  const view = async ({ dockId, request, startedAt, end }: Kept): Promise<KeptProcess> => {
    const { processId, command, argv, pty } = request
    const { stdin, stdout, stderr } = (await keeper()).find(dockId, processId).state
    return {
      ...{ processId, command: command ?? argv?.join(' ') ?? '', pty: pty ?? null, startedAt, end },
      ...{ stdin, stdout, stderr },
    }
  }
  const start = async (dockId: string, request: StartKeptProcess): Promise<Kept> => {
    const { processId, command, argv, env, pty, cwd } = request
    const streams = await (await keeper()).create(dockId, processId, {
      ...{ stdin: request.stdin, stderr: pty === undefined, holdOutput: request.holdOutput === true },
    })
    const { stdin, stdout, stderr } = streams.paths
    const [input, output] = [openSync(stdin, 'r'), openSync(stdout, 'w')]
    const errors = stderr === null ? output : openSync(stderr, 'w')
    const folder = fakeProcessFolder()
    try {
      const local = await openLocalProcess(
        {
          // Requests that tests generate may name any program.
          argv: isConfined() ? ['/bin/true'] : (argv ?? ['/bin/bash', '-lc', command ?? '']),
          env: { HOME: folder, USER: 'user', PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
          cwd: isConfined() ? folder : (cwd ?? folder),
          descriptors: [input, output, errors],
          ...(pty ? { pty } : {}),
        },
        processId,
      )
      const made: Kept = {
        ...{ dockId, request, local, startedAt: new Date().toISOString(), end: null },
        ended: local.exited.then(({ exitCode, signal }) => {
          const reason = signal === null ? 'exited' : 'signaled'
          made.end = { exitCode, signal, reason, at: new Date().toISOString() }
          streams.endInput()
        }),
      }
      return made
    } finally {
      for (const descriptor of new Set([input, output, errors])) closeSync(descriptor)
      await streams.markStarted()
    }
  }
  return {
    startsOfKept,
    startKept: async ({ dockId }, request) => {
      enter(dockId, request.generation)
      startsOfKept.push(request)
      const known = kept.get(request.processId) ?? (await start(dockId, request).catch(refuse))
      kept.set(request.processId, known)
      return view(known)
    },
    listKept: async ({ dockId }) => {
      enter(dockId, null)
      const processes = [...kept.values()].filter((each) => each.dockId === dockId).map(view)
      return { processes: await Promise.all(processes) }
    },
    readKept: async (place) => view(find(place)),
    waitForKept: async (place, { ms }) => {
      const found = find(place)
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms)
      })
      await Promise.race([found.ended, late])
      clearTimeout(timer)
      return view(found)
    },
    signalKept: async (place, { signal, target }) => find(place).local.signal(signal, target),
    resizeKept: async (place, { cols, rows }) => {
      const { request, local } = find(place)
      if (!request.pty) throw new HostRefused('conflict', 'the process has no terminal')
      local.resize(cols, rows)
    },
    openKeptOutput: async ({ stream, ...place }, { offset, follow }) => {
      find(place)
      const output = (await keeper()).find(place.dockId, place.processId).output(stream)
      if (offset > output.end && !(follow && output.isOpen))
        throw new HostRefused('conflict', `the output has ${output.end} bytes so far`)
      const start = Math.max(offset, output.first)
      const body = new Transform({ transform: (chunk, _encoding, taken) => taken(null, Buffer.from(chunk)) })
      void readOutput(output, start, follow, body)
      return { first: output.first, start, body }
    },
    writeKeptInput: async (place, { offset }, body) => {
      find(place)
      const streams = (await keeper()).find(place.dockId, place.processId)
      return { offset: await streams.writeInput(offset, Readable.from(body)).catch(refuse) }
    },
    closeKeptInput: async (place) => {
      find(place)
      ;(await keeper()).find(place.dockId, place.processId).endInput()
    },
  }
}

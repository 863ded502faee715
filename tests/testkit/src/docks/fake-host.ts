/** An in-memory host for tests. It keeps sandboxes, disks and captures like a host agent, and fails when a test asks. */
import { Readable } from 'node:stream'
import {
  type CaptureNote,
  type ClonedRepositories,
  clonedRepositories,
  type HostFacts,
  type HostGateway,
  HostNotLinked,
  HostRefused,
  HostUnreachable,
  type KeptInstance,
  parseByteRange,
  placeByteRange,
  type RuntimeReport,
  type SetupOutcome,
  type StartDock,
  setupOutcome,
  type WarmPoolKind,
  type WarmSandbox,
} from '@dock/control-plane/src/modules/hosts/index.ts'
import { fakeCalls } from './fake-calls.ts'
import { fakeCaptures, fakeImages } from './fake-captures.ts'
import { fakeConnections } from './fake-connections.ts'
import { fakeKeptProcesses } from './fake-kept-processes.ts'

type Method =
  | 'start'
  | 'stop'
  | 'capture'
  | 'destroy'
  | 'destroyCapture'
  | 'exec'
  | 'setup'
  | 'applyEnvironment'
  | 'cloneRepositories'
  | 'testRuntime'
/** `lost`: the link breaks before the command is executed; `lost-after`: it breaks before the response arrives. */
type Failure = 'unlinked' | 'lost' | 'lost-after' | HostRefused['code']

const gib = 1024 ** 3

/** Returns the facts of a small test host, with the fields in `over` replaced. */
export function hostFacts(over: Partial<HostFacts> = {}): HostFacts {
  return {
    runtime: 'gvisor',
    cpuFamily: 'x86_64',
    kernel: 'linux',
    kernelRelease: '6.1',
    bootId: 'boot-1',
    vcpuTotal: 8,
    memTotalBytes: 16 * gib,
    diskTotalBytes: 100 * gib,
    maxDocks: 50,
    images: ['debian-13'],
    imageVersions: { 'debian-13': 'built:test' },
    ...over,
  }
}

/** Returns the inventory of a host that has no Docks or captures, apart from the fields in `over`. */
export function inventoryOf<Over extends object>(over?: Over) {
  return {
    type: 'inventory' as const,
    facts: hostFacts(),
    pressure: { memAvailableBytes: 8 * gib, diskFreeBytes: 50 * gib },
    runtimes: [],
    pool: [],
    captures: [],
    ...over,
  }
}

export type FakeHost = HostGateway & {
  connections: ReturnType<typeof fakeConnections>
  /** Starts of kept processes that arrived, oldest first. */
  startsOfKept: ReturnType<typeof fakeKeptProcesses>['startsOfKept']
  sandboxes: Map<string, RuntimeReport>
  captures: Set<string>
  /** True if captures are as after a power cut, because machines do not answer. */
  capturesPowerCuts: boolean
  /** Docks whose disk the host keeps without knowing their generation. Reports of the test worlds contain them. */
  unidentified: Set<string>
  /** Notes about captures, by capture id. */
  notes: Map<string, NonNullable<CaptureNote['dock']>>
  /** Returns the note of a capture that is not in `notes`. */
  notesOf: () => CaptureNote['dock']
  /** Disks of images, by host id and image name. A start accepts any image of a host that has no entry. */
  images: Map<string, Map<string, string>>
  calls: { method: Method; dockId: string; body: unknown }[]
  /** Failures of the next calls of a method, one entry per call. */
  failures: Map<Method, Failure[]>
  /** Start commands received, oldest first. */
  starts: StartDock[]
  /** Awaited before a method does anything, so that a test can hold a call open. */
  gate: Map<Method, Promise<void>>
  online: boolean
  /** True if a broken link is re-established soon, as after a restart of the agent. */
  reconnects: boolean
  /** Docks in the warm pool. The next report contains them. */
  warmPool: WarmSandbox[]
  /** The kind of Dock that the warm pool was last told to hold. */
  warmPoolKind: WarmPoolKind | null
  /** The second kind that it was told to hold a few of. */
  secondKind: WarmPoolKind | null
  /** What the host remembers of the instance. Reports of the test worlds contain it. */
  instance: KeptInstance
  /** Outcome of setup scripts. */
  setupOutcome: SetupOutcome
  /** Outcome of clones. */
  cloneOutcome: ClonedRepositories
  /** Output of commands; null: a command writes its own text to stdout. */
  output: { stdout: string; stderr: string } | null
  /** Commands whose callers left, oldest first. */
  cancelled: string[]
  /** Reasons for which the host's session was closed, oldest first. */
  disconnects: string[]
}

/** Returns the outcome of `work`. If the signal aborts first, calls `onLeft` and throws the signal's reason. */
const whileWanted = async <T>(
  signal: AbortSignal | undefined,
  onLeft: () => void,
  work: Promise<T>,
): Promise<T> => {
  const left = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => {
    onLeft()
    left.reject(signal.reason)
  })
  return Promise.race([work, left.promise])
}

/** Creates an online host without Docks. It serves every host id, but is linked only as `hostId`. */
export function createFakeHost(hostId: string): FakeHost {
  const sandboxes: FakeHost['sandboxes'] = new Map()
  const captures = new Set<string>()
  const unidentified = new Set<string>()
  const images: FakeHost['images'] = new Map()
  const calls: FakeHost['calls'] = []
  const failures: FakeHost['failures'] = new Map()
  const starts: StartDock[] = []
  const gate: FakeHost['gate'] = new Map()

  const captured = (): Awaited<ReturnType<HostGateway['capture']>> =>
    host.capturesPowerCuts ? { sizeBytes: 1234, afterPowerCut: true } : { sizeBytes: 1234 }
  const command = async <T>(method: Method, dockId: string, body: unknown, work: () => T): Promise<T> => {
    calls.push({ method, dockId, body })
    await gate.get(method)
    const failure = failures.get(method)?.shift()
    if (failure === 'unlinked') throw new HostNotLinked('no link')
    if (!host.online || failure === 'lost') throw new HostUnreachable('the link broke')
    if (failure && failure !== 'lost-after')
      throw new HostRefused(failure, `the test asked for this failure: ${failure}`)
    const result = work()
    if (failure === 'lost-after') throw new HostUnreachable('the link broke after the command')
    return result
  }
  const refuseOld = (dockId: string, generation: number): void => {
    const known = sandboxes.get(dockId)
    if (known && known.generation > generation) throw new HostRefused('stale_generation', 'old')
  }

  const connections = fakeConnections((dockId, generation) => {
    const known = sandboxes.get(dockId)
    return known?.state === 'running' && known.generation === generation
  })
  const keptProcesses = fakeKeptProcesses(
    (dockId, generation) => {
      if (connections.unreachable) throw connections.unreachable
      const known = sandboxes.get(dockId)
      const isAlive = known?.state === 'running' && (generation === null || known.generation === generation)
      if (!isAlive) throw new HostRefused('not_running', 'no sandbox')
    },
    () => connections.confinesProcesses,
  )
  const served = fakeCalls({
    ...connections,
    ...keptProcesses,
    start: ({ dockId }, body) =>
      command('start', dockId, body, () => {
        starts.push(body)
        refuseOld(dockId, body.generation)
        if (body.source.kind === 'capture' && !captures.has(body.source.captureId))
          throw new HostRefused('not_found', 'no such capture')
        const had = images.get(hostId)
        if (body.source.kind === 'image' && had && !had.has(body.source.image))
          throw new HostRefused('not_found', 'no such image')
        if (body.source.kind === 'own' && !sandboxes.has(dockId) && !unidentified.has(dockId))
          throw new HostRefused('not_found', 'no disk')
        unidentified.delete(dockId)
        sandboxes.set(dockId, { dockId, generation: body.generation, state: 'running', ip: '10.0.0.2' })
        return { ip: '10.0.0.2' }
      }),
    stop: ({ dockId }, body) =>
      command('stop', dockId, body, () => {
        refuseOld(dockId, body.generation)
        if (body.captureId === null) {
          const kept = sandboxes.get(dockId)
          if (kept) sandboxes.set(dockId, { ...kept, state: 'stopped' })
          return { capture: null }
        }
        if (!captures.has(body.captureId)) {
          if (!sandboxes.has(dockId) && !unidentified.has(dockId))
            throw new HostRefused('not_found', 'no disk')
          captures.add(body.captureId)
        }
        sandboxes.delete(dockId)
        unidentified.delete(dockId)
        return { capture: captured() }
      }),
    capture: ({ dockId }, body) =>
      command('capture', dockId, body, () => {
        refuseOld(dockId, body.generation)
        if (!sandboxes.has(dockId)) throw new HostRefused('not_running', 'no sandbox')
        captures.add(body.captureId)
        return captured()
      }),
    destroy: ({ dockId }, body) =>
      command('destroy', dockId, body, () => {
        refuseOld(dockId, body.generation)
        const isOlder = unidentified.has(dockId) || (sandboxes.get(dockId)?.generation ?? 0) < body.generation
        if (body.keepOlder && isOlder) throw new HostRefused('not_found', 'only an older disk')
        sandboxes.delete(dockId)
        unidentified.delete(dockId)
      }),
    destroyCapture: ({ captureId }) =>
      command('destroyCapture', captureId, null, () => {
        captures.delete(captureId)
      }),
    readCaptureNote: async ({ captureId }) => {
      if (!host.online) throw new HostUnreachable('the link broke')
      if (!captures.has(captureId)) throw new HostRefused('not_found', 'no such capture')
      return { sizeBytes: 1234, diskBytes: 2 * gib, dock: host.notes.get(captureId) ?? host.notesOf() }
    },
    exec: ({ dockId }, body, { signal } = {}) =>
      whileWanted(
        signal,
        () => host.cancelled.push(body.command),
        command('exec', dockId, body, () => {
          if (sandboxes.get(dockId)?.state !== 'running') throw new HostRefused('not_running', 'no sandbox')
          const timedOut = body.command === 'sleep'
          const output = host.output ?? { stdout: body.command, stderr: '' }
          return { exitCode: 0, ...output, durationMs: 1, truncated: false, timedOut }
        }),
      ),
    setup: ({ dockId }, body) => command('setup', dockId, body, () => setupOutcome.parse(host.setupOutcome)),
    applyEnvironment: ({ dockId }, body) =>
      command('applyEnvironment', dockId, body, () => {
        refuseOld(dockId, body.generation)
        if (sandboxes.get(dockId)?.state !== 'running') throw new HostRefused('not_running', 'no sandbox')
      }),
    cloneRepositories: ({ dockId }, body) =>
      command('cloneRepositories', dockId, body, () => {
        refuseOld(dockId, body.generation)
        if (sandboxes.get(dockId)?.state !== 'running') throw new HostRefused('not_running', 'no sandbox')
        return clonedRepositories.parse(host.cloneOutcome)
      }),
    sendInstanceMemory: async (_host, { watermark, erasures }) => {
      host.instance = { watermark, erasures: [...host.instance.erasures, ...erasures] }
    },
    readInstanceMemory: async () => host.instance,
    testRuntime: ({ hostId: id }, body) =>
      command('testRuntime', id, body, () => {
        if (id !== hostId) throw new HostNotLinked('no link')
        return { bootMs: 210, execMs: 18.5, thawMs: 22 }
      }),
    keepWarmPool: async (_host, { kind, second }) => {
      host.warmPoolKind = kind
      host.secondKind = second ?? null
    },
    async *listCaptures() {
      yield [{ captures: [...captures] }]
    },
    async *listCaptureFiles() {
      yield [{ path: '/etc/hostname', size: 5, inode: 12 }]
    },
    listCaptureFolder: async (_capture, { path }) => {
      if (path === '/none') throw new HostRefused('not_found', 'no such folder')
      return { entries: [{ name: 'hostname', type: 'file', mode: '0644', size: 5 }], nextCursor: null }
    },
    compareCaptures: async ({ captureId }, { to, cursor }) => {
      if (cursor !== undefined) throw new HostRefused('invalid', 'cursor: not a nextCursor')
      const added = {
        ...{ path: '/etc/hostname', before: null, differences: ['added' as const] },
        after: { type: 'file' as const, mode: '0644', size: 5 },
      }
      const changes = captureId === to ? [] : [added]
      return { changes, nextCursor: null, visited: 1, bytesRead: 0, hasUnlisted: false }
    },
    ...fakeCaptures(captures),
    ...fakeImages(images),
    readCaptureFile: async (_capture, { range: wanted }) => {
      const range = wanted === undefined ? null : parseByteRange(wanted)
      const place = range ? (placeByteRange(range, 5) ?? { start: 0, end: 0 }) : { start: 0, end: 5 }
      const text = 'dock\n'.slice(place.start, place.end)
      return { size: 5, length: text.length, body: Readable.from(Buffer.from(text), { objectMode: false }) }
    },
  })
  const host: FakeHost = {
    ...served,
    startsOfKept: keptProcesses.startsOfKept,
    connections,
    sandboxes,
    captures,
    capturesPowerCuts: false,
    unidentified,
    notes: new Map(),
    notesOf: () => null,
    images,
    calls,
    failures,
    starts,
    gate,
    online: true,
    reconnects: false,
    waitForControlLink: async () => host.reconnects,
    warmPool: [],
    warmPoolKind: null,
    secondKind: null,
    setupOutcome: { exitCode: 0, output: '', timedOut: false },
    cloneOutcome: { failed: [], cloned: [], toSetUp: [] },
    instance: { watermark: null, erasures: [] },
    output: null,
    disconnects: [],
    cancelled: [],
    disconnect: (id, reason) => {
      if (id === hostId) host.disconnects.push(reason)
    },
    hostsWithControlLink: () => (host.online ? [hostId] : []),
    hostsWithBulkLink: () => (host.online ? [hostId] : []),
  }
  return host
}

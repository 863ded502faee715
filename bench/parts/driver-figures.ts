/** Measures a runtime driver without the agent and control plane around it. */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { ExecRequest, RuntimeDriver, SandboxHandle, SandboxSpec } from '@dock/runtime'
import { compare, type Figure, sample } from '../figures.ts'
import { print } from './bench-server.ts'
import { proportionalMiB, sum } from './memory.ts'
import { untilIdle } from './until-idle.ts'

export type DriverSubject = {
  driver: RuntimeDriver
  /** Prepares a disk and network for one sandbox. */
  makeSpec(size?: { cpus: number; memoryMiB: number }): Promise<SandboxSpec>
  /** Returns the host processes of a sandbox. */
  pidsOf(handle: SandboxHandle): number[]
}

const sentBytes = 2 ** 30
const takenMiB = 600
const givenBackMs = 10_000
const idleMemoryMiB = 2048

const request = (argv: readonly string[], more: Partial<ExecRequest> = {}): ExecRequest => ({
  ...{ argv, env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 },
  ...{ timeoutMs: 120_000, outputLimitBytes: 65_536, ...more },
})
const yes = request(['/bin/true'])
const script = (text: string): ExecRequest => request(['/bin/bash', '-c', text])

/** Returns the share of the last ten seconds in which something waited for a processor, in percent. */
const readPressure = async (): Promise<string> => {
  const text = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '')
  return /avg10=([\d.]+)/.exec(text)?.[1] ?? 'unknown'
}

/** Prints a figure with the pressure on the processors at its end, after it waited for a calm machine. */
const measure = async (take: () => Promise<Figure>): Promise<void> => {
  await untilIdle()
  const figure = await take()
  print(`${compare(figure, undefined)}   cpu pressure ${await readPressure()} %`)
}

const startAndExec = async ({ driver }: DriverSubject, spec: SandboxSpec): Promise<SandboxHandle> => {
  const handle = await driver.start(spec)
  await driver.exec(handle, yes)
  return handle
}

/** Measures starts, `count` of them. Each disk is made before the clock begins. */
export async function measureStarts(subject: DriverSubject, name: string, count: number): Promise<void> {
  const specs: SandboxSpec[] = []
  for (let index = 0; index < count; index += 1) specs.push(await subject.makeSpec())
  await measure(async () => {
    const samplesMs: number[] = []
    for (const spec of specs) {
      const begin = performance.now()
      const handle = await startAndExec(subject, spec)
      samplesMs.push(performance.now() - begin)
      await subject.driver.destroy(handle)
    }
    return { name, samplesMs }
  })
}

/** Measures starts at the same time. A sample is the time until all have run a command. */
export async function measureConcurrentStarts(
  subject: DriverSubject,
  at: number,
  count: number,
): Promise<void> {
  const rounds: SandboxSpec[][] = []
  for (let round = 0; round < count; round += 1) {
    const specs: SandboxSpec[] = []
    for (let index = 0; index < at; index += 1) specs.push(await subject.makeSpec())
    rounds.push(specs)
  }
  await measure(async () => {
    const samplesMs: number[] = []
    for (const specs of rounds) {
      const begin = performance.now()
      const handles = await Promise.all(specs.map((spec) => startAndExec(subject, spec)))
      samplesMs.push(performance.now() - begin)
      for (const handle of handles) await subject.driver.destroy(handle)
    }
    return { name: `start to first exec, ${at} at once`, samplesMs }
  })
}

/** Measures what a running sandbox does, `count` times each. */
export async function measureRunning(subject: DriverSubject, count: number): Promise<void> {
  const { driver } = subject
  const handle = await startAndExec(subject, await subject.makeSpec())
  const exec = (wanted: ExecRequest) => driver.exec(handle, wanted)
  try {
    await measure(() => sample('exec true', count, async () => void (await exec(yes))))
    const login = request(['/bin/bash', '-lc', 'true'], { executable: '/usr/lib/dock/bash' })
    await measure(() => sample('exec bash -lc true', count, async () => void (await exec(login))))
    await measureClaims(subject, handle, count)
    await measureCapturePause(subject, handle, count)
    await measureOutput(subject, handle)
  } finally {
    await driver.destroy(handle)
  }
  await measureMemory(subject)
}

/** Measures from the thaw of a waiting sandbox to the end of its first command. */
const measureClaims = async (
  { driver }: DriverSubject,
  handle: SandboxHandle,
  count: number,
): Promise<void> => {
  const { freezing } = driver.capabilities
  if (!freezing) return
  await measure(async () => {
    const samplesMs: number[] = []
    for (let index = 0; index < count; index += 1) {
      await freezing.freeze(handle)
      const begin = performance.now()
      await freezing.thaw(handle)
      await driver.exec(handle, yes)
      samplesMs.push(performance.now() - begin)
    }
    return { name: 'warm claim to exec', samplesMs }
  })
}

/** Writes to a file and says so, until it is told to stop or nobody listens. */
const writer = `$| = 1; open my $file, '>', '/written' or die;
  while (!-e '/stop') { seek $file, 0, 0; syswrite $file, 'x' x 65536; print "x" } unlink '/stop'`

/** Measures how long a program that writes stands still while the sandbox is frozen and thawed at once, seen from here. */
const measureCapturePause = async (
  { driver }: DriverSubject,
  handle: SandboxHandle,
  count: number,
): Promise<void> => {
  const { freezing } = driver.capabilities
  if (!freezing) return
  let [last, longest] = [performance.now(), 0]
  const onOutput = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  const writing = driver.exec(handle, {
    ...request(['/usr/bin/perl', '-e', writer]),
    ...{ onOutput, outputLimitBytes: 2 ** 30 },
  })
  const samplesMs: number[] = []
  for (let index = 0; index < count; index += 1) {
    longest = 0
    await freezing.freeze(handle)
    await freezing.thaw(handle)
    const before = last
    while (last === before) await delay(1)
    samplesMs.push(longest)
  }
  print(compare({ name: 'a writer stands still for a capture', samplesMs }, undefined))
  await driver.exec(handle, script('touch /stop'))
  await writing
}

/** Measures how fast 1 GiB leaves a program, and how much memory this process takes for it. */
const measureOutput = async ({ driver }: DriverSubject, handle: SandboxHandle): Promise<void> => {
  await untilIdle()
  const before = process.memoryUsage.rss()
  let most = before
  const begin = performance.now()
  const opened = await driver.openProcess(handle, {
    ...{ argv: ['head', '-c', String(sentBytes), '/dev/zero'], env: { PATH: '/usr/bin:/bin' } },
    ...{ cwd: '/', uid: 0, gid: 0 },
  })
  let bytes = 0
  opened.stderr?.resume()
  for await (const chunk of opened.stdout!) {
    bytes += (chunk as Buffer).length
    most = Math.max(most, process.memoryUsage.rss())
  }
  const seconds = (performance.now() - begin) / 1000
  if (bytes !== sentBytes) throw new Error(`${bytes} of ${sentBytes} bytes arrived`)
  const rate = bytes / 2 ** 20 / seconds
  print(`1 GiB out: ${rate.toFixed(0)} MiB/s, ${((most - before) / 2 ** 20).toFixed(0)} MiB more memory here`)
}

/** Measures when the host has the memory back that a program took and freed. */
const measureGivenBack = async ({ driver, pidsOf }: DriverSubject, handle: SandboxHandle): Promise<void> => {
  await untilIdle()
  const used = async () => sum(await Promise.all(pidsOf(handle).map(proportionalMiB)))
  const before = await used()
  const program = `perl -e '$taken = "x" x (${takenMiB} << 20); print length $taken'`
  const { exitCode, stdout } = await driver.exec(handle, script(program))
  if (exitCode !== 0) throw new Error(`${program}: exit ${exitCode}: ${stdout}`)
  const [most, begin] = [await used(), performance.now()]
  let now = most
  while (now > before + takenMiB / 10 && performance.now() - begin < givenBackMs) {
    await delay(100)
    now = await used()
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  const figures = [before, most, now].map((mib) => mib.toFixed(0)).join(' → ')
  print(`${takenMiB} MB taken and freed: ${figures} MiB (PSS), ${seconds} s after the end of the program`)
}

/** Measures the memory of a sandbox that is idle, and of one that has been busy. */
const measureMemory = async (subject: DriverSubject): Promise<void> => {
  const spec = await subject.makeSpec({ cpus: 1, memoryMiB: idleMemoryMiB })
  // The first start of a size may be a slow one that leaves something for the next.
  const handle = await startAndExec(subject, spec)
  await untilIdle()
  const used = sum(await Promise.all(subject.pidsOf(handle).map(proportionalMiB)))
  print(`an idle sandbox of ${idleMemoryMiB} MiB: ${used.toFixed(0)} MiB (PSS)`)
  await measureGivenBack(subject, handle)
  await subject.driver.destroy(handle)
}

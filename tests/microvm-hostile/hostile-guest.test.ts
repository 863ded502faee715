/**
 * Guests whose agent lies, on real machines: the machine that lies ends, and nobody else is harmed. Run by
 * `script/prove microvm hostile`. The lies are in agent/handle.c.
 */
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand } from '@dock/foundation'
import type { ExecRequest, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { MachineGroup } from '@dock/runtime-microvm/src/machine/jail/machine-group.ts'
import { hasTestMachines } from '@dock/testkit/src/runtime/test-machines.ts'
import {
  openTestMicrovmDriver,
  type TestMicrovmDriver,
} from '@dock/testkit/src/runtime/test-microvm-driver.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const mebibyte = 2 ** 20
/** How much the host agent and the pump may grow, whatever a guest sends. */
const growthMax = 96 * mebibyte
const floodMs = 10_000

const request = (script: string, more: Partial<ExecRequest> = {}): ExecRequest => ({
  ...{ argv: ['/bin/bash', '-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 },
  ...{ timeoutMs: 60_000, outputLimitBytes: 65_536, ...more },
})
const lie = (name: string): ExecRequest => request(`: /lie/${name}`)

describe.runIf(hasTestMachines)('a guest whose agent lies', () => {
  let opened: TestMicrovmDriver
  let driver: RuntimeDriver
  let neighbour: SandboxHandle

  beforeAll(async () => {
    const agent = join(dirname(process.env.DOCK_TEST_GUEST_AGENT!), 'lying-agent')
    const sources = join(import.meta.dirname, 'agent')
    await runCommand(join(import.meta.dirname, '../../script/install/guest-agent'), [agent, sources], {
      timeoutMs: 300_000,
    })
    opened = await openTestMicrovmDriver(agent)
    driver = opened.makeDriver()
    neighbour = await driver.start(await opened.makeSpec())
  })
  afterAll(() => opened?.close())

  const start = async (): Promise<SandboxHandle> => driver.start(await opened.makeSpec())
  const nameOf = ({ dockId, generation }: SandboxHandle) => `${dockId}-${generation}`
  /** Fails unless the machine ends, leaves no process and no folder, and its neighbour goes on. */
  const expectGone = async (handle: SandboxHandle): Promise<void> => {
    await driver.wait(handle)
    // As the host agent does when a sandbox has died.
    await driver.destroy(handle)
    expect(await opened.machines.vmm.list()).not.toContain(nameOf(handle))
    expect(MachineGroup.ofMachine(nameOf(handle)).pids()).toEqual([])
    expect((await driver.exec(neighbour, request('echo fine'))).stdout.toString()).toBe('fine\n')
  }
  /** Gives the second port a program, whose descriptors are a file that takes everything. */
  const keep = async (handle: SandboxHandle, script: string) => {
    const descriptors = [openSync('/dev/null', 'r'), openSync('/dev/null', 'w'), openSync('/dev/null', 'w')]
    return await driver.openProcess(handle, {
      ...request(script),
      descriptors: descriptors as [number, number, number],
    })
  }
  const pumpPid = (): number =>
    Number(
      readdirSync('/proc').find((pid) => {
        if (!/^\d+$/.test(pid)) return false
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(opened.pumpSocket)
        } catch {
          return false
        }
      }),
    )
  const memoryOf = (pid: number | 'self'): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  /** Times of a neighbour's commands, until `ms` have passed. */
  const timesOfNeighbour = async (ms: number): Promise<{ count: number; worst: number }> => {
    const times: number[] = []
    for (const until = performance.now() + ms; performance.now() < until; ) {
      const begin = performance.now()
      const { stdout } = await driver.exec(neighbour, request('echo fine'))
      expect(stdout.toString()).toBe('fine\n')
      times.push(performance.now() - begin)
    }
    times.sort((one, other) => one - other)
    return { count: times.length, worst: Math.round(times.at(Math.floor(times.length * 0.95)) ?? 0) }
  }

  const lies = [
    ...['opened-as-agent', 'reply-to-nothing', 'other-channel', 'exits-twice', 'wrong-count', 'credit'],
    ...['huge-frame', 'endless-log', 'endless-memory', 'zeros'],
  ]
  test.each(lies)('%s: its machine ends', async (name) => {
    const handle = await start()
    const outcome = await driver.exec(handle, lie(name)).catch((error: unknown) => error)
    // Its first end is believed.
    if (name !== 'exits-twice') expect(outcome).toMatchObject({ name: 'SandboxGone' })
    await expectGone(handle)
  })

  const later = ['reply-to-nothing', 'other-channel', 'beyond-window', 'endless-log', 'zeros']
  test.each(later)('%s on its second port: its machine ends', async (name) => {
    const handle = await start()
    const { exited } = await keep(handle, `sleep 1000 # /lie/later-${name}`)
    await expect(exited).rejects.toMatchObject({ name: 'SandboxGone' })
    await expectGone(handle)
  })

  test('a guest that hangs is paused as it is, and ends when it is ordered to', async () => {
    const handle = await start()
    const hanging = driver.exec(handle, lie('hang'))
    const gone = expect(hanging).rejects.toMatchObject({ name: 'SandboxGone' })
    expect(await driver.capabilities.freezing!.freeze(handle)).toBe(false)
    await driver.destroy(handle)
    await gone
    await expectGone(handle)
  })

  test('a command in a guest that hangs ends with its timeout', async () => {
    const handle = await start()
    const hanging = await driver.exec(handle, { ...lie('hang'), timeoutMs: 1_000 }).catch((error) => error)
    expect(hanging).toMatchObject({ timedOut: true, exitCode: 137 })
    await driver.destroy(handle)
  })

  const floods: Record<string, (handle: SandboxHandle) => Promise<unknown>> = {
    'output that waits for no acknowledgement': (handle) => driver.exec(handle, lie('beyond-window')),
    'output of one byte a frame': (handle) => driver.exec(handle, lie('crumbs')),
    'output of two programs as fast as it can': async (handle) => {
      await keep(handle, 'exec cat /dev/zero')
      return await driver.exec(handle, request('exec cat /dev/zero'))
    },
    'frames of a program that was closed': (handle) => driver.exec(handle, lie('after-close')),
    'output of a program that was closed': (handle) => driver.exec(handle, lie('after-close-output')),
  }
  test.each(Object.keys(floods))('%s: its neighbours and the host agent go on', async (name) => {
    const handle = await start()
    await (await keep(handle, 'true')).exited
    const quiet = await timesOfNeighbour(3_000)
    const before = [memoryOf('self'), memoryOf(pumpPid())]
    const cpuBefore = process.cpuUsage()
    const flooding = floods[name]!(handle).catch((error: unknown) => error)
    const busy = await timesOfNeighbour(floodMs)
    const cpu = process.cpuUsage(cpuBefore)
    const grown = [memoryOf('self') - before[0]!, memoryOf(pumpPid()) - before[1]!]
    // A flood that went on after a failure would be measured with the next one.
    await driver.destroy(handle)
    await flooding
    const share = (cpu.user + cpu.system) / 1_000 / floodMs
    console.log(
      `${name}: 95 of 100 commands of a neighbour within ${quiet.worst} ms, in the flood ${busy.worst} ms (${busy.count}); ` +
        `agent ${Math.round(share * 100)} % of a processor, grew ${Math.round(grown[0]! / mebibyte)} MiB, ` +
        `pump ${Math.round(grown[1]! / mebibyte)} MiB`,
    )
    expect(Math.max(...grown)).toBeLessThan(growthMax)
    // The emulated processor of the guest that floods takes its part too, so this is no strict measure.
    expect(busy.worst).toBeLessThan(quiet.worst * 20 + 2_000)
    expect(share).toBeLessThan(0.7)
  })
})

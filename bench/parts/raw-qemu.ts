/** QEMU with the machine of the driver, but without its jail, control group, network and monitoring. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { awaitAgent } from '@dock/runtime-microvm'
import { portCount, qemuArguments } from '@dock/runtime-microvm/src/machine/qemu/qemu-arguments.ts'
import { QmpClient } from '@dock/runtime-microvm/src/machine/qemu/qmp-client.ts'
import { listenOnUnixSocket, openTap } from '@dock/runtime-microvm/src/machine/system/system-calls.ts'
import { tscKhz } from '@dock/runtime-microvm/src/machine/system/tsc-frequency.ts'
import type { TestMachines } from '@dock/testkit/src/runtime/test-machines.ts'

/** Waits until QEMU has read its memory, and starts the processors. */
const goOn = async (monitor: QmpClient): Promise<void> => {
  const isReading = async () =>
    ((await monitor.execute('query-status')) as { status: string }).status === 'inmigrate'
  while (await isReading()) await delay(1)
  await monitor.execute('cont')
}

/**
 * Starts QEMU, from a saved memory if there is one, and returns the milliseconds until the agent in the guest answers. Nothing is
 * left of it.
 */
export async function timeRawMachine(
  { folder, tree }: TestMachines,
  machine: { cpus: number; memoryMiB: number; disk: string; memoryFile: string | null },
): Promise<number> {
  const place = await mkdtemp(join(folder, 'raw-'))
  const [monitorPath, portOf] = [join(place, 'monitor'), (port: number) => join(place, `port${port}`)]
  const open: number[] = []
  const keep = (descriptor: number): number => {
    open.push(descriptor)
    return descriptor
  }
  const given = {
    monitor: keep(listenOnUnixSocket(monitorPath)),
    ports: Array.from({ length: portCount }, (_, port) => keep(listenOnUnixSocket(portOf(port)))),
    root: keep(openSync(machine.disk, constants.O_RDWR | constants.O_DIRECT)),
    modules: keep(openSync(tree.moduleDisk, constants.O_RDONLY | constants.O_DIRECT)),
    tap: keep(openTap(null, 'raw')),
    incoming: machine.memoryFile === null ? null : keep(openSync(machine.memoryFile, 'r')),
    ...{ outgoing: null, kvm: null },
  }
  const acceleration = { kind: 'tcg', tscKhz: await tscKhz() } as const
  const { args, descriptors } = qemuArguments(machine, acceleration, given)
  const begin = performance.now()
  const child = spawn('chroot', [tree.root, 'qemu-system-x86_64', ...args], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['ignore', 'ignore', 'inherit', ...descriptors],
  })
  const ended = once(child, 'close')
  for (const descriptor of open) closeSync(descriptor)
  const monitor = await QmpClient.connect(monitorPath, () => undefined)
  if (machine.memoryFile !== null) await goOn(monitor)
  await awaitAgent({ dial: (port) => connect(portOf(port)) })
  const took = performance.now() - begin
  monitor.close()
  child.kill('SIGKILL')
  await ended
  await rm(place, { recursive: true })
  return took
}

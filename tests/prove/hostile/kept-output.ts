/** Many Docks of one organization print as much as they can, so that kept output would fill the database's filesystem. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import { ProcessKeeper } from '../../../apps/host-agent/src/sandboxes/kept-processes/process-keeper.ts'
import { untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

const mebibyte = 2 ** 20
const hostBytesMax = 32 * mebibyte
const docks = 20
const bytesOfDock = 4 * mebibyte

export async function floodOfOutput(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-flood-'))
  const output = join(folder, 'output')
  const logger = createLogger('prove')
  logger.level = 'silent'
  const place = { folder: output, runFolder: folder, settings: { hostBytesMax } }
  const keeper = new ProcessKeeper(place, logger)
  /** Runs a program whose output is kept, to its end. Returns what is kept. */
  const print = async (owner: string, bytes: number): Promise<{ first: number; end: number }> => {
    const [dockId, id] = [newUuid(), newUuid()]
    const paths = await keeper.create(dockId, id, { stdin: false, stderr: false, holdOutput: false, owner })
    const [input, out] = [openSync(paths.stdin, 'r'), openSync(paths.stdout, 'w')]
    const child = spawn('head', ['-c', String(bytes), '/dev/zero'], { stdio: [input, out, out] })
    for (const descriptor of [input, out]) closeSync(descriptor)
    await Promise.all([keeper.markStarted(dockId, id), once(child, 'exit')])
    await untilTrue(async () => !(await keeper.states(dockId))[id]?.stdout.isOpen, 20_000)
    const read = async () => (await keeper.states(dockId))[id]?.stdout ?? { first: 0, end: 0 }
    states.push(read)
    return read()
  }
  const states: (() => Promise<{ first: number; end: number }>)[] = []
  try {
    await print('neighbour', mebibyte)
    const flood = await Promise.all(Array.from({ length: docks }, () => print('mallory', bytesOfDock)))
    const written = flood.reduce((sum, { end }) => sum + end, 0)
    const onDisk = Number((await runCommand('du', ['-sB1', output])).split('\t')[0])
    const neighbour = await states[0]?.()
    report.attack({
      what: 'many Docks of one organization fill the disk with kept output',
      control: written > 2 * hostBytesMax && onDisk > hostBytesMax / 2,
      // Folders and files that are being written take a block each.
      holds:
        onDisk <= hostBytesMax + 4 * docks * 4096 && neighbour?.first === 0 && neighbour.end === mebibyte,
      seen: `${docks} Docks wrote ${written / mebibyte} MiB, ${Math.round(onDisk / mebibyte)} of ${hostBytesMax / mebibyte} MiB are on the disk, a neighbour's ${neighbour?.first === 0 ? 'are all there' : 'are dropped'}`,
    })
  } finally {
    await keeper.end()
    await rm(folder, { recursive: true, force: true })
  }
}

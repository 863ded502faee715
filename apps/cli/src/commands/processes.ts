import type { DockProcess, DockSample } from '@dock/sdk'
import { findDock, nameOf, openDock } from '../docks/find-dock.ts'
import { pick } from '../docks/pick.ts'
import { formatAge, formatBytes } from '../output/formats.ts'
import { writeTo } from '../output/write-to.ts'
import type { Command } from '../program/command.ts'
import { notFound } from '../program/failures.ts'
import { collectOutput } from '../remote/collect-output.ts'
import { explainStopped } from '../remote/explain-stopped.ts'
import { dockArgument, requiredDock } from './docks.ts'

const stateOf = ({ state, reason, exitCode, signal }: DockProcess): string => {
  if (state === 'running') return 'running'
  if (reason === 'exited') return `exit ${exitCode}`
  return signal ?? reason ?? 'ended'
}

/** Lists processes, or ends one. */
export const ps: Command = {
  path: ['ps'],
  summary: 'List the processes of a Dock that dock exec and the API have started',
  args: [dockArgument],
  flags: [{ name: 'kill', value: 'PROCESS', about: 'end this process with all that it started' }],
  async run(context, input) {
    const dock = await openDock(context, input.optional('DOCK'))
    const processes = await explainStopped(dock, () => dock.processes.list())
    const wanted = input.text('kill')
    if (wanted !== undefined) {
      const { id } = pick('process', processes, wanted, () => [])
      await dock.processes.attach(id).kill('KILL', { target: 'tree' })
      context.out.result({ id, killed: true }, () => context.out.note(`Ended ${id}.`))
      return
    }
    context.out.list(
      processes,
      {
        ID: (each) => each.id,
        STATE: (each) => stateOf(each),
        STARTED: (each) => `${formatAge(each.startedAt)} ago`,
        OUTPUT: (each) => formatBytes(each.stdout.endOffset + (each.stderr?.endOffset ?? 0)),
        COMMAND: (each) => each.command,
      },
      { empty: 'No process runs, and none has ended lately.', text: [4] },
    )
  },
}

/** Shows output that is kept. */
export const logs: Command = {
  path: ['logs'],
  summary: 'Show the output of a process; without PROCESS, of the latest one',
  args: [requiredDock, { name: 'PROCESS', isOptional: true }],
  flags: [
    { name: 'follow', short: 'f', about: 'go on until the process ends' },
    { name: 'offset', value: 'BYTES', about: 'begin behind so many bytes of standard output' },
    { name: 'stderr', about: 'only standard error' },
    { name: 'stdout', about: 'only standard output' },
  ],
  async run(context, input) {
    const dock = await openDock(context, input.arg('DOCK'))
    const processes = await explainStopped(dock, () => dock.processes.list())
    const wanted = input.optional('PROCESS')
    const found = wanted === undefined ? processes.at(-1) : pick('process', processes, wanted, () => [])
    if (!found) throw notFound(`${nameOf(dock)} has no process with output.`)
    const process = dock.processes.attach(found.id, { offset: input.integer('offset') })
    const { sinks, texts } = collectOutput()
    const names = (['stdout', 'stderr'] as const).filter(
      (each) => input.has(each) || !(input.has('stdout') || input.has('stderr')),
    )
    for await (const { stream, data } of process.output({ follow: input.has('follow') })) {
      if (!names.includes(stream)) continue
      await writeTo((context.out.isJson ? sinks : context.out)[stream], data)
    }
    if (context.out.isJson) context.out.result({ processId: found.id, ...texts() }, () => undefined)
  },
}

/** Shows what a Dock uses. */
export const stats: Command = {
  path: ['stats'],
  summary: 'Show what a Dock uses',
  args: [dockArgument],
  flags: [{ name: 'window', value: 'TIME', about: 'also averages and peaks', choices: ['1h', '24h'] }],
  async run(context, input) {
    const info = await findDock(context, input.optional('DOCK'))
    const window = input.text('window') as '1h' | '24h' | undefined
    const stats = await (await context.client()).call('readDockStats', {
      params: { id: info.id },
      query: window === undefined ? {} : { window },
    })
    context.out.result(stats, () => {
      const { sample } = stats
      if (!sample) return context.out.note(`${nameOf(info)} has not been measured yet.`)
      const { avg, peak } = stats.window ?? {}
      const row = (label: string, read: (values: DockSample) => string): string[] => [
        label,
        read(sample),
        ...(avg && peak ? [read(avg as DockSample), read(peak as DockSample)] : []),
      ]
      context.out.table(
        ['', 'NOW', ...(avg ? [`AVERAGE ${window}`, `PEAK ${window}`] : [])],
        [
          row('cpu', ({ cpuPercent }) => `${cpuPercent.toFixed(1)} %`),
          row('memory', ({ memBytes, memLimit }) => `${formatBytes(memBytes)} of ${formatBytes(memLimit)}`),
          row('disk', ({ diskBytes }) => formatBytes(diskBytes)),
          row('received', ({ rxBytes }) => formatBytes(rxBytes)),
          row('sent', ({ txBytes }) => formatBytes(txBytes)),
        ],
        { needed: [0, 1, 2, 3] },
      )
    })
  },
}

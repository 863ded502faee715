import { Dock, type DockInfo, type DockStop } from '@dock/sdk'
import { dockByName, findDock, listDocks, nameOf, openDock } from '../docks/find-dock.ts'
import { showDock } from '../docks/show-dock.ts'
import { readSizes, readVariables, sizeFlags, variableFlag } from '../docks/sizes.ts'
import { warnOfSshName } from '../docks/ssh-name.ts'
import { colourOfWord, wordOf } from '../docks/words.ts'
import { formatAge, formatMebibytes } from '../output/formats.ts'
import type { Argument, Command } from '../program/command.ts'

export const dockArgument: Argument = { name: 'DOCK', kind: 'dock', isOptional: true }
export const requiredDock: Argument = { name: 'DOCK', kind: 'dock' }

export const ls: Command = {
  path: ['ls'],
  summary: 'List your Docks',
  flags: [
    { name: 'running', about: 'only those that run' },
    { name: 'stopped', about: 'only those that are stopped' },
  ],
  async run(context, input) {
    const client = await context.client()
    const letters = `${input.has('running') ? 'rp' : ''}${input.has('stopped') ? 's' : ''}`
    const docks = await context.out.wait(
      'Listing',
      letters === '' ? listDocks(client) : client.call('listDocks', { query: { filter: letters } }),
    )
    context.out.list(
      docks,
      {
        NAME: (dock) => dock.name ?? '–',
        STATE: (dock) => wordOf(dock.state),
        CPUS: (dock) => `${dock.cpus}`,
        MEMORY: (dock) => formatMebibytes(dock.memoryMiB),
        DISK: (dock) => `${dock.diskGiB} GiB`,
        IMAGE: (dock) => dock.image,
        AGE: (dock) => formatAge(dock.createdAt),
        ID: (dock) => dock.id,
      },
      {
        empty: 'There is no Dock here. Create one: dock create NAME',
        colours: (text, column) => (column === 1 ? colourOfWord(text) : undefined),
      },
    )
  },
}

export const show: Command = {
  path: ['show'],
  summary: 'Show everything about a Dock',
  args: [dockArgument],
  async run(context, input) {
    const dock = await context.out.wait('Reading', findDock(context, input.optional('DOCK')))
    const client = await context.client()
    // A service of an older version does not have the route.
    const { lastStop } = await client
      .call('readDockLastStop', { params: { id: dock.id } })
      .catch((): { lastStop: DockStop | null } => ({ lastStop: null }))
    showDock(context, dock, lastStop)
  },
}

export const stop: Command = {
  path: ['stop'],
  summary: 'Stop a Dock; its disk is kept',
  args: [dockArgument],
  flags: [{ name: 'force', about: 'also if its host does not respond: what was not saved is lost' }],
  async run(context, input) {
    const dock = await openDock(context, input.optional('DOCK'))
    const name = nameOf(dock)
    if (input.has('force')) await context.confirm(`Stop ${name} by force?`)
    await context.out.wait(`Stopping ${name}`, dock.stop({ force: input.has('force') }))
    const { state } = dock.info
    context.out.result({ id: dock.id, name: dock.name, state }, () => {
      if (!context.out.isQuiet) context.out.line(`Stopped ${name}. Go on with: dock resume ${name}`)
    })
  },
}

export const resume: Command = {
  path: ['resume'],
  summary: 'Boot a stopped Dock',
  args: [dockArgument],
  flags: sizeFlags,
  async run(context, input) {
    const dock = await openDock(context, input.optional('DOCK'))
    await context.out.wait(`Resuming ${nameOf(dock)}`, dock.resume(readSizes(input)))
    context.out.result({ id: dock.id, name: dock.name, state: dock.info.state }, () => {
      if (!context.out.isQuiet) context.out.line(`Resumed ${nameOf(dock)}.`)
    })
  },
}

export const branch: Command = {
  path: ['branch'],
  summary: 'Copy a Dock with its disk, while it runs',
  args: [requiredDock, { name: 'NAME', isOptional: true }],
  flags: [...sizeFlags, variableFlag],
  async run(context, input) {
    const source = await openDock(context, input.arg('DOCK'))
    const name = input.optional('NAME')
    warnOfSshName(context, name)
    const copy = await context.out.wait(
      `Branching ${nameOf(source)}`,
      source.branch({
        ...readSizes(input),
        ...(name === undefined ? {} : { name }),
        ...(input.list('env').length > 0 ? { env: readVariables(input, context.env) } : {}),
      }),
    )
    context.out.result(copy.info, () => {
      if (context.out.isQuiet) return context.out.line(copy.id)
      context.out.line(`Created ${copy.name ?? copy.id} from ${nameOf(source)}.`)
    })
  },
}

export const rm: Command = {
  path: ['rm'],
  summary: 'Delete Docks with all their Snapshots, for good',
  args: [{ ...requiredDock, isMany: true }],
  async run(context, input) {
    const client = await context.client()
    const named = await Promise.all(input.rest.map((name) => dockByName(client, name)))
    const docks = [...new Map(named.map((dock) => [dock.id, dock])).values()]
    // What the person typed: they know it, and the name of a Dock may be any text.
    const typed = (dock: DockInfo): string =>
      input.rest[named.findIndex(({ id }) => id === dock.id)] ?? nameOf(dock)
    const names = docks.map(typed).join(', ')
    await context.confirm(`Delete ${names} with all Snapshots?`)
    const ends = await context.out.wait(
      `Deleting ${names}`,
      Promise.allSettled(docks.map((dock) => new Dock(client, dock).delete())),
    )
    const deleted = docks.filter((_, at) => ends[at]?.status === 'fulfilled')
    context.out.result(
      deleted.map(({ id, name }) => ({ id, name, deleted: true })),
      () => {
        if (!context.out.isQuiet && deleted.length > 0)
          context.out.line(`Deleted ${deleted.map(typed).join(', ')}.`)
      },
    )
    // The others are deleted all the same; the first failure is the result.
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) throw failed.reason
  },
}

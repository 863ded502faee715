import { lstat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Dock, type DockInfo } from '@dock/sdk'
import { dockByName, findDock, listDocks, nameOf } from '../docks/find-dock.ts'
import { readSizes, readTextFile, readVariables, sizeFlags, variableFlag } from '../docks/sizes.ts'
import { findWorkspaceId } from '../docks/workspaces.ts'
import type { ColourName } from '../output/colours.ts'
import { formatAge, formatMebibytes, formatSeconds } from '../output/formats.ts'
import type { Argument, Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

export const dockArgument: Argument = { name: 'DOCK', kind: 'dock', isOptional: true }
export const requiredDock: Argument = { name: 'DOCK', kind: 'dock' }

const shownStates: Readonly<Record<DockInfo['state'], string>> = {
  ...{ provisioning: 'starting', provisioned: 'starting', cloning: 'cloning', ready: 'ready', idle: 'idle' },
  ...{
    running: 'running',
    archiving: 'stopping',
    archived: 'stopped',
    error: 'error',
    unreachable: 'unreachable',
  },
}

const colourOfState = (text: string): ColourName | undefined => {
  if (/^(ready|running|idle)$/.test(text)) return 'green'
  if (/^(error|unreachable)$/.test(text)) return 'red'
  return text === 'stopped' ? 'dim' : 'yellow'
}

const sizeOf = ({ cpus, memoryMiB, diskGiB }: DockInfo): string =>
  `${cpus} CPU${cpus === 1 ? '' : 's'}, ${formatMebibytes(memoryMiB)} memory, ${diskGiB} GiB disk`

/** Prints everything about a Dock; in quiet mode its id. */
export function showDock({ out }: Context, dock: DockInfo): void {
  out.result(dock, () => {
    if (out.isQuiet) return out.line(dock.id)
    out.fields([
      ['name', dock.name ?? '–'],
      ['id', dock.id],
      ['state', `${shownStates[dock.state] ?? dock.state}, for ${formatAge(dock.stateChangedAt)}`],
      ['size', sizeOf(dock)],
      ['image', dock.image],
      ['environment', dock.environment],
      ['template', dock.fromTemplate],
      ['stops after', dock.ttlSeconds === null ? null : formatSeconds(dock.ttlSeconds)],
      ['setup', dock.setupStatus === 'done' ? null : dock.setupStatus],
      ['setup error', dock.setupError],
      ['address', dock.ip],
      ['last snapshot', dock.lastSnapshotAt === null ? null : `${formatAge(dock.lastSnapshotAt)} ago`],
      ['age', formatAge(dock.createdAt)],
    ])
  })
}

const createFlags = [
  ...sizeFlags,
  { name: 'image', value: 'IMAGE', about: 'the image of its disk' },
  { name: 'from', value: 'TEMPLATE', about: 'start from this Template' },
  {
    name: 'environment',
    value: 'NAME',
    about: 'the Environment that gives it variables, files and repositories',
  },
  { name: 'no-environment', about: 'start without an Environment' },
  { name: 'workspace', value: 'WORKSPACE', about: 'make it in this workspace' },
  variableFlag,
  { name: 'setup', value: 'FILE', about: 'a script that runs in it once; -: standard input' },
  { name: 'here', about: 'write .dock, so that commands in this folder mean this Dock' },
]

export const create: Command = {
  path: ['create'],
  summary: 'Create a Dock',
  args: [{ name: 'NAME', isOptional: true }],
  flags: createFlags,
  examples: ['dock create web --memory 4G', 'dock create --from my-template --here'],
  async run(context, input) {
    const client = await context.client()
    const [name, setup] = [input.optional('NAME'), input.text('setup')]
    const body = {
      workspaceId: await findWorkspaceId(context, input.text('workspace')),
      ...readSizes(input),
      ...(name === undefined ? {} : { name }),
      image: input.text('image'),
      from: input.text('from'),
      environment: input.text('environment'),
      ...(input.has('no-environment') ? { noEnv: true } : {}),
      env: input.list('env').length > 0 ? readVariables(input, context.env) : undefined,
      setupScript: setup === undefined ? undefined : await readTextFile(setup),
    }
    if (input.has('here')) await requireNoDockFile(context)
    const dock = await context.out.wait(`Creating ${name ?? 'a Dock'}`, client.call('createDock', { body }))
    if (input.has('here')) await writeDockFile(context, dock)
    context.out.result(dock, () => {
      if (context.out.isQuiet) return context.out.line(dock.id)
      context.out.line(`Created ${dock.name ?? dock.id} (${sizeOf(dock)}, ${dock.image}).`)
      context.out.note(`Open a shell: dock shell ${nameOf(dock)}`)
    })
  },
}

const requireNoDockFile = async ({ cwd }: Context): Promise<void> => {
  const file = join(cwd, '.dock')
  if (await lstat(file).catch(() => null))
    throw new LocalError('dock_file', `${file} is there already. Remove it, or leave out --here.`)
}

const writeDockFile = async ({ cwd }: Context, dock: DockInfo): Promise<void> => {
  const file = join(cwd, '.dock')
  await writeFile(file, `${dock.name ?? dock.id}\n`, { flag: 'wx', mode: 0o644 }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new LocalError(
        'dock_file',
        `The Dock ${nameOf(dock)} was created, but ${file} cannot be written (${error.code}).`,
      )
    },
  )
}

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
    context.out.result(docks, () =>
      context.out.table(
        ['NAME', 'STATE', 'CPUS', 'MEMORY', 'DISK', 'IMAGE', 'AGE', 'ID'],
        docks.map((dock) => [
          dock.name ?? '–',
          shownStates[dock.state] ?? dock.state,
          ...[`${dock.cpus}`, formatMebibytes(dock.memoryMiB), `${dock.diskGiB} GiB`],
          dock.image,
          formatAge(dock.createdAt),
          dock.id,
        ]),
        {
          ids: docks.map(({ id }) => id),
          empty: 'There is no Dock here. Create one: dock create NAME',
          colours: (text, column) => (column === 1 ? colourOfState(text) : undefined),
        },
      ),
    )
  },
}

export const show: Command = {
  path: ['show'],
  summary: 'Show everything about a Dock',
  args: [dockArgument],
  async run(context, input) {
    showDock(context, await context.out.wait('Reading', findDock(context, input.optional('DOCK'))))
  },
}

export const stop: Command = {
  path: ['stop'],
  summary: 'Stop a Dock; its disk is kept',
  args: [dockArgument],
  flags: [{ name: 'force', about: 'also if its host does not respond: what was not saved is lost' }],
  async run(context, input) {
    const info = await findDock(context, input.optional('DOCK'))
    if (input.has('force')) await context.confirm(`Stop ${nameOf(info)} by force?`)
    const dock = new Dock(await context.client(), info)
    await context.out.wait(`Stopping ${nameOf(info)}`, dock.stop({ force: input.has('force') }))
    const { state } = dock.info
    context.out.result({ id: dock.id, name: dock.name, state }, () => {
      if (!context.out.isQuiet)
        context.out.line(`Stopped ${nameOf(info)}. Go on with: dock resume ${nameOf(info)}`)
    })
  },
}

export const resume: Command = {
  path: ['resume'],
  summary: 'Boot a stopped Dock',
  args: [dockArgument],
  flags: sizeFlags,
  async run(context, input) {
    const info = await findDock(context, input.optional('DOCK'))
    const dock = new Dock(await context.client(), info)
    await context.out.wait(`Resuming ${nameOf(info)}`, dock.resume(readSizes(input)))
    context.out.result({ id: dock.id, name: dock.name, state: dock.info.state }, () => {
      if (!context.out.isQuiet) context.out.line(`Resumed ${nameOf(info)}.`)
    })
  },
}

export const branch: Command = {
  path: ['branch'],
  summary: 'Copy a Dock with its disk, while it runs',
  args: [requiredDock, { name: 'NAME', isOptional: true }],
  flags: [...sizeFlags, variableFlag],
  async run(context, input) {
    const source = await findDock(context, input.arg('DOCK'))
    const name = input.optional('NAME')
    const copy = await context.out.wait(
      `Branching ${nameOf(source)}`,
      new Dock(await context.client(), source).branch({
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

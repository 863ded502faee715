import { lstat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DockInfo, RuntimeName } from '@dock/sdk'
import { awaitSetup, setupFailure } from '../docks/await-setup.ts'
import { nameOf } from '../docks/find-dock.ts'
import { sizeOf } from '../docks/show-dock.ts'
import { readSizes, readTextFile, readVariables, sizeFlags, variableFlag } from '../docks/sizes.ts'
import { warnOfSshName } from '../docks/ssh-name.ts'
import { findWorkspaceId } from '../docks/workspaces.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

const runtimes: readonly RuntimeName[] = ['gvisor', 'microvm']

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
  {
    name: 'runtime',
    value: 'RUNTIME',
    about: 'only on a host of this runtime; without it the host decides',
    choices: runtimes,
  },
  variableFlag,
  { name: 'setup', value: 'FILE', about: 'a script that runs in it once, to its end; -: standard input' },
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
    warnOfSshName(context, name)
    const runtime = input.text('runtime')
    const headers = runtime === undefined ? {} : { 'x-dock-runtime': runtime }
    const creating = client.call('createDock', { body, headers })
    const made = await context.out.wait(`Creating ${name ?? 'a Dock'}`, creating)
    if (input.has('here')) await writeDockFile(context, made)
    const dock =
      setup === undefined
        ? made
        : await context.out.wait(`Setting up ${nameOf(made)}`, awaitSetup(client, made))
    context.out.result(dock, () => {
      if (context.out.isQuiet) return context.out.line(dock.id)
      context.out.line(`Created ${dock.name ?? dock.id} (${sizeOf(dock)}, ${dock.image}).`)
      context.out.note(`Open a shell: dock shell ${nameOf(dock)}`)
    })
    if (dock.setupStatus === 'failed') throw setupFailure(dock)
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

import { mkdir, readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { listDocks } from '../docks/find-dock.ts'
import { withLongNames } from '../docks/long-names.ts'
import type { Command } from '../program/command.ts'
import { LocalError } from '../program/failures.ts'
import { configFolder, replacePrivateFile } from '../settings/profiles.ts'
import { sshConfig, sshHosts, withInclude } from '../ssh/ssh-config.ts'
import { readSshTarget } from '../ssh/ssh-target.ts'

/** Returns the user's own configuration, byte for byte as Latin-1. A missing file is empty. */
const readConfig = (file: string): Promise<string> =>
  readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new LocalError('local_file', `${file} cannot be read (${error.code}). Nothing was changed.`)
  })

/** Makes `ssh NAME.dock` work. */
export const configSsh: Command = {
  path: ['config-ssh'],
  summary: 'Write ~/.ssh/dock_config, so that ssh NAME.dock, scp, rsync, git and editors reach your Docks',
  details:
    'Includes the file at the beginning of ~/.ssh/config, once. Run it again after you have created Docks. All names end in\n.dock, so that no Dock is taken for another machine. The second of two Docks with one name gets its longer name.',
  flags: [{ name: 'print', about: 'print the file instead of writing it' }],
  async run(context, input) {
    const client = await context.client()
    const [target, docks] = await Promise.all([readSshTarget(client), listDocks(client)])
    // The oldest keeps the short name when others come.
    const sorted = docks.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))
    const file = join(context.env.HOME || homedir(), '.ssh', 'config')
    const before = await readConfig(file)
    const hosts = sshHosts(await withLongNames(client, sorted))
    const text = sshConfig(context.env, target, hosts)
    if (input.has('print')) return context.out.result({ config: text }, () => context.out.stdout.write(text))
    const folder = dirname(file)
    // The second one is where ssh keeps the keys of the gateway. Who never ran dock login has none.
    for (const each of [folder, configFolder(context.env)])
      await mkdir(each, { recursive: true, mode: 0o700 })
    const after = withInclude(before)
    if (after !== before) {
      await context.confirm(`Include dock_config in ${file}?`)
      // Some keep the file elsewhere, with a link here.
      await replacePrivateFile(await realpath(file).catch(() => file), Buffer.from(after, 'latin1'))
    }
    await replacePrivateFile(join(folder, 'dock_config'), text)
    context.out.result(
      hosts.map(({ host, dock }) => ({ host, dockId: dock.id })),
      () => {
        context.out.table(
          ['HOST', 'DOCK'],
          hosts.map(({ host, dock }) => [host, dock.id]),
          { empty: 'There is no Dock yet.' },
        )
        const [first] = hosts
        if (first) context.out.note(`Connect: ssh ${first.host}`)
      },
    )
  },
}

import { mkdir, readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { listDocks } from '../docks/find-dock.ts'
import { withLongNames } from '../docks/long-names.ts'
import type { Command } from '../program/command.ts'
import { replacePrivateFile } from '../settings/profiles.ts'
import { sshConfig, sshHosts, withInclude } from '../ssh/ssh-config.ts'
import { readSshTarget } from '../ssh/ssh-target.ts'

/** Makes `ssh NAME` work. */
export const configSsh: Command = {
  path: ['config-ssh'],
  summary: 'Write ~/.ssh/dock_config, so that ssh NAME, scp, rsync, git and editors reach your Docks',
  details:
    'Includes the file at the beginning of ~/.ssh/config, once. Run it again after you have created Docks. Of two Docks with\none name, the second gets its longer name.',
  flags: [{ name: 'print', about: 'print the file instead of writing it' }],
  async run(context, input) {
    const client = await context.client()
    const [target, docks] = await Promise.all([readSshTarget(client), listDocks(client)])
    // The oldest keeps the short name when others come.
    const sorted = docks.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))
    const hosts = sshHosts(await withLongNames(client, sorted))
    const text = sshConfig(context.env, target, hosts)
    if (input.has('print')) return void process.stdout.write(text)
    const folder = join(context.env.HOME || homedir(), '.ssh')
    const file = join(folder, 'config')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const before = await readFile(file, 'utf8').catch(() => '')
    const after = withInclude(before)
    if (after !== before) {
      await context.confirm(`Include dock_config in ${file}?`)
      // Some keep the file elsewhere, with a link here.
      await replacePrivateFile(await realpath(file).catch(() => file), after)
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

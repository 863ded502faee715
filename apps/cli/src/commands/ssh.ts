import { findDock } from '../docks/find-dock.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { exitCodes } from '../program/exit-codes.ts'
import { runSsh } from '../ssh/run-ssh.ts'
import { readSshTarget, sshArguments } from '../ssh/ssh-target.ts'
import { dockArgument } from './docks.ts'

/** After a failure, says so if there is no key that could have worked. */
export async function explainMissingKey(context: Context): Promise<void> {
  const keys = await (await context.client()).call('listSshKeys').catch(() => undefined)
  if (keys?.length === 0) context.out.note('You have no SSH key at this service. Add one: dock ssh-key add')
}

/** Connects with ssh. */
export const ssh: Command = {
  path: ['ssh'],
  summary: 'Connect to a Dock with ssh; without a command, a stopped Dock is resumed',
  args: [dockArgument],
  takesCommand: true,
  isAroundCommand: true,
  flags: [
    { name: 'forward', short: 'L', value: 'SPEC', isMany: true, about: 'as ssh -L: LOCAL:HOST:PORT' },
    { name: 'agent', short: 'A', about: 'forward your SSH agent' },
    { name: 'print', about: 'print the command instead of running it' },
  ],
  examples: ['dock ssh web', 'dock ssh web -- git status', 'dock ssh -L 3000:localhost:3000 web'],
  async run(context, input) {
    const [info, target] = await Promise.all([
      findDock(context, input.optional('DOCK')),
      context.client().then(readSshTarget),
    ])
    const more = [
      ...input.list('forward').flatMap((spec) => ['-L', spec]),
      ...(input.has('agent') ? ['-A'] : []),
    ]
    const args = [...sshArguments(context.env, target, info.id, more), ...input.rest]
    if (input.has('print')) {
      context.out.result({ program: 'ssh', arguments: args }, () =>
        context.out.line(['ssh', ...args].join(' ')),
      )
      return exitCodes.ok
    }
    const code = await runSsh(context.env, args)
    if (code === exitCodes.service) await explainMissingKey(context)
    return code
  },
}

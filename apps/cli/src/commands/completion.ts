import { listDocks } from '../docks/find-dock.ts'
import { issueOf, listRuns } from '../docks/find-run.ts'
import type { ArgumentKind, Command } from '../program/command.ts'
import { complete, type NamesOf } from '../program/complete.ts'
import { completionScripts } from '../program/completion-scripts.ts'
import type { Context } from '../program/context.ts'
import { UsageError } from '../program/failures.ts'

const shells = Object.keys(completionScripts)

/** Prints the script of a shell. */
export const completion: Command = {
  path: ['completion'],
  summary: 'Print the script that completes commands, flags and names of Docks',
  args: [{ name: 'SHELL', kind: 'shell' }],
  examples: [
    'eval "$(dock completion bash)"',
    'eval "$(dock completion zsh)"',
    'dock completion fish | source',
  ],
  async run(context, input) {
    const shell = input.arg('SHELL')
    const script = Object.hasOwn(completionScripts, shell) ? completionScripts[shell] : undefined
    if (script === undefined) throw new UsageError(`SHELL is one of ${shells.join(', ')}.`)
    context.out.result({ shell, script }, () => process.stdout.write(script))
  },
}

const namesOf =
  (context: Context): NamesOf =>
  async (kind: ArgumentKind) => {
    if (kind === 'shell') return shells
    const client = await context.client()
    if (kind === 'dock') return (await listDocks(client)).flatMap(({ name, id }) => name ?? id)
    if (kind === 'template') return (await client.call('listTemplates')).map(({ name }) => name)
    if (kind === 'run') return [...new Set((await listRuns(context, undefined, { limit: 100 })).map(issueOf))]
    const [organization] = await client.call('listOrganizations')
    if (!organization) return []
    return (await client.call('listEnvironments', { query: { organizationId: organization.id } })).map(
      ({ name }) => name,
    )
  }

/** Returns the hidden command that the scripts call. Failures offer nothing. */
export function completeCommand(commands: () => readonly Command[]): Command {
  return {
    path: ['__complete'],
    isHidden: true,
    summary: 'Print what completes the line',
    takesCommand: true,
    async run(context, input) {
      const found = await complete(commands(), input.rest, namesOf(context)).catch(() => [])
      for (const each of found) process.stdout.write(`${each}\n`)
    },
  }
}

import { findDock } from '../docks/find-dock.ts'
import { pick } from '../docks/pick.ts'
import { formatAge, formatBytes } from '../output/formats.ts'
import type { Command } from '../program/command.ts'
import { requiredDock } from './docks.ts'

const list: Command = {
  path: ['template', 'ls'],
  summary: 'List Templates',
  async run(context) {
    const templates = await (await context.client()).call('listTemplates')
    context.out.list(
      templates,
      {
        NAME: (each) => each.name,
        STATE: (each) => each.status,
        SIZE: (each) => formatBytes(each.sizeBytes),
        AGE: (each) => formatAge(each.updatedAt),
        ID: (each) => each.id,
      },
      {
        // A Template is used by its name.
        ids: templates.map(({ name }) => name),
        empty: 'There is no Template. Make one: dock template create DOCK NAME',
      },
    )
  },
}

const create: Command = {
  path: ['template', 'create'],
  summary: 'Freeze a Dock as a Template, or replace the one with this name',
  args: [requiredDock, { name: 'NAME' }],
  async run(context, input) {
    const client = await context.client()
    const { id } = await findDock(context, input.arg('DOCK'))
    const body = { dockId: id, name: input.arg('NAME') }
    const template = await context.out.wait(
      `Freezing ${input.arg('DOCK')}`,
      client.call('createTemplate', { body }),
    )
    context.out.result(template, () => {
      if (context.out.isQuiet) return context.out.line(template.id)
      context.out.line(`Made ${template.name}. Use it: dock create --from ${template.name}`)
    })
  },
}

const remove: Command = {
  path: ['template', 'rm'],
  summary: 'Delete a Template',
  args: [{ name: 'TEMPLATE', kind: 'template' }],
  async run(context, input) {
    const client = await context.client()
    const templates = await client.call('listTemplates')
    const { name, organizationId } = pick('Template', templates, input.arg('TEMPLATE'), (each) => [each.name])
    await context.confirm(`Delete the Template ${name}?`)
    const answer = await client.call('deleteTemplate', { params: { name }, query: { organizationId } })
    context.out.result({ name, ...answer }, () => context.out.note(`Deleted ${name}.`))
  },
}

export const templateCommands: readonly Command[] = [list, create, remove]

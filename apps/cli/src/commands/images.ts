import type { Command } from '../program/command.ts'

const list: Command = {
  path: ['image', 'ls'],
  summary: 'List the images that a new Dock can start from',
  async run(context) {
    const images = await (await context.client()).call('listImages')
    context.out.list(
      images,
      {
        NAME: ({ name }) => name,
        STATE: ({ available }) => (available ? 'available' : 'no host has it'),
        '': ({ isDefault }) => (isDefault ? 'default' : ''),
      },
      {
        empty: 'There is no image. An operator builds one: script/image NAME',
        colours: (text, column) => (column === 1 && text !== 'available' ? 'yellow' : undefined),
      },
    )
  },
}

export const imageCommands: readonly Command[] = [list]

import type { Command } from '../program/command.ts'

const list: Command = {
  path: ['image', 'ls'],
  summary: 'List the images that a new Dock can start from',
  async run(context) {
    const images = await (await context.client()).call('listImages')
    context.out.result(images, () =>
      context.out.table(
        ['NAME', 'STATE', ''],
        images.map(({ name, isDefault, available }) => [
          name,
          available ? 'available' : 'no host has it',
          isDefault ? 'default' : '',
        ]),
        {
          empty: 'There is no image. An operator builds one: script/image NAME',
          colours: (text, column) => (column === 1 && text !== 'available' ? 'yellow' : undefined),
        },
      ),
    )
  },
}

export const imageCommands: readonly Command[] = [list]

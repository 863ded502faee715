import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Client, Snapshots } from '@dock/sdk'
import { findDock } from '../docks/find-dock.ts'
import { findSnapshot } from '../docks/find-snapshot.ts'
import { absoluteInDock } from '../docks/place.ts'
import { formatAge, formatBytes } from '../output/formats.ts'
import { askToReplace, saveStream } from '../output/save-stream.ts'
import type { Argument, Command } from '../program/command.ts'
import { collectOutput } from '../remote/collect-output.ts'
import { dockArgument } from './docks.ts'

const snapshotArgument: Argument = { name: 'SNAPSHOT', kind: 'dock' }
const explained =
  'SNAPSHOT is the id of a Snapshot or the beginning of it, or a Dock: its latest one. A path without / at the start is in /home/user/work.'

const list: Command = {
  path: ['snapshot', 'ls'],
  summary: 'List the Snapshots of a Dock',
  args: [dockArgument],
  async run(context, input) {
    const dock = await findDock(context, input.optional('DOCK'))
    const snapshots = await context.out.wait(
      'Listing',
      new Snapshots(await context.client()).list({ dockId: dock.id }),
    )
    context.out.list(
      snapshots,
      {
        ID: (each) => each.id,
        STATE: (each) => each.status,
        SIZE: (each) => formatBytes(each.sizeBytes),
        AGE: (each) => formatAge(each.createdAt),
      },
      { empty: 'There is no Snapshot. A stop makes one.' },
    )
  },
}

const tree: Command = {
  path: ['snapshot', 'tree'],
  summary: 'List the files in a Snapshot',
  details: explained,
  args: [snapshotArgument, { name: 'FOLDER', isOptional: true }],
  async run(context, input) {
    const client = await context.client()
    const id = await findSnapshot(client, input.arg('SNAPSHOT'))
    const whole = await context.out.wait('Listing', client.call('readSnapshotTree', { params: { id } }))
    const folder = absoluteInDock(input.optional('FOLDER') ?? '/').replace(/\/$/, '')
    const files = whole.files.filter(({ path }) => `${path}/`.startsWith(`${folder}/`))
    context.out.result({ ...whole, files }, () =>
      context.out.table(
        ['PATH', 'SIZE'],
        files.map(({ path, size }) => [path, formatBytes(size)]),
        { empty: 'There is no file.' },
      ),
    )
  },
}

const openFile = async (client: Client, snapshot: string, path: string) => {
  const id = await findSnapshot(client, snapshot)
  const response = await client.open('readSnapshotFile', { params: { id }, query: { path } })
  return { id, body: response.body! }
}

const pathArgument: Argument = { name: 'PATH' }

const cat: Command = {
  path: ['snapshot', 'cat'],
  summary: 'Print a file of a Snapshot',
  details: explained,
  args: [snapshotArgument, pathArgument],
  async run(context, input) {
    const path = absoluteInDock(input.arg('PATH'))
    const { id, body } = await openFile(await context.client(), input.arg('SNAPSHOT'), path)
    if (!context.out.isJson) return pipeline(body, process.stdout, { end: false })
    const { sinks, texts } = collectOutput()
    for await (const chunk of body) sinks.stdout.write(chunk)
    const { stdout: text, truncated } = texts()
    context.out.result({ snapshotId: id, path, text, truncated }, () => undefined)
  },
}

const get: Command = {
  path: ['snapshot', 'get'],
  summary: 'Save a file of a Snapshot here',
  details: explained,
  args: [snapshotArgument, pathArgument, { name: 'FILE', kind: 'file', isOptional: true }],
  async run(context, input) {
    const path = absoluteInDock(input.arg('PATH'))
    const target = input.optional('FILE') ?? basename(path)
    await askToReplace(context, target)
    const { id, body } = await openFile(await context.client(), input.arg('SNAPSHOT'), path)
    await context.out.wait(`Saving ${target}`, saveStream(body, target))
    context.out.result({ snapshotId: id, path, file: target }, () => context.out.note(`Saved ${target}.`))
  },
}

const remove: Command = {
  path: ['snapshot', 'rm'],
  summary: 'Delete a Snapshot',
  args: [{ name: 'SNAPSHOT' }],
  async run(context, input) {
    const client = await context.client()
    const id = await findSnapshot(client, input.arg('SNAPSHOT'))
    await context.confirm(`Delete the Snapshot ${id}?`)
    const headers = { 'x-confirm-delete': id }
    const { operation } = await client.call('deleteSnapshot', { params: { id }, headers })
    context.out.result({ id, operation }, () => context.out.note(`Deleted ${id}.`))
  },
}

export const snapshotCommands: readonly Command[] = [list, tree, cat, get, remove]

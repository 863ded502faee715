import { watch } from 'node:fs'
import { lstat, mkdir, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Dock } from '@dock/sdk'
import { openDock } from '../docks/find-dock.ts'
import { parsePlace } from '../docks/place.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { exitCodes } from '../program/exit-codes.ts'
import { LocalError, UsageError } from '../program/failures.ts'
import { explainStopped } from '../remote/explain-stopped.ts'
import { changedPaths, listLocal, listRemote, setRemoteTimes } from '../remote/folder-list.ts'

type Job = {
  context: Context
  dock: Dock
  local: string
  remote: string
  excluded: readonly string[]
  isDeleting: boolean
}
/** `skipped` has the files whose names are not UTF-8. */
type Done = { copied: string[]; deleted: string[]; skipped: string[] }

const atOnce = 4

/** Does the work for each item, some at a time. */
const forEach = async <T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> => {
  const left = [...items]
  const take = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, take))
}

const ignore = (): void => undefined

const upload = async (job: Job): Promise<Done> => {
  const { context, dock, local, remote, excluded, isDeleting } = job
  const skipped: string[] = []
  const [here, there] = await Promise.all([
    listLocal(local, { excluded, onUnnamed: (name) => skipped.push(name) }),
    listRemote(dock, remote, { excluded, onUnnamed: ignore }, true),
  ])
  const copied = changedPaths(here, there)
  const folders = [...new Set(copied.map((path) => dirname(join(remote, path))))]
  await dock.files.mkdir(remote)
  await forEach(folders, (folder) => dock.files.mkdir(folder))
  await forEach(copied, (path) => dock.files.upload(join(local, path), join(remote, path)))
  const times = copied.map((path) => [join(remote, path), here.get(path)!.modified] as const)
  if (!(await setRemoteTimes(dock, times)))
    context.out.warn('The times of the files in the Dock could not be set: a quick edit may not be noticed.')
  const deleted = isDeleting ? [...there.keys()].filter((path) => !here.has(path)) : []
  await forEach(deleted, (path) => dock.files.delete(join(remote, path)))
  return { copied, deleted, skipped }
}

/** Makes the folders above a path. Throws if one of them is a link: an earlier copy may have left it. */
const enterFolders = async (local: string, path: string): Promise<void> => {
  let at = local
  for (const part of path.split('/').slice(0, -1)) {
    at = join(at, part)
    const stats = await lstat(at).catch(() => null)
    if (stats && !stats.isDirectory())
      throw new LocalError(
        'local_file',
        `${at} is not a folder here. Remove it first: nothing is written through links.`,
      )
    if (!stats) await mkdir(at)
  }
}

const download = async (job: Job): Promise<Done> => {
  const { dock, local, remote, excluded, isDeleting } = job
  const skipped: string[] = []
  const listing = { excluded, onUnnamed: (name: string) => skipped.push(name) }
  const there = await listRemote(dock, remote, listing, false)
  await mkdir(local, { recursive: true })
  const here = await listLocal(local, { excluded, onUnnamed: ignore })
  const copied = changedPaths(there, here)
  for (const path of copied) await enterFolders(local, path)
  await forEach(copied, async (path) => {
    const place = join(local, path)
    const stats = await lstat(place).catch(() => null)
    // A link is replaced, not followed. A link to a folder would get the file into that folder.
    if (stats?.isSymbolicLink()) await rm(place)
    else if (stats?.isDirectory())
      throw new LocalError('local_file', `${place} is a folder here and a file in the Dock.`)
    await dock.files.download(join(remote, path), place)
    // In the middle of the millisecond, because the seconds of a number are not exact.
    const seconds = (there.get(path)!.modified + 0.5) / 1000
    await utimes(place, seconds, seconds)
  })
  const deleted = isDeleting ? [...here.keys()].filter((path) => !there.has(path)) : []
  for (const path of deleted) {
    await enterFolders(local, path)
    await rm(join(local, path))
  }
  return { copied, deleted, skipped }
}

const warnOfSkipped = ({ out }: Context, { skipped }: Done): void => {
  for (const name of skipped.slice(0, 20))
    out.warn(`${name} was left out: its name is not UTF-8. dock cp copies such files.`)
  if (skipped.length > 20) out.warn(`${skipped.length - 20} more such files were left out.`)
}

const report = ({ out }: Context, { copied, deleted }: Done): void => {
  for (const path of copied.slice(0, 20)) out.note(`copied ${path}`)
  for (const path of deleted.slice(0, 20)) out.note(`deleted ${path}`)
  out.note(`${copied.length} copied, ${deleted.length} deleted.`)
}

const settleMs = 200

/** Repeats the work after each change of the folder, until Ctrl-C. */
const repeatOnChange = async (folder: string, work: () => Promise<void>): Promise<never> => {
  let changed = Promise.withResolvers<void>()
  watch(folder, { recursive: true }, () => changed.resolve())
  for (;;) {
    await changed.promise
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    changed = Promise.withResolvers()
    await work()
  }
}

/** Copies what has changed. */
export const sync: Command = {
  path: ['sync'],
  summary: 'Copy the files of a folder that have changed, to or from a Dock',
  details:
    'A file is copied if the target lacks it, has another size of it, or an older one, and gets its time. The content of FROM goes into TO.\nLinks are left out; dock cp copies them.',
  args: [
    { name: 'FROM', kind: 'place' },
    { name: 'TO', kind: 'place' },
  ],
  flags: [
    { name: 'delete', about: 'delete files of TO that FROM does not have' },
    {
      name: 'exclude',
      value: 'NAME',
      isMany: true,
      about: 'leave out files and folders with this name, for example node_modules',
    },
    { name: 'watch', about: 'go on copying changes to the Dock, until Ctrl-C' },
  ],
  examples: ['dock sync . web:project --exclude node_modules --watch', 'dock sync web:project/out ./out'],
  async run(context, input) {
    const [from, to] = [parsePlace(input.arg('FROM')), parsePlace(input.arg('TO'))]
    if (from.kind === to.kind)
      throw new UsageError('One side must be a folder in a Dock, the other one here.')
    const place = from.kind === 'remote' ? from : to.kind === 'remote' ? to : undefined
    if (!place) throw new UsageError('One side must be a folder in a Dock.')
    const isUpload = to.kind === 'remote'
    const local = input.arg(isUpload ? 'FROM' : 'TO')
    if (isUpload && !(await stat(local).catch(() => null))?.isDirectory())
      throw new UsageError(`${local} is no folder.`)
    if (input.has('watch') && !isUpload) throw new UsageError('--watch copies to a Dock only.')
    const isDeleting = input.has('delete')
    if (isDeleting)
      await context.confirm(`Delete files of ${input.arg('TO')} that ${input.arg('FROM')} does not have?`)
    const dock = await openDock(context, place.dock)
    const remote = place.path.startsWith('/') ? place.path : join('/home/user/work', place.path)
    const job = {
      context,
      dock,
      local,
      remote,
      excluded: input.list('exclude'),
      isDeleting,
    }
    const once = async (): Promise<Done> => {
      const done = await explainStopped(dock, () =>
        context.out.wait('Comparing and copying', isUpload ? upload(job) : download(job)),
      )
      warnOfSkipped(context, done)
      return done
    }
    const done = await once()
    context.out.result(done, () => report(context, done))
    if (input.has('watch')) await repeatOnChange(local, async () => report(context, await once()))
    return done.skipped.length > 0 ? exitCodes.error : exitCodes.ok
  },
}

import { lstat, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Dock, type DockFiles, hasCode } from '@dock/sdk'
import { findDock } from '../docks/find-dock.ts'
import { parsePlace, type RemotePlace } from '../docks/place.ts'
import { formatBytes } from '../output/formats.ts'
import type { Transfer } from '../output/output.ts'
import { writeTo } from '../output/write-to.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { LocalError, UsageError } from '../program/failures.ts'
import { countingFetch } from '../remote/counting-fetch.ts'
import { explainStopped } from '../remote/explain-stopped.ts'
import { localEntries } from '../remote/local-entries.ts'
import { readAhead } from '../remote/read-ahead.ts'
import { shellLine } from '../remote/shell-line.ts'

/** Returns the bytes that a tar of the folder has, and the pipes, sockets and devices that it leaves out. */
const surveyFolder = async (path: string): Promise<{ bytes: number; leftOut: string[] }> => {
  let bytes = 1024
  const leftOut: string[] = []
  for await (const { place, entry } of localEntries(Buffer.from(path))) {
    if (entry.isFile()) bytes += Math.ceil((await lstat(place)).size / 512) * 512
    else if (!entry.isDirectory() && !entry.isSymbolicLink()) leftOut.push(place.toString())
    bytes += 512
  }
  return { bytes, leftOut }
}

/** `a/`, `a/.`, `.` and `..` mean what is in the folder, not the folder. */
const isContent = (path: string): boolean => /(^|\/)\.{0,2}$/.test(path)

const remoteFolder = async (files: DockFiles, path: string): Promise<boolean> => {
  try {
    return (await files.stat(path.endsWith('/') ? `${path}.` : path)).type === 'folder'
  } catch (error) {
    if (hasCode(error, 'not_found')) return false
    throw error
  }
}

/** Returns what was left out. */
const upload = async (from: string, files: DockFiles, to: string, bar: Transfer): Promise<string[]> => {
  if (from === '-') {
    await files.write(to, readAhead(process.stdin))
    return []
  }
  const stats = await stat(from).catch((error: NodeJS.ErrnoException) => {
    throw new LocalError('local_file', `${from} cannot be read: ${error.code}.`)
  })
  if (!stats.isFile() && !stats.isDirectory())
    throw new LocalError(
      'not_a_regular_file',
      `${from} is a pipe, socket or device, and only files and folders are copied. Copy what it gives with: cat ${from} | dock cp - DOCK:PATH`,
    )
  const survey = stats.isDirectory()
    ? surveyFolder(from).catch(() => undefined)
    : Promise.resolve({ bytes: stats.size, leftOut: [] })
  void survey.then((found) => found && bar.setTotal(found.bytes))
  const goesInto =
    !(stats.isDirectory() && isContent(from)) && (to.endsWith('/') || (await remoteFolder(files, to)))
  await files.upload(from, goesInto ? `${to.replace(/\/+$/, '')}/${basename(from)}` : to)
  return (await survey)?.leftOut ?? []
}

const localTarget = async (from: string, to: string): Promise<string> => {
  const isFolder = (await stat(to).catch(() => null))?.isDirectory() ?? false
  if (!isFolder || isContent(from)) return to
  const place = join(to, basename(from))
  // A link may be left from an earlier copy, and lead elsewhere.
  if ((await lstat(place).catch(() => null))?.isSymbolicLink())
    throw new LocalError(
      'local_file',
      `${place} is a link. Remove it first: nothing is written through links.`,
    )
  return place
}

const setRemoteTotal = async (dock: Dock, path: string, bar: Transfer): Promise<void> => {
  const entry = await dock.files.stat(path)
  if (entry.type === 'file') return bar.setTotal(entry.size)
  if (entry.type !== 'folder') return
  const find = shellLine(['find', path, '-printf', '%y %s\\n'])
  const sum = `awk '{ n += 512; if ($1 == "f") n += int(($2 + 511) / 512) * 512 } END { printf "%d", n + 1024 }'`
  const { exitCode, stdout } = await dock.exec(`${find} | ${sum}`)
  if (exitCode === 0 && /^\d+$/.test(stdout)) bar.setTotal(Number(stdout))
}

/** A folder is read to its end although a part of it cannot be read, and then the response breaks off. */
const explainUnreadable = async (dock: Dock, path: string, error: unknown): Promise<never> => {
  if (!hasCode(error, 'connection_failed')) throw error
  const kinds = ['(', '-type', 'f', '-o', '-type', 'd', ')']
  const find = shellLine(['find', path.replace(/\/*$/, '/'), ...kinds, '!', '-readable', '-print', '-quit'])
  const name = (await dock.exec(find).catch(() => undefined))?.stdout.trim()
  if (!name) throw error
  throw new LocalError('folder_unreadable', `A part of the folder could not be read: ${name}`)
}

/** Returns what was left out. */
const download = async (
  context: Context,
  dock: Dock,
  from: string,
  to: string,
  bar: Transfer,
): Promise<string[]> => {
  if (to === '-') {
    for await (const bytes of dock.files.stream(from)) await writeTo(process.stdout, bytes)
    return []
  }
  if (process.stderr.isTTY && !context.out.isQuiet)
    void setRemoteTotal(dock, from, bar).catch(() => undefined)
  const target = await localTarget(from, to)
  const { skippedLinks } = await dock.files
    .download(from, target)
    .catch((error: unknown) => explainUnreadable(dock, from, error))
  return skippedLinks
}

const warnOfLeftOut = ({ out }: Context, leftOut: readonly string[], reason: string): void => {
  for (const name of leftOut.slice(0, 20)) out.warn(`${name} ${reason} and was left out.`)
  if (leftOut.length > 20) out.warn(`${leftOut.length - 20} more were left out.`)
}

const sides = (from: string, to: string): { remote: RemotePlace; local: string; isUpload: boolean } => {
  const [source, target] = [parsePlace(from), parsePlace(to)]
  if (source.kind === 'local' && target.kind === 'remote')
    return { remote: target, local: from, isUpload: true }
  if (source.kind === 'remote' && target.kind === 'local')
    return { remote: source, local: to, isUpload: false }
  throw new UsageError(
    source.kind === 'local'
      ? 'One side must be in a Dock: dock cp file web:folder/'
      : 'One side must be on this computer. Copy in two steps.',
  )
}

/** Copies files and folders. */
export const cp: Command = {
  path: ['cp'],
  summary: 'Copy files and folders to and from a Dock',
  details:
    'A place in a Dock is DOCK:PATH, relative to /home/user/work; with a .dock file also :PATH. A folder is copied with all\nthat it contains, into the target if that is a folder; FOLDER/ means what it contains. - is standard input or output.',
  args: [
    { name: 'FROM', kind: 'place' },
    { name: 'TO', kind: 'place' },
  ],
  examples: ['dock cp report.pdf web:', 'dock cp web:/var/log ./log', 'dock cp site/ web:site'],
  async run(context, input) {
    const { remote, local, isUpload } = sides(input.arg('FROM'), input.arg('TO'))
    const info = await findDock(context, remote.dock)
    let bytes = 0
    const bar = context.out.transfer(`${input.arg('FROM')} → ${input.arg('TO')}`)
    const add = (count: number): void => {
      bytes += count
      bar.add(count)
    }
    const ignore = (): void => undefined
    const client = await context.clientWith(
      isUpload ? countingFetch(add, ignore) : countingFetch(ignore, add),
    )
    const dock = new Dock(client, info)
    let leftOut: string[]
    try {
      leftOut = await explainStopped(dock, () =>
        isUpload
          ? upload(local, dock.files, remote.path, bar)
          : download(context, dock, remote.path, local, bar),
      )
    } finally {
      bar.end()
    }
    warnOfLeftOut(context, leftOut, isUpload ? 'is no file, folder or link' : 'leads out of the folder')
    const result = { dockId: dock.id, from: input.arg('FROM'), to: input.arg('TO'), bytes }
    if (local !== '-')
      context.out.result({ ...result, leftOut: leftOut.length }, () => {
        // The bar is gone by now. A script needs no remark.
        if (process.stderr.isTTY) context.out.note(`Copied ${formatBytes(bytes)}.`)
      })
  },
}

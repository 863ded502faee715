/** GET /v1/docks/:id/files/watch */
import { bytesOfName, type FileChange, limits, type RouteQuery, type routes } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { limitSlowReader } from '../snapshots/index.ts'
import { parseName } from './entry.ts'
import { brokenProgram } from './file-failure.ts'
import { beginFileSession, type FileSession } from './file-session.ts'
import type { FilesContext } from './files-context.ts'

const { watchedFoldersMax, watchSecondsMax, stallSeconds } = limits.files

/** Time in which the program ends by itself after its limit, before its end is forced. */
const graceMs = 30_000

const parseChange = (words: readonly string[]): FileChange => {
  const [type, second, third, fourth] = words
  const isFolder = second === '1'
  switch (type) {
    case 'watching': {
      const folders = Number(second)
      if (!Number.isSafeInteger(folders) || folders < 0) break
      return { type, folders }
    }
    case 'created':
    case 'modified':
    case 'attributes':
    case 'deleted':
      return { type, path: parseName(third), isFolder }
    case 'moved':
      return { type, path: parseName(third), to: parseName(fourth), isFolder }
    case 'overflow':
    case 'alive':
      return { type }
    case 'ended':
      return { type, reason: second === 'gone' ? 'gone' : 'time' }
  }
  throw brokenProgram(`not a change: ${words.join(' ').slice(0, 200)}`)
}

const lineOf = (change: FileChange): Uint8Array => Buffer.from(`${JSON.stringify(change)}\n`)

const streamChanges = (session: FileSession, first: FileChange): ReadableStream<Uint8Array> => {
  const timer = setTimeout(session.leave, watchSecondsMax * 1000 + graceMs)
  const end = (): void => {
    clearTimeout(timer)
    session.end()
  }
  let next: FileChange | undefined = first
  let isOver = false
  const source = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (isOver) return controller.close()
        const change = next ?? parseChange(await session.readAnswer())
        next = undefined
        isOver = change.type === 'ended'
        controller.enqueue(lineOf(change))
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  // Lines are short, so only a reader that stops is ended.
  return limitSlowReader(source, end, {
    bytesOf: (bytes) => bytes.length,
    stallMs: stallSeconds * 1000,
    bytesPerSecond: 1,
  })
}

/** Streams the changes in a folder, or of a file, from the first line on. Ends after an hour. */
export async function watchFiles(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { path, recursive }: RouteQuery<(typeof routes)['watchDockFiles']>,
): Promise<{ body: ReadableStream<Uint8Array>; contentType: string }> {
  const args = [bytesOfName(path), recursive, watchedFoldersMax, watchSecondsMax]
  const session = await beginFileSession(context, caller, dockId, 'watch', args)
  try {
    const first = parseChange(await session.readAnswer())
    return { body: streamChanges(session, first), contentType: 'application/x-ndjson' }
  } catch (error) {
    session.end()
    throw error
  }
}

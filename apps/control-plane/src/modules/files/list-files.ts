/** GET /v1/docks/:id/files/list */
import { bytesOfName, type FileEntry, type FileList, type RouteQuery, type routes } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { parseEntry } from './entry.ts'
import { brokenProgram } from './file-failure.ts'
import { withFileSession } from './file-session.ts'
import type { FilesContext } from './files-context.ts'

/** Describes the path and the next page of what it contains. The cursor is the last name of a page in hexadecimal. */
export function listFiles(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { path, limit, cursor = '' }: RouteQuery<(typeof routes)['listDockFiles']>,
): Promise<FileList> {
  const args = [bytesOfName(path), limit, Buffer.from(cursor, 'hex')]
  return withFileSession(context, caller, dockId, ['list', args], async (session) => {
    const entry = parseEntry(await session.readAnswer())
    const entries: FileEntry[] = []
    for (;;) {
      const words = await session.readAnswer()
      if (words[0] === 'end') {
        const [, hasMore, last] = words
        return { entry, entries, nextCursor: hasMore === '1' && isCursor(last) ? last : null }
      }
      if (entries.length === limit) throw brokenProgram('more entries than asked for')
      entries.push(parseEntry(words))
    }
  })
}

const isCursor = (word: string | undefined): word is string => /^([0-9a-f]{2}){1,1024}$/.test(word ?? '')

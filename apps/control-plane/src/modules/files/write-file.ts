/** PUT /v1/docks/:id/files */
import { bytesOfName, type FileEntry, type RouteQuery, type routes, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { parseEntry } from './entry.ts'
import { type FileSession, withFileSession } from './file-session.ts'
import type { FilesContext } from './files-context.ts'
import { ProgramGone, sendUpload } from './send-upload.ts'
import type { UploadPace } from './upload-budget.ts'

export type Upload = {
  body: ReadableStream<Uint8Array>
  contentType: string | undefined
  /** How slow the client may be; the limits of the contract when omitted. */
  pace?: UploadPace
}

const isTar = (contentType: string | undefined): boolean =>
  /^application\/x-tar\s*(;|$)/i.test(contentType?.trim() ?? '')

/** Sends the upload unless the program refuses it first, and returns the program's answer. */
const transfer = async (session: FileSession, { body, pace }: Upload): Promise<string[]> => {
  const answer = session.awaitAnswer()
  // Handled below; until then nobody waits for it.
  answer.catch(() => undefined)
  const sent = sendUpload(body, session.stdin, pace).catch((error: unknown) => {
    if (!(error instanceof ProgramGone)) throw error
  })
  await Promise.race([sent, answer])
  return session.within(answer)
}

/** Writes a file beside its place and renames it, or unpacks a tar into a folder. */
export function writeFile(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { path, mode }: RouteQuery<(typeof routes)['writeDockFile']>,
  upload: Upload,
): Promise<FileEntry> {
  const unpacks = isTar(upload.contentType)
  if (unpacks && mode !== undefined)
    throw new ServiceError('validation_error', { message: 'mode: a tar has modes of its own' })
  const name = bytesOfName(path)
  return withFileSession(
    context,
    caller,
    dockId,
    unpacks ? ['unpack', [name, newUuid()]] : ['write', [name, mode ?? '', newUuid()]],
    async (session) => parseEntry(await transfer(session, upload)),
  )
}

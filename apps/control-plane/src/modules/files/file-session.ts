/** One request about files: the caller's access, the limits, and the program that serves it. */
import type { Visitor } from '../accounts/index.ts'
import { requireExecAccess } from '../docks/index.ts'
import { type FileProgram, startFileProgram } from './file-program.ts'
import type { FilesContext } from './files-context.ts'
import type { argvOf, ProgramName } from './programs.ts'

export type FileSession = FileProgram & {
  /** Ends the program and the session's counts. Idempotent. Every session must be ended. */
  end(): void
}

/** Checks access and limits, and starts the program. It ends as well when the caller loses access to the Dock. */
export async function beginFileSession(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  name: ProgramName,
  args: Parameters<typeof argvOf>[1],
): Promise<FileSession> {
  const { rateLimits, accessSignals, open } = context
  const [dock] = await Promise.all([
    requireExecAccess(context.docks, caller, dockId),
    rateLimits.take('filesPerCaller', caller.userId),
  ])
  // Counted after the access check, so that strangers cannot use up the Dock's limits.
  await rateLimits.take('filesPerDock', dockId)
  const uncount = open.add(name === 'watch' ? 'watch' : 'request', dockId, caller.userId)
  try {
    const program = await startFileProgram(context, dock, name, args)
    const { userId, credentialId } = caller
    const hold = { userId, credentialId, organizationId: dock.organizationId, dockId }
    const release = accessSignals.subscribe(hold, program.leave)
    const end = (): void => {
      program.leave()
      release()
      uncount()
    }
    return { ...program, end }
  } catch (error) {
    uncount()
    throw error
  }
}

/** Runs `work` in a session that ends with it. */
export async function withFileSession<T>(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  [name, args]: [ProgramName, Parameters<typeof argvOf>[1]],
  work: (session: FileSession) => Promise<T>,
): Promise<T> {
  const session = await beginFileSession(context, caller, dockId, name, args)
  try {
    return await work(session)
  } finally {
    session.end()
  }
}

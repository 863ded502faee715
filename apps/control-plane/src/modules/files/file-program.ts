/** A program that handles files in a Dock: started, asked, and ended when its request ends. */
import { limits, ServiceError } from '@dock/contract'
import { type DockRow, openDockProcess } from '../docks/index.ts'
import type { RemoteProcess } from '../hosts/index.ts'
import { brokenProgram, fileFailure } from './file-failure.ts'
import type { FilesContext } from './files-context.ts'
import { keepDiagnostics, type ProcessOutput, readOutput } from './process-output.ts'
import { argvOf, type ProgramName } from './programs.ts'

export type FileProgram = {
  stdin: RemoteProcess['stdin']
  /** Returns the words of the next line. Throws the error that the program reports, or that of a broken program. */
  readAnswer(): Promise<string[]>
  /** The same without a limit of time, for a program that reads an upload first. */
  awaitAnswer(): Promise<string[]>
  /** Waits for the work of the program, and ends the program if it takes too long. */
  within<T>(work: Promise<T>): Promise<T>
  readBytes: ProcessOutput['readBytes']
  /** Resolves when the program has ended. Throws unless it succeeded. */
  requireSuccess(): Promise<void>
  /** Ends the program. It removes what it has not finished. Idempotent. */
  leave(): void
}

const answerMs = limits.files.secondsMax * 1000

const open = async (context: FilesContext, dock: DockRow, argv: string[]): Promise<RemoteProcess> => {
  try {
    return await openDockProcess(context.docks, dock, { argv, cwd: '/' })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // The host could not start the interpreter. The caller's request was valid.
    if (error.code === 'validation_error') throw brokenProgram(error.message)
    if (error.code === 'exec_failed') throw new ServiceError('service_unavailable', { cause: error })
    throw error
  }
}

/** Starts the program in the Dock. The caller must have checked the access, and must call `leave` at the end. */
export async function startFileProgram(
  context: FilesContext,
  dock: DockRow,
  name: ProgramName,
  args: Parameters<typeof argvOf>[1],
): Promise<FileProgram> {
  const process = await open(context, dock, argvOf(name, args))
  const output = readOutput(process.stdout)
  const diagnostics = keepDiagnostics(process.stderr)
  // Its end is read from its answer. A write to a program that has ended fails here too.
  process.exited.catch(() => undefined)
  process.stdin.on('error', () => undefined)
  const leave = (): void => {
    process.stdout.destroy()
    process.stderr.destroy()
    process.hangUp()
  }
  const within: FileProgram['within'] = async (work) => {
    const timer = setTimeout(leave, answerMs)
    return work.finally(() => clearTimeout(timer))
  }
  const awaitAnswer = async (): Promise<string[]> => {
    const line = await output.readLine().catch((cause: unknown) => {
      throw new ServiceError('service_unavailable', { cause })
    })
    if (line === null) throw brokenProgram(diagnostics())
    const words = line.split(' ')
    if (words[0] !== 'error') return words
    // What the programs wrote to stderr is complete only after their end.
    process.stdout.destroy()
    await process.exited.catch(() => undefined)
    throw fileFailure(words, diagnostics())
  }
  return {
    stdin: process.stdin,
    readAnswer: () => within(awaitAnswer()),
    awaitAnswer,
    within,
    readBytes: output.readBytes,
    requireSuccess: async () => {
      const { exitCode } = await process.exited
      // 1: tar read a file while it changed.
      if (exitCode !== 0 && exitCode !== 1) throw brokenProgram(diagnostics())
    },
    leave,
  }
}

/** Starts a tenant's program with streams in a guest. */
import { type OpenProcess, type ProcessEnd, type ProcessRequest, processEndOf } from '@dock/runtime'
import type { GuestEnd, GuestProgram } from '../link/index.ts'
import type { PumpClient } from '../pump/pump-client.ts'
import { carryByPump } from './carried-program.ts'
import { referenceTo } from './guest-mark.ts'
import { asRefusal, type GuestSession } from './guest-session.ts'

const processEnd = ({ exitCode, signal, killedForMemory }: GuestEnd): ProcessEnd => ({
  ...(signal === null ? { exitCode, signal: null } : processEndOf(128 + signal)),
  ...(killedForMemory.length > 0 ? { killedForMemory } : {}),
})

const closed = (stream: GuestProgram['stdout']): Promise<void> =>
  new Promise((resolve) => stream.once('close', resolve))

/** Returns the program's end. Forgets the program when it has ended and its outputs were read. */
const carryHere = (
  session: GuestSession,
  program: GuestProgram,
  isTerminal: boolean,
): Promise<ProcessEnd> => {
  const { id, stdin, stdout, stderr } = program
  session.owned.add(id)
  if (isTerminal) stderr.resume()
  const exited = session.follow(program.exited.then(processEnd)).finally(() => {
    // Nobody reads it any more.
    stdin.destroy()
  })
  void Promise.all([exited.catch(() => undefined), closed(stdout), closed(stderr)]).then(() => {
    session.owned.delete(id)
    return program.close()
  })
  return exited
}

/** Throws ExecRefused or SandboxGone. `underWay` has the channel while the program runs. */
export async function openProgram(
  session: GuestSession,
  pump: PumpClient,
  request: ProcessRequest,
  underWay: Set<number>,
): Promise<OpenProcess> {
  const { argv, executable, env, cwd, uid, gid, pty, descriptors } = request
  // The writers of a descriptor may outlive the program, as those of a pipe.
  const waitsForOutputs = request.waitsForOutputs || descriptors !== undefined
  const program = await session
    .open({ argv, executable, env, cwd, uid, gid, pty, waitsForOutputs })
    .catch((error: unknown) => {
      throw asRefusal(error)
    })
  const { id, stdin, stdout, stderr } = program
  underWay.add(id)
  const reference = { ...referenceTo(program), ...(descriptors ? { carried: true as const } : {}) }
  try {
    const exited = descriptors
      ? (await carryByPump(session, pump, program, descriptors)).ended.then(processEnd)
      : carryHere(session, program, pty !== undefined)
    const ended = exited.finally(() => underWay.delete(id))
    // The caller may ask for the end later.
    ended.catch(() => undefined)
    request.onStarted?.(reference)
    return {
      reference,
      ...(descriptors
        ? { stdin: null, stdout: null, stderr: null }
        : { stdin, stdout, stderr: pty ? null : stderr }),
      exited: ended,
      resize: (cols, rows) => {
        if (pty) void session.ask((link) => link.resize(id, cols, rows)).catch(() => undefined)
      },
    }
  } catch (error) {
    underWay.delete(id)
    throw error
  }
}

/** Starts a tenant's program with streams in a guest. */
import {
  type OpenProcess,
  type ProcessEnd,
  type ProcessRequest,
  processEndOf,
  SandboxGone,
} from '@dock/runtime'
import type { GuestEnd, GuestProgram } from '../link/index.ts'
import type { PumpClient } from '../pump/pump-client.ts'
import { referenceTo } from './guest-mark.ts'
import { asRefusal, type GuestSession } from './guest-session.ts'
import { killTree } from './run-command.ts'

const processEnd = ({ exitCode, signal, killedForMemory }: GuestEnd): ProcessEnd => ({
  ...(signal === null ? { exitCode, signal: null } : processEndOf(128 + signal)),
  ...(killedForMemory.length > 0 ? { killedForMemory } : {}),
})

const closed = (stream: GuestProgram['stdout']): Promise<void> =>
  new Promise((resolve) => stream.once('close', resolve))

type Descriptors = NonNullable<ProcessRequest['descriptors']>

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

/** Lets the pump carry the streams. Returns the program's end. */
const carryByPump = async (
  session: GuestSession,
  pump: PumpClient,
  program: GuestProgram,
  descriptors: Descriptors,
): Promise<{ exited: Promise<ProcessEnd> }> => {
  const { machine } = session
  try {
    const { ended } = await pump.take({
      ...{ machine: machine.id, socket: machine.socketOf(1), program: program.id, pid: process.pid },
      descriptors: [...descriptors],
    })
    void session.ask((link) => link.leave(program)).catch(() => undefined)
    const end = ended.then((found) => {
      if (!found) throw new SandboxGone(`machine ${machine.id} is gone`)
      return processEnd(found)
    })
    return { exited: session.follow(end) }
  } catch (error) {
    await killTree(
      session,
      program.id,
      program.exited.catch(() => undefined),
    ).catch(() => undefined)
    void program.close()
    throw error
  }
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
    .ask((link) => link.open({ argv, executable, env, cwd, uid, gid, pty, waitsForOutputs }))
    .catch((error: unknown) => {
      throw asRefusal(error)
    })
  const { id, stdin, stdout, stderr } = program
  underWay.add(id)
  const reference = referenceTo(program)
  try {
    const { exited } = descriptors
      ? await carryByPump(session, pump, program, descriptors)
      : { exited: carryHere(session, program, pty !== undefined) }
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

/** Programs of a guest whose streams the pump carries. */
import { type ProcessRequest, SandboxGone, StreamsLost } from '@dock/runtime'
import { type GuestProgram, GuestRefused } from '../link/index.ts'
import type { PumpClient } from '../pump/pump-client.ts'
import type { ProgramEnd } from '../pump/pump-protocol.ts'
import type { GuestSession } from './guest-session.ts'
import { killTree } from './run-command.ts'

/** Ends a program that nobody carries any more. What it wrote last is lost, so it must not go on. */
const endLost = async (session: GuestSession, id: number): Promise<never> => {
  try {
    const program = await session.ask((link) => link.attach(id))
    for (const output of [program.stdout, program.stderr]) output.resume()
    await killTree(
      session,
      id,
      program.exited.catch(() => undefined),
    )
    void program.close()
  } catch (error) {
    // It may have ended, and be forgotten.
    if (!(error instanceof GuestRefused)) throw error
  }
  throw new StreamsLost(`the pump of machine ${session.machine.id} has died`)
}

/** Returns the end that the pump tells. Throws {@link StreamsLost} if the pump dies first. */
const follow = async (
  session: GuestSession,
  id: number,
  told: Promise<ProgramEnd>,
): Promise<NonNullable<ProgramEnd>> => {
  const end = await session.follow(told.catch(() => endLost(session, id)))
  if (!end) throw new SandboxGone(`machine ${session.machine.id} is gone`)
  return end
}

/** Lets the pump carry the streams of a program. The promise of the program's end may throw {@link StreamsLost}. */
export async function carryByPump(
  session: GuestSession,
  pump: PumpClient,
  program: GuestProgram,
  descriptors: NonNullable<ProcessRequest['descriptors']>,
): Promise<{ ended: Promise<NonNullable<ProgramEnd>> }> {
  const { machine } = session
  const { id } = program
  try {
    const { ended } = await pump.take({
      ...{ machine: machine.id, socket: machine.socketOf(1), program: id, pid: process.pid },
      descriptors: [...descriptors],
    })
    const left = session.ask((link) => link.leave(program)).catch(() => undefined)
    // A program that is ended for its lost streams is found again.
    const told = ended.catch(async (error: unknown) => {
      await left
      throw error
    })
    return { ended: follow(session, id, told) }
  } catch (error) {
    await killTree(
      session,
      id,
      program.exited.catch(() => undefined),
    ).catch(() => undefined)
    void program.close()
    throw error
  }
}

/** Returns the end of a program that the pump carries for an earlier agent. Throws {@link StreamsLost} if it does not any more. */
export async function endOfCarried(
  session: GuestSession,
  pump: PumpClient,
  id: number,
): Promise<NonNullable<ProgramEnd>> {
  const known = await pump.endOf(session.machine.id, id)
  return await (known ? follow(session, id, known.ended) : session.follow(endLost(session, id)))
}

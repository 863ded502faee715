/**
 * The agent's session outlives the machine of a fast Run: it is copied after each turn, sealed and capped, and put into the
 * next machine. Without a copy, the agent starts a new session and finds its work on the branch.
 */
import { sql } from 'kysely'
import { phaseId } from '../machine/phase-id.ts'
import { followInDock, type InDock, runInDock, startInDock } from '../machine/run-in-dock.ts'
import { cloneFolder, packSessionScript, unpackSessionScript } from '../machine/scripts.ts'
import { findRun } from '../run-store.ts'
import { onMachine, readLiveRun, type TurnParts } from './turn-context.ts'
import type { TurnOperation } from './turn-data.ts'

/** Larger sessions are not kept. This is also what a host buffers of an output without a reader. */
const sessionBytesMax = 4 * 1024 * 1024 - 1
const readBytesMax = 256 * 1024
const timeoutMs = 60_000

const placeOf = (runId: string) => ({ table: 'runs', column: 'session_sealed', rowId: runId })
const ownerOf = (organizationId: string) => ({ kind: 'organization' as const, id: organizationId })

/** Copies the session. A failure is not the Run's. */
export async function saveSession(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, sealer, logger } = parts
  const { organizationId, targetId: runId } = operation
  const run = await findRun(db, organizationId, runId)
  if (run?.executionTarget !== 'fast') return
  try {
    const bytes = await readOutput(parts, operation, {
      processId: phaseId(operation.data.turnId, 'save session'),
      command: packSessionScript(sessionBytesMax),
      env: { RUN_FOLDER: cloneFolder(run.repo) },
      timeoutMs,
    })
    const sealed =
      bytes === null || bytes.length === 0
        ? null
        : await sealer.seal(ownerOf(organizationId), placeOf(runId), bytes.toString('base64'))
    await sql`update runs set session_sealed = ${sealed} where id = ${runId}
      and state = any(array['provisioning', 'working'])`.execute(db)
  } catch (error) {
    logger.warn({ runId, err: error }, 'could not keep the session of a Run')
  }
}

/** Returns the output of a command, or null if it failed or wrote too much. */
const readOutput = async (
  parts: TurnParts,
  operation: TurnOperation,
  request: InDock,
): Promise<Buffer | null> => {
  const { gateway } = parts
  await onMachine(parts, operation, (machine) => startInDock(gateway, machine, request))
  const pieces: Buffer[] = []
  let length = 0
  for (;;) {
    await readLiveRun(parts, operation)
    const { bytes, start, end } = await onMachine(parts, operation, ({ hostId, dockId }) =>
      followInDock(gateway, { hostId, dockId, processId: request.processId }, length, readBytesMax),
    )
    if (start !== length) return null
    pieces.push(bytes)
    length += bytes.length
    if (length > sessionBytesMax) return null
    if (end !== null) return end.exitCode === 0 ? Buffer.concat(pieces) : null
  }
}

/**
 * Puts the session into a machine that was made for this turn. Records if the agent has none to continue, which is certain
 * only here.
 */
export async function restoreSession(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, sealer, gateway, logger } = parts
  const { organizationId, targetId: runId, data } = operation
  if (!data.isFresh) return
  data.hasNoSession = true
  const { rows } = await sql<{ sealed: string | null }>`select session_sealed as sealed from runs
    where id = ${runId} and organization_id = ${organizationId}`.execute(db)
  const sealed = rows[0]?.sealed ?? null
  if (sealed === null) return
  const input = Buffer.from(await sealer.open(ownerOf(organizationId), placeOf(runId), sealed), 'base64')
  const request = {
    processId: phaseId(data.turnId, 'restore session'),
    command: unpackSessionScript,
    env: {},
    input,
    timeoutMs,
  }
  const { end, output } = await onMachine(parts, operation, (place) =>
    runInDock(gateway, place, request, async () => void (await readLiveRun(parts, operation))),
  )
  if (end.exitCode === 0) data.hasNoSession = false
  else logger.warn({ runId, output }, 'could not restore the session of a Run')
}

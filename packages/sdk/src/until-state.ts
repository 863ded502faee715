/** Waits for a Dock to change its state. */
import { DockError } from './dock-error.ts'
import type { Dock, DockState } from './generated/route-types.ts'
import { pause } from './pause.ts'
import type { Abortable } from './request-options.ts'
import { untilReached } from './until-reached.ts'

/**
 * Reads the Dock until it is in one of the states `wanted`. Throws `state_unexpected` if it leaves the states `through`
 * for another one. A host that is away for a moment (`unreachable`) is waited for.
 */
export async function untilState(
  dock: { refresh(options: Abortable): Promise<Dock> },
  wanted: readonly DockState[],
  through: readonly DockState[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let wait = 50; ; wait = Math.min(1000, wait * 1.3)) {
    const { state, setupError } = await untilReached(signal, () => dock.refresh({ signal }))
    if (wanted.includes(state)) return
    if (!through.includes(state) && state !== 'unreachable')
      throw new DockError(
        'state_unexpected',
        `The Dock is ${state} now. ${setupError ?? 'Read it and try again.'}`,
      )
    await pause(wait, signal)
  }
}

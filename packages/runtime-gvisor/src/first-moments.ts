/**
 * In the first moments of a command no thread of its sandbox takes the processor from another by waking: a sentry and the
 * processes that it serves wake each other thousands of times a command, and most of these switches are lost time. For
 * moments only, and while a processor is free: beside busy neighbours the sandbox would wait for them (decision 030).
 */
import { type Clock, systemClock } from '@dock/foundation'
import { isCalm } from './calm.ts'

export const momentMs = 100

export class FirstMoments {
  readonly #setPatient: (isPatient: boolean) => void
  readonly #isCalm: () => boolean
  readonly #clock: Clock
  #isPatient = false
  #cancel = (): void => undefined

  /** `setPatient` says how the sandbox's threads wait from now on; that it fails is of no account. */
  constructor(setPatient: (isPatient: boolean) => void, isMachineCalm = isCalm, clock = systemClock) {
    this.#setPatient = setPatient
    this.#isCalm = isMachineCalm
    this.#clock = clock
  }

  /** A command begins. */
  begin(): void {
    if (!this.#isCalm()) return
    if (!this.#isPatient) this.#set(true)
    this.endSoon()
  }

  /** The sandbox was booted so. */
  endSoon(): void {
    this.#isPatient = true
    this.#cancel()
    this.#cancel = this.#clock.after(momentMs, () => this.#set(false))
  }

  /** The sandbox is gone. */
  close(): void {
    this.#cancel()
  }

  #set(isPatient: boolean): void {
    this.#isPatient = isPatient
    try {
      this.#setPatient(isPatient)
    } catch {
      // It is dying, or this machine does not let us: the command only takes longer.
    }
  }
}

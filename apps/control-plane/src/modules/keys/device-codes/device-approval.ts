/** What the page `/device` does for a signed-in person: shows a sign-in of a machine, and records the decision. */
import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { requireRoomForApiKey } from '../api-keys/api-key-store.ts'
import type { KeysContext } from '../keys-context.ts'
import { lockKeyOwner } from '../lock-key-owner.ts'
import { type DeviceCodeRow, decide, findUndecided } from './device-code-store.ts'
import { hashCode, readUserCode } from './user-code.ts'

export type MachineSignIn = {
  userCode: string
  machineName: string
  /** From which the machine asked. */
  clientAddress: string
  createdAt: Date
}

export type DeviceApproval = {
  /** Returns the undecided sign-in with the code that the person typed, or undefined. Counts the attempt. */
  find(caller: Caller, typedCode: string): Promise<MachineSignIn | undefined>
  /** Records the decision of the person. Returns undefined if somebody decided before, or the sign-in has expired. */
  decide(
    caller: Caller,
    typedCode: string,
    decision: 'approved' | 'denied',
  ): Promise<MachineSignIn | undefined>
}

const viewOf = (userCode: string, row: DeviceCodeRow | undefined): MachineSignIn | undefined =>
  row && {
    userCode,
    machineName: row.machine_name,
    clientAddress: row.client_address,
    createdAt: row.created_at,
  }

export function createDeviceApproval(context: KeysContext): DeviceApproval {
  const { db, clock, rateLimits } = context
  const codeOf = async (caller: Caller, typedCode: string): Promise<string | undefined> => {
    // A Dock's key and an API key must not make further keys here. The page is for people.
    if (caller.kind !== 'session') throw new ServiceError('session_required')
    await rateLimits.take('deviceCodeEntriesPerUser', caller.userId)
    return readUserCode(typedCode)
  }
  return {
    find: async (caller, typedCode) => {
      const code = await codeOf(caller, typedCode)
      return code === undefined
        ? undefined
        : viewOf(code, await findUndecided(db, hashCode(code), clock.now()))
    },
    decide: async (caller, typedCode, decision) => {
      const code = await codeOf(caller, typedCode)
      if (code === undefined) return undefined
      const { userId } = caller
      const now = clock.now()
      if (decision === 'denied')
        return viewOf(code, await decide(db, hashCode(code), { userId, decision, now }))
      await rateLimits.take('apiKeyCreations', userId)
      return withTransaction(db, async (tx) => {
        await lockKeyOwner(tx, userId)
        await requireRoomForApiKey(tx, userId, now)
        return viewOf(code, await decide(tx, hashCode(code), { userId, decision, now }))
      })
    },
  }
}

import { type AssistantConnection, ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { deleteConnection, findConnection } from './assistant-store.ts'
import { assistantTarget, connectionView, notConnected } from './assistant-view.ts'

/** Returns the caller's connection to the hosted assistant. `connected` is false if there is none. */
export async function readAssistantConnection(
  { db, clock }: Pick<KeysContext, 'db' | 'clock'>,
  caller: Caller,
): Promise<AssistantConnection> {
  return connectionView(await findConnection(db, caller.userId), clock.now())
}

/** Deletes the caller's connection and its tokens. Throws `chatgpt_not_connected` if there is none. */
export function deleteAssistantConnection(
  { db, clock }: Pick<KeysContext, 'db' | 'clock'>,
  caller: Caller,
): Promise<AssistantConnection> {
  return withTransaction(db, async (tx) => {
    if (!(await deleteConnection(tx, caller.userId))) throw new ServiceError('chatgpt_not_connected')
    await recordAudit(tx, caller, {
      action: 'account.connection_removed',
      now: clock.now(),
      organizationId: 'own',
      target: assistantTarget,
    })
    return notConnected
  })
}

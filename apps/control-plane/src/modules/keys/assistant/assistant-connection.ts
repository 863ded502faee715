import { type AssistantConnection, ServiceError } from '@dock/contract'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { deleteConnection, findConnection } from './assistant-store.ts'
import { connectionView, notConnected } from './assistant-view.ts'

/** Returns the caller's connection to the hosted assistant. `connected` is false if there is none. */
export async function readAssistantConnection(
  { db, clock }: Pick<KeysContext, 'db' | 'clock'>,
  caller: Caller,
): Promise<AssistantConnection> {
  return connectionView(await findConnection(db, caller.userId), clock.now())
}

/** Deletes the caller's connection and its tokens. Throws `chatgpt_not_connected` if there is none. */
export async function deleteAssistantConnection(
  { db }: Pick<KeysContext, 'db'>,
  caller: Caller,
): Promise<AssistantConnection> {
  if (!(await deleteConnection(db, caller.userId))) throw new ServiceError('chatgpt_not_connected')
  return notConnected
}

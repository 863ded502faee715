/** Makes a session take requests after the end of the client's input. ssh2 refuses every later request, also a signal. */
import type { Session } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

export const endingField: PrivateFields = {
  usedBy: 'take-late-requests.ts',
  fields: { _ending: ['present', 'lib/server.js'] },
}

/** Call it when the session opens. */
export function takeLateRequests(session: Session): void {
  const state = privateFieldsOf<{ _ending: boolean }>(session, endingField)
  session.on('eof', () => {
    state._ending = false
  })
}

/**
 * Makes ssh2 forget what waited for the client's window. Otherwise it repeats the last chunk that waited when the other
 * output of the channel waits later.
 */
import type { ServerChannel } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

type Waiting = { _chunk: unknown; _chunkcb: unknown; _chunkErr: unknown; _chunkcbErr: unknown }

export const waitingChunkFields: PrivateFields = {
  usedBy: 'forget-waiting-chunks.ts',
  fields: {
    _chunk: ['present', 'lib/Channel.js'],
    _chunkcb: ['present', 'lib/Channel.js'],
    _chunkErr: ['present', 'lib/Channel.js'],
    _chunkcbErr: ['present', 'lib/Channel.js'],
  },
}

/** Returns a function to call after each write to the channel, while no other write is under way. */
export function createChunkForgetter(channel: ServerChannel): () => void {
  const waiting = privateFieldsOf<Waiting>(channel, waitingChunkFields)
  return () => {
    waiting._chunk = undefined
    waiting._chunkcb = undefined
    waiting._chunkErr = undefined
    waiting._chunkcbErr = undefined
  }
}

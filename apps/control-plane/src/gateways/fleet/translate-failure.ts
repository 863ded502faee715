/** Translates the errors of a call to an agent into the errors of the hosts module. */
import { AgentRefusal, LinkLost } from '@dock/host-protocol'
import { HostRefused, HostUnreachable } from '../../modules/hosts/index.ts'

export function toHostFailure(error: unknown): unknown {
  if (error instanceof LinkLost) return new HostUnreachable(error.message, { cause: error })
  if (error instanceof AgentRefusal) return new HostRefused(error.code, error.message)
  return error
}

export async function translateFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toHostFailure(error)
  }
}

/** Like {@link translateFailure}, for a stream. */
export async function* translateStreamFailure<T>(stream: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* stream
  } catch (error) {
    throw toHostFailure(error)
  }
}

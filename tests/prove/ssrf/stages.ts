/**
 * The moments at which Dock looks at a receiver's URL. Each works with production code, unmodified. Stages through the
 * product's routes belong in this list too.
 */
import {
  checkPublicUrl,
  type PostOutcome,
  postToPublicUrl,
  resolvePublic,
} from '@dock/control-plane/src/public-web/index.ts'

export type Outcome = {
  /** True if the URL was accepted, or the post was answered. */
  isLetThrough: boolean
  /** Code or status. */
  seen: string
}

export type Stage = {
  name: string
  /** Whether names still have the addresses that they had at creation. */
  when: 'atCreation' | 'later'
  attempt(url: string): Promise<Outcome>
}

const deadlineMs = 10_000

const create = async (url: string): Promise<Outcome> => {
  const checked = checkPublicUrl(url)
  if ('problem' in checked) return { isLetThrough: false, seen: 'validation_error' }
  const { error } = await resolvePublic(checked)
  return { isLetThrough: error === null, seen: error ?? 'accepted' }
}

export function post(url: string): Promise<PostOutcome> {
  return postToPublicUrl({ url, headers: { 'content-type': 'application/json' }, body: '{}', deadlineMs })
}

const deliver = async (url: string): Promise<Outcome> => {
  const { status, error } = await post(url)
  return { isLetThrough: error === null, seen: error ?? String(status) }
}

export const stages: readonly Stage[] = [
  { name: 'create', when: 'atCreation', attempt: create },
  { name: 'deliver', when: 'later', attempt: deliver },
  { name: 'retry', when: 'later', attempt: deliver },
]

/** Writes the reason of a stop as a sentence for people. */
import type { DockStop, DockStopReason } from '@dock/contract'
import type { RecordedStop } from './stop-reason.ts'

const withKey = ({ kind, keyName }: DockStop['by']): string => {
  if (kind !== 'api_key') return ''
  return keyName === null ? ', with an API key' : `, with the API key "${keyName}"`
}

const because = (error: string | undefined): string => (error === undefined ? '.' : `: ${error}`)

const sentences: Readonly<Record<DockStopReason, (by: DockStop['by'], error: string | undefined) => string>> =
  {
    requested: (by) => `${by.name} stopped it${withKey(by)}.`,
    forced: (by) =>
      `${by.name} stopped it by force${withKey(by)}. Changes since its latest Snapshot were not saved.`,
    ttl: () => 'Its auto-stop time ran out.',
    account_closed: ({ name }) =>
      `The account of ${name === 'A former member' ? 'a former member' : name} was closed.`,
    run_ended: () => 'The GitHub Run that used it is over.',
    adopted: ({ name }) => `${name} adopted its disk from quarantine. It has not been resumed since.`,
    resume_failed: (by, error) =>
      `${by.name} resumed it${withKey(by)}, but it could not be booted${because(error)}`,
    start_failed: (_, error) => `It could not be started${because(error)}`,
    out_of_memory: () =>
      'It ran out of memory and ended more than three times within ten minutes. Its disk is kept. Stop it, and resume it with more memory.',
    ended_too_often: () =>
      'It ended unexpectedly more than three times within ten minutes. Its disk is kept.',
    recovery_failed: (_, error) => `It ended and could not be booted again${because(error)}`,
    disk_lost: () => 'It ended, and its host no longer has its disk. Its Snapshots are kept.',
    capture_failed: (by, error) =>
      `${by.kind === 'system' ? 'A stop' : `${by.name} stopped it, but the stop`} could not save its disk${because(error)}`,
    host_silent: () => 'Its host does not respond. It goes on when the host is back.',
  }

export function stopSentence(reason: DockStopReason, by: DockStop['by'], { cause }: RecordedStop): string {
  const wiped = cause.disk === 'wiped' ? ' Its data was deleted: the organization keeps none.' : ''
  return sentences[reason](by, cause.error) + wiped
}

import type { DeliveryAttempt, DeliveryDetails } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { deliveryQuery } from '../../api/operator-queries.ts'
import { Button } from '../../components/button.tsx'
import { CopyBlock } from '../../components/copy-block.tsx'
import { Dialog, DialogActions } from '../../components/dialog.tsx'
import { Facts } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { formatExact } from '../../lib/format.ts'
import { visibleLines, visibleName } from '../../lib/visible-text.ts'
import { StatusBadge } from './status-badge.tsx'

type Props = {
  organizationId: string
  /** Sends the event again. Undefined for members, and while the endpoint is disabled. */
  onRedeliver: (() => void) | undefined
  busy: boolean
  onClose: () => void
}

/** What an attempt sent to the receiver and what came back. */
export function DeliveryDialog({ attempt, ...props }: Props & { attempt: DeliveryAttempt | undefined }) {
  return (
    <Dialog
      title={attempt?.event ?? ''}
      description={attempt && `Attempt of ${formatExact(attempt.createdAt)}`}
      open={attempt !== undefined}
      onClose={props.onClose}
      width="wide"
    >
      {attempt && <Details {...props} attempt={attempt} />}
    </Dialog>
  )
}

function Details({ organizationId, attempt, ...props }: Props & { attempt: DeliveryAttempt }) {
  const { data, error } = useQuery(deliveryQuery(organizationId, attempt.endpointId, attempt.id))
  // A dialog gives the focus to its first control. Buttons that are moved out of view by what is loaded must not get it.
  if (!data && !error) return <Pending error={null} />
  return (
    <>
      {data ? (
        <>
          <Answer details={data} />
          <Request request={data.request} />
        </>
      ) : (
        <Pending error={error} />
      )}
      <DialogActions>
        <Button onClick={props.onClose}>Close</Button>
        {props.onRedeliver && (
          <Button look="primary" busy={props.busy} onClick={props.onRedeliver}>
            Redeliver
          </Button>
        )}
      </DialogActions>
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid grid-cols-[minmax(0,1fr)] gap-3 border-t border-line pt-4">
      <h3 className="m-0 text-sm font-semibold">{title}</h3>
      {children}
    </section>
  )
}

const note = 'm-0 text-xs text-muted'
const code = 'break-all font-mono text-xs'

/** The body comes from the receiver, so nothing in it may be invisible or turn the direction. */
function Answer({ details }: { details: DeliveryDetails }) {
  const { status, body, milliseconds } = details.answer
  return (
    <Part title="Answer">
      <p className="m-0 flex flex-wrap items-center gap-2 text-sm">
        <StatusBadge status={status} />
        <span className="text-muted">after {milliseconds.toLocaleString()} ms</span>
      </p>
      {status === null && <p className="m-0 text-sm">{details.attempt.error}</p>}
      {status !== null && body === null && <p className={note}>Its body was not kept.</p>}
      {body === '' && <p className={note}>It has no body.</p>}
      {body && (
        <>
          <CopyBlock label="Body of the answer" text={visibleLines(body)} />
          <p className={note}>At most the first 1 KiB is kept.</p>
        </>
      )}
    </Part>
  )
}

function Request({ request }: { request: DeliveryDetails['request'] }) {
  const { url, headers, body } = request
  const shown = [{ name: 'POST', value: url }, ...headers]
  return (
    <Part title="Request">
      <Facts
        facts={shown.map(({ name, value }) => [
          name,
          <code key={name} className={code}>
            {visibleName(value)}
          </code>,
        ])}
      />
      <p className={note}>The header dock-signature is not kept.</p>
      {body === null ? (
        <p className={note}>Dock could not write its body.</p>
      ) : (
        <CopyBlock label="Body of the request" text={JSON.stringify(JSON.parse(body), null, 2)} />
      )}
    </Part>
  )
}

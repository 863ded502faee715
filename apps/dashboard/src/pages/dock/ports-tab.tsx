import type { DockInfo, PortEntry } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { portsQuery } from '../../api/dock-queries.ts'
import { configQuery } from '../../api/queries.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { bareControlClass } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { copyText } from '../../lib/copy-text.ts'
import { useFormAction } from '../../lib/use-form-action.ts'

/** Ports of the Dock that the web reaches. */
export function PortsTab({ dock }: { dock: DockInfo }) {
  const { id } = dock
  const client = useQueryClient()
  const config = useQuery(configQuery)
  const ports = useQuery(portsQuery(id))
  const [port, setPort] = useState('')
  const { busy, error, run } = useFormAction()
  const change = (work: () => Promise<unknown>) =>
    run(async () => {
      await work()
      setPort('')
      await client.invalidateQueries({ queryKey: ['port', id] })
    })
  return (
    <Panel
      title="Exposed ports"
      text="Programs in the Dock that the web reaches. Everybody who has the address of an exposed port can open it."
    >
      {config.data?.ports === null && (
        <Notice tone="wait">
          <p className="m-0">
            The operator of this service has set up no domain for ports, so the web reaches none of them. Over
            SSH you reach each port, as the part Connect shows.
          </p>
        </Notice>
      )}
      <Form
        className="flex flex-wrap items-center gap-2"
        onSubmit={() =>
          change(() => api.call('exposePort', { params: { id }, body: { port: Number(port) } }))
        }
      >
        <input
          aria-label="Port to expose"
          placeholder="3000"
          type="number"
          min={1}
          max={65_535}
          required
          value={port}
          onChange={({ target }) => setPort(target.value)}
          className={`w-28 ${bareControlClass}`}
        />
        <Button type="submit" busy={busy}>
          Expose this port
        </Button>
      </Form>
      {error !== undefined && <ErrorAlert error={error} />}
      {!ports.data && <Pending error={ports.error} />}
      {ports.data?.length === 0 && (
        <p className="m-0 text-sm text-muted">
          None yet. Start a server in the Dock, and enter the port on which it listens.
        </p>
      )}
      {ports.data && ports.data.length > 0 && (
        <Rows label="Exposed ports">
          {ports.data.map((entry) => (
            <PortRow
              key={entry.port}
              entry={entry}
              busy={busy}
              onClose={() => change(() => api.call('unexposePort', { params: { id, port: entry.port } }))}
            />
          ))}
        </Rows>
      )}
    </Panel>
  )
}

function PortRow({ entry, busy, onClose }: { entry: PortEntry; busy: boolean; onClose: () => void }) {
  const { port, url } = entry
  return (
    <Row
      title={<span className="font-mono">{port}</span>}
      text={
        url ? (
          <a href={url} target="_blank" rel="noreferrer noopener" className="text-accent underline">
            {url}
          </a>
        ) : (
          'without an address'
        )
      }
    >
      {url && (
        <Button look="quiet" aria-label={`Copy the address of port ${port}`} onClick={() => copyText(url)}>
          Copy
        </Button>
      )}
      <Button busy={busy} aria-label={`Close port ${port}`} onClick={onClose}>
        Close
      </Button>
    </Row>
  )
}

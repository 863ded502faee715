/** Prometheus metrics of the process, the routes, durable copies and the quarantine. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { SshMetrics } from '../gateways/ssh/index.ts'
import type { CopyMetrics } from '../modules/storage/index.ts'

export type Metrics = {
  registry: Registry
  /** `route` is the contract's pattern, never the path, which may contain ids and tickets. */
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void
  copies: CopyMetrics
  ssh: SshMetrics
  /** Counts an error that nothing caught: of one stream, or another one, after which the process leaves. */
  uncaught(kind: 'stream' | 'other'): void
  /** Sets the number of quarantined items that wait for a decision. */
  quarantined(items: number): void
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'dock_http_request_duration_seconds',
    help: 'Time from a request to its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers: [registry],
  })
  const drills = new Counter({
    name: 'dock_copy_drills_total',
    help: 'Restore drills of durable copies, by result.',
    labelNames: ['result'],
    registers: [registry],
  })
  const behind = new Gauge({
    name: 'dock_copies_behind_seconds',
    help: 'Age of the oldest completed Snapshot without a verified copy.',
    registers: [registry],
  })
  const full = new Gauge({
    name: 'dock_copies_store_full',
    help: '1 while copying is paused because the object store is full.',
    registers: [registry],
  })
  const quarantine = new Gauge({
    name: 'dock_quarantine_things',
    help: 'Docks, captures and copies that the database does not know, kept until an admin adopts or deletes them.',
    registers: [registry],
  })
  const uncaught = new Counter({
    name: 'dock_uncaught_errors_total',
    help: 'Uncaught errors by kind. After one of the kind other, the control plane restarts.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const sshConnections = new Gauge({
    name: 'dock_ssh_connections',
    help: 'Open SSH connections, signed in or not.',
    registers: [registry],
  })
  const sshLogins = new Counter({
    name: 'dock_ssh_logins_total',
    help: 'Keys offered by SSH clients, by result. A client may offer several.',
    labelNames: ['result'],
    registers: [registry],
  })
  const sshSessions = new Counter({
    name: 'dock_ssh_sessions_total',
    help: 'Programs that SSH clients asked for, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  })
  return {
    registry,
    ssh: {
      connections: (count) => sshConnections.set(count),
      login: (result) => sshLogins.inc({ result }),
      session: (kind) => sshSessions.inc({ kind }),
    },
    uncaught: (kind) => uncaught.inc({ kind }),
    quarantined: (items) => quarantine.set(items),
    copies: {
      recordDrill: (result) => drills.inc({ result }),
      recordDelay: (seconds) => behind.set(seconds),
      recordStoreFull: (isFull) => full.set(isFull ? 1 : 0),
    },
    observeRequest: ({ method, route, status, seconds }) =>
      duration.observe({ method, route, status: String(status) }, seconds),
  }
}

/** Serves `GET /metrics` on the loopback address only. Rejects if the port is in use. */
export async function serveMetrics(
  registry: Registry,
  port: number,
): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Waits until the control plane answers and the embedded host is online. Addresses are those of `requestJson`. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Identity, readOwnFile, requestJson } from '@dock/foundation'

export type Admin = {
  baseUrl: string
  email: string
  password: string
  apiKey: string
  organizationId: string
  workspaceId: string
  image: string
}

const periodMs = 50

/** Asks again and again until the answer is there. `giveUp` says why waiting has no sense any more. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  timeoutMs: number,
  giveUp: () => string | undefined,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined) return answer
    const reason = giveUp() ?? (Date.now() > deadline ? `nothing after ${timeoutMs / 1000} s` : undefined)
    if (reason) throw new Error(`${what}: ${reason}`)
    await delay(periodMs)
  }
}

/** True once `GET /health` answers 200. */
export async function askHealth(address: string): Promise<true | undefined> {
  const signal = AbortSignal.timeout(2_000)
  const response = await requestJson(address, '/health', { method: 'GET', signal })
  return response.status === 200 ? true : undefined
}

/** The first person's account as the control plane wrote it; undefined once that person is erased. */
export async function readAdmin(path: string, identity: Identity): Promise<Admin | undefined> {
  const content = await readOwnFile(path, identity)
  return content === undefined ? undefined : (JSON.parse(content) as Admin)
}

/** The API refused a request. */
class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** One request with the first person's key; throws the public sentence of an error. */
export async function call<T>(
  address: string,
  admin: Admin,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await requestJson(address, path, {
    method,
    headers: { authorization: `Bearer ${admin.apiKey}` },
    ...(body ? { body } : {}),
    signal: AbortSignal.timeout(120_000),
  })
  const answer = response.body as { ok: boolean; code?: string; message?: string; data?: T } & T
  if (response.status < 200 || response.status > 299)
    throw new Refused(
      response.status,
      `${answer.code ?? response.status}: ${answer.message ?? `${method} ${path}`}`,
    )
  return answer.data ?? answer
}

/** The key was revoked, or its person is no instance admin any more, closed or erased. */
export function keyIsDead(error: unknown): boolean {
  return error instanceof Refused && [401, 403, 410].includes(error.status)
}

type HostAnswer = { state: string; lastHeartbeatAt: string | null }

/**
 * True once a host of this instance is online and has spoken since the time (what it said before a restart is old), and
 * where nobody is left to ask as.
 */
export async function askHostOnline(
  address: string,
  admin: Admin | undefined,
  since: number,
): Promise<true | undefined> {
  if (!admin) return true
  try {
    const hosts = await call<HostAnswer[]>(address, admin, 'GET', '/v1/hosts')
    const isThere = hosts.some(
      ({ state, lastHeartbeatAt }) => state === 'online' && Date.parse(lastHeartbeatAt ?? '') >= since,
    )
    return isThere ? true : undefined
  } catch (error) {
    if (keyIsDead(error)) return true
    throw error
  }
}

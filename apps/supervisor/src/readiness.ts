/** Waits until the control plane responds and the embedded host is online. For addresses see `requestJson`. */
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

/** Calls `ask` until it returns a value. Stops early if `giveUp` returns a reason. Throws on a timeout. */
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
    const reason = giveUp() ?? (Date.now() > deadline ? `timeout after ${timeoutMs / 1000} s` : undefined)
    if (reason) throw new Error(`${what}: ${reason}`)
    await delay(periodMs)
  }
}

/** Returns true if `GET /health` responds with 200. */
export async function askHealth(address: string): Promise<true | undefined> {
  const signal = AbortSignal.timeout(2_000)
  const response = await requestJson(address, '/health', { method: 'GET', signal })
  return response.status === 200 ? true : undefined
}

/** Returns the first admin's account, as the control plane wrote it, or undefined if that person is erased. */
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

/** Sends a request with the first admin's key. Throws an error with the API's code and sentence. */
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

/** True if the key was revoked, or if its owner is erased, closed or no longer an instance admin. */
export function keyIsDead(error: unknown): boolean {
  return error instanceof Refused && [401, 403, 410].includes(error.status)
}

type HostAnswer = { state: string; lastHeartbeatAt: string | null }

/**
 * Returns true if a host of this instance is online and has sent a heartbeat since the given time (epoch ms): earlier
 * heartbeats are from before the restart. Also returns true without an admin or a valid key, because nobody can ask then.
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

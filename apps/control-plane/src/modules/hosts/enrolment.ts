/** Enrolment of hosts. A machine exchanges a join token for a credential; a token is valid once, for one hour. */
import { createHash, randomBytes } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import { type Clock, isUuid, newUuid, toBase62 } from '@dock/foundation'
import type { RegisteredHost, RegisterHost } from '@dock/host-protocol'
import { type Db, withTransaction } from '../../database/database.ts'
import { type Actor, recordAudit } from '../audit/index.ts'
import {
  findHostByCredential,
  insertJoinToken,
  recordCredentialUse,
  saveCredential,
  saveHost,
  spendJoinToken,
} from './host-store.ts'

const joinTokenMs = 3_600_000

/** The agent of this machine itself registers over a local socket, without an address. */
const enrollerAt = (address: string): Actor => ({ kind: address === 'local' ? 'platform' : 'operator' })

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const newSecret = (prefix: string): string => `${prefix}_${toBase62(randomBytes(32))}`

export type Enrolment = {
  /** Creates a join token and stores its hash. A host that registers with a builder token may publish images. */
  issueJoinToken(options?: { isForBuilder?: boolean }): Promise<string>
  /**
   * Registers a host and uses up the token. Throws `unauthorized` if the token is unknown, used or expired. To register
   * again under an existing id, the machine must send that host's credential: otherwise a token would be enough to take
   * over another host and its Docks.
   */
  register(request: RegisterHost, address: string): Promise<RegisteredHost>
  /** Authenticates a host that connects from `address`. Returns its id, or null if the credential is not valid. */
  admit(credential: string, address: string): Promise<string | null>
  /** Returns true if the credential is still valid. */
  isGood(credential: string): Promise<boolean>
  /** Replaces a host's credential. Throws `host_not_found`. */
  resetCredential(hostId: string, by: Actor): Promise<RegisteredHost>
}

export function createEnrolment(options: { db: Db; clock: Clock }): Enrolment {
  const { db, clock } = options

  const issueJoinToken: Enrolment['issueJoinToken'] = async ({ isForBuilder = false } = {}) => {
    const token = newSecret('join')
    const now = clock.now()
    const expiresAt = new Date(now.getTime() + joinTokenMs)
    await insertJoinToken(db, { hash: hashOf(token), isForBuilder, expiresAt }, now)
    return token
  }

  return {
    issueJoinToken,
    register: async (request, address) => {
      const id = request.hostId !== undefined && isUuid(request.hostId) ? request.hostId : newUuid()
      const credential = newSecret('host')
      const now = clock.now()
      await withTransaction(db, async (tx) => {
        const token = await spendJoinToken(tx, hashOf(request.joinToken), now)
        if (!token)
          throw new ServiceError('unauthorized', {
            message: 'The join token is unknown, used or expired. Create one with script/admin host-token.',
          })
        const former = request.formerCredential
        const saved = await saveHost(tx, {
          id,
          address,
          credentialHash: hashOf(credential),
          formerHash: former === undefined ? null : hashOf(former),
          facts: request.facts,
          isBuilder: token.isForBuilder,
          now,
        })
        if (!saved)
          throw new ServiceError('unauthorized', {
            message: `This machine is not host ${id}: remove its credential.json to join as another host.`,
          })
        await recordAudit(tx, enrollerAt(address), {
          action: 'host.enrolled',
          now,
          organizationId: null,
          target: { type: 'host', id },
          details: { address, runtime: request.facts.runtime, builder: token.isForBuilder },
        })
      })
      return { hostId: id, credential }
    },
    admit: (credential, address) => recordCredentialUse(db, hashOf(credential), address),
    isGood: async (credential) => (await findHostByCredential(db, hashOf(credential))) !== null,
    resetCredential: async (hostId, by) => {
      const credential = newSecret('host')
      await withTransaction(db, async (tx) => {
        if (!isUuid(hostId) || !(await saveCredential(tx, hostId, hashOf(credential))))
          throw new ServiceError('host_not_found')
        await recordAudit(tx, by, {
          action: 'host.credential_reset',
          now: clock.now(),
          organizationId: null,
          target: { type: 'host', id: hostId },
        })
      })
      return { hostId, credential }
    },
  }
}

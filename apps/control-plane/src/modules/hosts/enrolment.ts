/** How a machine becomes a host: a join token, worth one registration within an hour, for a credential. */
import { createHash, randomBytes } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import { type Clock, isUuid, newUuid, toBase62 } from '@dock/foundation'
import type { RegisteredHost, RegisterHost } from '@dock/host-protocol'
import { type Db, withTransaction } from '../../database/database.ts'
import {
  findHostByCredential,
  holdCredential,
  insertJoinToken,
  saveCredential,
  saveHost,
  spendJoinToken,
} from './host-store.ts'

const joinTokenMs = 3_600_000

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const newSecret = (prefix: string): string => `${prefix}_${toBase62(randomBytes(32))}`

export type Enrolment = {
  /** A fresh join token; only its hash is kept. A host that registers with a builder's token may publish images. */
  issueJoinToken(options?: { isForBuilder?: boolean }): Promise<string>
  /**
   * Spends a token. Throws `unauthorized` when it is unknown, used or over an hour old, or when the machine names a host
   * that it cannot prove to have been: a token alone lets nobody take over another host with its Docks.
   */
  register(request: RegisterHost, address: string): Promise<RegisteredHost>
  /** The host a credential belongs to, which links with it now from this address; null when it is not good. */
  admit(credential: string, address: string): Promise<string | null>
  /** Whether the credential is still good. */
  isGood(credential: string): Promise<boolean>
  /** Replaces a host's credential. Throws `host_not_found`. */
  resetCredential(hostId: string): Promise<RegisteredHost>
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
          throw new ServiceError('unauthorized', { message: 'Join token unknown, used or expired.' })
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
      })
      return { hostId: id, credential }
    },
    admit: (credential, address) => holdCredential(db, hashOf(credential), address),
    isGood: async (credential) => (await findHostByCredential(db, hashOf(credential))) !== null,
    resetCredential: async (hostId) => {
      const credential = newSecret('host')
      if (!isUuid(hostId) || !(await saveCredential(db, hostId, hashOf(credential))))
        throw new ServiceError('host_not_found')
      return { hostId, credential }
    },
  }
}

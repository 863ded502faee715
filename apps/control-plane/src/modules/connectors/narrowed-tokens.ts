/**
 * In-memory cache of tokens that are narrowed to one repository. A clone needs its token several times. Tokens are kept
 * until shortly before they expire.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '@dock/foundation'
import type { ConnectedRepository, GitCredential } from './connector.ts'
import type { GitAccess } from './git-policy.ts'
import type { NarrowedCredential } from './git-provider.ts'

const tokensMax = 1_000

type Kept = { narrowed: Promise<NarrowedCredential | null>; endsAt: number }

export class NarrowedTokens {
  readonly #clock: Clock
  readonly #lifeLeftMs: number
  /** Ordered by insertion, oldest first. */
  readonly #kept = new Map<string, Kept>()

  /** `lifeLeftMs` is the minimum remaining lifetime of a token that is returned. */
  constructor(clock: Clock, lifeLeftMs: number) {
    this.#clock = clock
    this.#lifeLeftMs = lifeLeftMs
  }

  /**
   * Returns the cached credential for this token, repository and access, or calls `narrow`. Concurrent calls share one
   * call of `narrow`. Returns null if `narrow` does.
   */
  async get(
    accessToken: string,
    { provider, fullName }: ConnectedRepository,
    access: GitAccess,
    narrow: () => Promise<NarrowedCredential | null>,
  ): Promise<GitCredential | null> {
    const parts = [accessToken, provider, fullName.toLowerCase(), access]
    const key = createHash('sha256').update(parts.join('\n')).digest('base64')
    const known = this.#kept.get(key)
    if (known && known.endsAt > this.#clock.now().getTime()) return (await known.narrowed)?.credential ?? null
    const fresh: Kept = { narrowed: narrow(), endsAt: Number.POSITIVE_INFINITY }
    this.#kept.delete(key)
    this.#kept.set(key, fresh)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= tokensMax) break
      this.#kept.delete(oldest)
    }
    let narrowed: NarrowedCredential | null = null
    try {
      narrowed = await fresh.narrowed
    } finally {
      // Do not cache an error or a refusal.
      fresh.endsAt = narrowed ? Date.parse(narrowed.expiresAt) - this.#lifeLeftMs : 0
    }
    return narrowed?.credential ?? null
  }

  /** Removes a credential from the cache. */
  async forget({ password }: GitCredential): Promise<void> {
    for (const [key, { narrowed }] of [...this.#kept])
      if ((await narrowed.catch(() => null))?.credential.password === password) this.#kept.delete(key)
  }
}

/** Tokens narrowed to one repository, kept in memory until shortly before they expire: a clone asks several times. */
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
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>()

  /** `lifeLeftMs`: what a token must still live to be given. */
  constructor(clock: Clock, lifeLeftMs: number) {
    this.#clock = clock
    this.#lifeLeftMs = lifeLeftMs
  }

  /** The kept credential made of this token for this repository, or a new one; calls at once share one `narrow`. */
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
      // A failure and a refusal are not kept.
      fresh.endsAt = narrowed ? Date.parse(narrowed.expiresAt) - this.#lifeLeftMs : 0
    }
    return narrowed?.credential ?? null
  }

  async forget({ password }: GitCredential): Promise<void> {
    for (const [key, { narrowed }] of [...this.#kept])
      if ((await narrowed.catch(() => null))?.credential.password === password) this.#kept.delete(key)
  }
}

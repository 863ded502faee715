/** What this module needs of the web: requests that reach public addresses only. */
import { checkPublicUrl, createOwnHosts, postToPublicUrl, resolvePublic } from '../../public-web/index.ts'

export { isOwnHost } from '../../public-web/index.ts'

/**
 * The receiver's response, or why there is none. `answer` is the start of its body, `error` a short sentence. Both are
 * shown to the organization.
 */
export type Receipt =
  | { status: number; retryAfterSeconds: number | null; answer: string; error?: undefined }
  | { status: null; error: string }

export type PublicWeb = {
  /** Returns why nothing may be sent to the URL, as a sentence. Returns null if it may. Resolves the name. */
  findRefusal(url: string): Promise<string | null>
  /**
   * Sends a POST request. Reads at most 1 KiB of the response's body. Resolves also if there is no response. If the signal
   * aborts, rejects with its reason.
   */
  post(request: {
    url: string
    headers: Readonly<Record<string, string>>
    body: string
    deadlineMs: number
    signal?: AbortSignal
  }): Promise<Receipt>
}

/**
 * Creates the real web. `allowLoopback` also allows receivers on this machine, for development, and `ownHosts` networks
 * and hosts of the operator.
 */
export function createPublicWeb({
  allowLoopback,
  ownHosts = [],
}: {
  allowLoopback: boolean
  ownHosts?: readonly string[]
}): PublicWeb {
  const own = ownHosts.length === 0 ? undefined : createOwnHosts(ownHosts)
  return {
    findRefusal: async (url) => {
      const target = checkPublicUrl(url, { allowLoopback, own })
      if ('problem' in target) return target.problem
      const resolution = await resolvePublic(target, { own })
      return resolution.error === null ? null : resolution.reason
    },
    post: async (request) => {
      const outcome = await postToPublicUrl({ ...request, allowLoopback, own })
      if (outcome.status === null) return { status: null, error: outcome.reason }
      const { status, retryAfterSeconds, answer } = outcome
      return { status, retryAfterSeconds, answer }
    },
  }
}

/**
 * Reads claims of an OpenID Connect ID token. The signature is not checked: the token came from the provider over TLS,
 * and the claims are only displayed.
 */
import * as z from 'zod'

const claims = z.object({
  email: z.string().min(1).max(254).optional().catch(undefined),
  'https://api.openai.com/auth': z
    .object({ chatgpt_plan_type: z.string().min(1).max(100).optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

/** Returns the address and the plan from the token's claims, or null for a missing or invalid claim. */
export function readIdToken(token: string | null): { email: string | null; planType: string | null } {
  const nothing = { email: null, planType: null }
  const payload = token?.split('.')[1]
  if (payload === undefined) return nothing
  try {
    const read = claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')))
    return {
      email: read.data?.email ?? null,
      planType: read.data?.['https://api.openai.com/auth']?.chatgpt_plan_type ?? null,
    }
  } catch {
    return nothing
  }
}

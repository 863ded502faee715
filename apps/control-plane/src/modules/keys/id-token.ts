/** What an identity token says of its person. It came from the provider itself over TLS, and is shown, never trusted. */
import * as z from 'zod'

const claims = z.object({
  email: z.string().min(1).max(254).optional().catch(undefined),
  'https://api.openai.com/auth': z
    .object({ chatgpt_plan_type: z.string().min(1).max(100).optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

/** Address and plan from the token's claims; null where it does not tell. */
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

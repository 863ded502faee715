/** Who may make an account on this instance. */
import { APIError } from 'better-auth/api'

/** `invite`: whoever an organization has invited. The first person is made by the first start. */
export type SignUpPolicy = 'open' | 'invite' | 'closed'

/** Throws the sign-in library's error, which it also carries back through a provider's redirect. */
export const requireSignUp = async (
  policy: SignUpPolicy,
  isInvited: (email: string) => Promise<boolean>,
  email: string,
): Promise<void> => {
  if (policy === 'open') return
  if (policy === 'invite' && (await isInvited(email))) return
  throw new APIError('FORBIDDEN', {
    code: 'SIGN_UP_BY_INVITATION',
    message:
      policy === 'closed'
        ? 'Nobody can make an account on this instance. Ask its operator.'
        : 'Accounts on this instance are made by invitation. Ask somebody in your organization for one.',
  })
}

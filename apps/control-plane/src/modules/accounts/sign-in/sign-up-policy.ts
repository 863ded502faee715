/**
 * Decides who may create an account on this instance. Knowing an invited address is not enough: sign-up by password
 * also needs the token of the invitation, and sign-up through a provider needs an address that the provider verified.
 * The token admits a person but proves no address: an admin of any organization can read it for any address.
 */

/** `invite` admits only addresses that an organization has invited. The first start creates the first user. */
export type SignUpPolicy = 'open' | 'invite' | 'closed'

export type NewAccount = {
  email: string
  /** Token of the invitation, from its mail or its link. Only used for sign-up by password. */
  invitationToken: string | null
  /** Set for sign-up through a provider; null for sign-up by password, where the address is verified later. */
  provider: { emailVerified: boolean } | null
}

/** Why the account is not created. better-auth returns it in the response or in the redirect back from a provider. */
export type SignUpRefusal = { error: string; errorDescription: string }

/** Returns true if the address has an open invitation. If `token` is not null, it must be that invitation's token. */
export type IsInvited = (email: string, token: string | null) => Promise<boolean>

/** Returns the reason to refuse a new account, or undefined if the policy allows it. */
export async function refuseSignUp(
  policy: SignUpPolicy,
  isInvited: IsInvited,
  account: NewAccount,
): Promise<SignUpRefusal | undefined> {
  if (policy === 'closed')
    return {
      error: 'SIGN_UP_CLOSED',
      errorDescription: 'Sign-up is closed on this instance. Ask its operator for an account.',
    }
  // Otherwise somebody could sign up with another person's address, and that login would keep working after the owner
  // of the address sets a password by mail.
  if (account.provider && !account.provider.emailVerified)
    return {
      error: 'EMAIL_NOT_VERIFIED',
      errorDescription: 'The provider has not verified your address. Verify it there first.',
    }
  const { email, provider, invitationToken } = account
  const proof = provider ? null : (invitationToken ?? '')
  if (policy === 'invite' && !(await isInvited(email, proof)))
    return {
      error: 'SIGN_UP_BY_INVITATION',
      errorDescription:
        'This instance requires an invitation to sign up. Open the link in your invitation mail, or ask an admin of your organization for one.',
    }
  return undefined
}

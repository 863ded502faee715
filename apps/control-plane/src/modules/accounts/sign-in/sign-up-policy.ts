/**
 * Who may make an account on this instance. An address alone proves nothing: by password an invited person also shows the
 * token of the invitation's mail, and a provider has verified the address.
 */

/** `invite`: whoever an organization has invited. The first person is made by the first start. */
export type SignUpPolicy = 'open' | 'invite' | 'closed'

export type NewAccount = {
  email: string
  /** By password: of the invitation that the person follows. */
  invitationToken: string | null
  /** Made by a provider, and whether that has verified the address; by password it is verified afterwards. */
  provider: { emailVerified: boolean } | null
}

/** Why the account is not made, as the sign-in library tells it, also through a provider's redirect. */
export type SignUpRefusal = { error: string; errorDescription: string }

/** Whether an invitation to the address is open; with a token, the one whose mail carried it. */
export type IsInvited = (email: string, token: string | null) => Promise<boolean>

export async function refuseSignUp(
  policy: SignUpPolicy,
  isInvited: IsInvited,
  account: NewAccount,
): Promise<SignUpRefusal | undefined> {
  if (policy === 'closed')
    return {
      error: 'SIGN_UP_CLOSED',
      errorDescription: 'Nobody can make an account on this instance. Ask its operator.',
    }
  // Whoever took an address that is not theirs would keep that login after its owner has set a password by mail.
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
        'Accounts on this instance are made by invitation. Open the link of yours, or ask somebody in your organization for one.',
    }
  return undefined
}

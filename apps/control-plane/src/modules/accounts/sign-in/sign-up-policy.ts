/** Who may make an account on this instance. */

/** `invite`: whoever an organization has invited. The first person is made by the first start. */
export type SignUpPolicy = 'open' | 'invite' | 'closed'

export type NewAccount = {
  email: string
  /** Made by a provider, and whether that has verified the address; by password it is verified afterwards. */
  provider: { emailVerified: boolean } | null
}

/** Why the account is not made, as the sign-in library tells it, also through a provider's redirect. */
export type SignUpRefusal = { error: string; errorDescription: string }

export const refuseSignUp = async (
  policy: SignUpPolicy,
  isInvited: (email: string) => Promise<boolean>,
  account: NewAccount,
): Promise<SignUpRefusal | undefined> => {
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
  if (policy === 'invite' && !(await isInvited(account.email)))
    return {
      error: 'SIGN_UP_BY_INVITATION',
      errorDescription:
        'Accounts on this instance are made by invitation. Ask somebody in your organization for one.',
    }
  return undefined
}

/** Who may make an account on this instance. The service writes it into the page. */
const policy = document.querySelector<HTMLMetaElement>('meta[name="sign-up"]')?.content ?? 'open'

/** Returns why nobody may make an account here, or undefined if one may. `next` is where the person came for. */
export function signUpRefusal(next: string | undefined): string | undefined {
  if (policy === 'closed') return 'New accounts are closed on this instance. Ask its operator for one.'
  if (policy === 'invite' && invitationOf(next) === undefined)
    return 'Accounts are made by invitation here. Open the link of your invitation, or ask an admin of your organization for one.'
  return undefined
}

/** Returns the token of the invitation that the person came for. */
export function invitationOf(next: string | undefined): string | undefined {
  return /^\/invitations\/([A-Za-z0-9_-]+)$/.exec(next ?? '')?.[1]
}

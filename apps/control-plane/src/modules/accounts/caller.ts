/** Who calls: established once by the HTTP layer from the credential, handed to every operation. */

export type CallerKind = 'api_key' | 'session' | 'dock_key'

export type Caller = {
  kind: CallerKind
  /** The person acted for: the owner of the session, or the creator of the key. */
  userId: string
  email: string
  emailVerified: boolean
  /** Id of the API key or session used: what audit records name. */
  credentialId: string
  /** On the instance's admin list; features also need {@link Caller.emailVerified}. */
  instanceAdmin: boolean
  /** The only Dock a `dock_key` may touch; present on that kind alone. */
  dockId?: string
}

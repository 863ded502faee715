/** The identity of an API caller. The HTTP layer derives it from the credential and passes it to every route handler. */

export type CallerKind = 'api_key' | 'session' | 'dock_key' | 'ssh_key'

export type Caller = {
  kind: CallerKind
  /** The user that the caller acts as: the owner of the session, or the creator of the key. */
  userId: string
  email: string
  emailVerified: boolean
  /** Id of the API key, session or SSH key. Audit records store it. */
  credentialId: string
  /** The address from which the request came, for the audit log. */
  address?: string
  /** True if the user is an instance admin. Admin features also require {@link Caller.emailVerified}. */
  instanceAdmin: boolean
  /** The only Dock that a `dock_key` may access. Absent for other kinds. */
  dockId?: string
}

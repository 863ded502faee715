/** Public interface of the accounts module: users, their sessions, and the identity of an API caller. */
export type { AccessHold, AccessSignals } from './access-signals.ts'
export type { Caller, CallerKind } from './caller.ts'
export {
  closeUser,
  deleteErasedUsers,
  deleteVerificationsOf,
  reopenUser,
  replaceErasedUser,
} from './closed-users.ts'
export { listConnections, removeConnection } from './connections.ts'
export { createPerson } from './create-person.ts'
export { endSessions } from './end-sessions.ts'
export { isOpenAccount } from './is-open-account.ts'
export { createMember, type Member, type Membership } from './member.ts'
export { type AccountsModule, createAccountsModule } from './module.ts'
export { type AccountContext, readProfile, updateProfile } from './profile.ts'
export { pruneSignIns } from './prune-sign-ins.ts'
export { createReadMe } from './read-me.ts'
export { retentionEnabled } from './retention-enabled.ts'
export type { AuthenticateSession } from './sign-in/authenticate-session.ts'
export {
  findGrants,
  isLinkedAdmin,
  loginGrantColumn,
  type ProviderGrant,
  replaceGrant,
  type StoredGrant,
  storeGrant,
} from './sign-in/provider-grants.ts'
export { isPlatformCookie, sessionCookieName } from './sign-in/session-cookie.ts'
export type { SignIn, SignInRequest } from './sign-in/sign-in.ts'
export type { SignUpPolicy } from './sign-in/sign-up-policy.ts'
export type { SocialLogins } from './sign-in/social-providers.ts'
export { personColumns, personOf, type SignedIn } from './signed-in.ts'
export { listUnverifiedPeople, vouchForAddress } from './unverified-people.ts'
export { createVisitor, type Visitor } from './visitor.ts'

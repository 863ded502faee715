/** Public interface of the accounts module: users, their sessions, and the identity of an API caller. */
export type { AccessSignals } from './access-signals.ts'
export type { Caller } from './caller.ts'
export {
  closeUser,
  deleteErasedUsers,
  deleteVerificationsOf,
  reopenUser,
  replaceErasedUser,
} from './closed-users.ts'
export { createPerson } from './create-person.ts'
export { endSessions } from './end-sessions.ts'
export { isOpenAccount } from './is-open-account.ts'
export { createMember, type Member, type Membership } from './member.ts'
export { createAccountsModule } from './module.ts'
export { pruneSignIns } from './prune-sign-ins.ts'
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
export type { SignInRequest } from './sign-in/sign-in.ts'
export type { SignUpPolicy } from './sign-in/sign-up-policy.ts'
export type { SocialLogins } from './sign-in/social-providers.ts'
export { personColumns, personOf, type SignedIn } from './signed-in.ts'
export { createVisitor, type Visitor } from './visitor.ts'

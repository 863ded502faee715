/** Public face of accounts: people, their sessions and who calls. */
export { type AccessHold, type AccessSignals, createAccessSignals } from './access-signals.ts'
export { type AuthenticateSession, createSessionAuthentication } from './authenticate-session.ts'
export type { Caller, CallerKind } from './caller.ts'
export { createPerson } from './create-person.ts'
export { readMe } from './operations/read-me.ts'
export { sessionCookieName } from './session-cookie.ts'
export { clientAddressHeader, createSignIn, type SignIn } from './sign-in.ts'
export type { SignedIn } from './signed-in.ts'

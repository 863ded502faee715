/** Public face of the connections to hosts that tenants choose. */
export { createOwnHosts, isOwnHost } from './own-hosts.ts'
export { type PostError, type PostOutcome, type PublicPost, postToPublicUrl } from './post-public.ts'
export { isPublicAddress } from './public-address.ts'
export { checkPublicUrl, type PublicUrl, type UrlProblem, type UrlRules } from './public-url.ts'
export {
  type AddressResolver,
  type Resolution,
  type ResolveOptions,
  resolvePublic,
} from './resolve-public.ts'

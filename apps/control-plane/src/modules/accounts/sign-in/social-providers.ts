/** Configures sign-in with GitHub, GitLab and Google. The tokens of GitHub and GitLab also clone repositories. */
import type { GenericOAuthConfig } from 'better-auth/plugins/generic-oauth'
import * as z from 'zod'

export type SocialLogin = { clientId: string; clientSecret: string }
/** The providers that the operator has configured. A provider that is absent is disabled. */
export type SocialLogins = {
  github?: SocialLogin & {
    /** Base URL of github.com or of a GitHub Enterprise Server. */
    url: string
  }
  gitlab?: SocialLogin & {
    /** Base URL of gitlab.com or of a self-managed GitLab. */
    url: string
  }
  google?: SocialLogin
}

const readJson = async (url: string, accessToken: string | undefined): Promise<unknown> => {
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${accessToken}`,
      accept: 'application/json',
      'user-agent': 'dock',
    },
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`sign-in provider responded with status ${response.status}`)
  return response.json()
}

const githubUser = z.object({
  id: z.number(),
  login: z.string(),
  name: z.string().nullish(),
  avatar_url: z.string().nullish(),
})
const githubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

const github = ({ clientId, clientSecret, url }: NonNullable<SocialLogins['github']>): GenericOAuthConfig => {
  const api = url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`
  return {
    providerId: 'github',
    clientId,
    clientSecret,
    authorizationUrl: `${url}/login/oauth/authorize`,
    tokenUrl: `${url}/login/oauth/access_token`,
    scopes: ['read:user', 'user:email'],
    authorizationHeaders: { accept: 'application/json' },
    getUserInfo: async ({ accessToken }) => {
      const user = githubUser.parse(await readJson(`${api}/user`, accessToken))
      const emails = githubEmails.parse(await readJson(`${api}/user/emails`, accessToken))
      const primary = emails.find((each) => each.primary)
      return {
        id: String(user.id),
        name: user.name ?? user.login,
        ...(primary ? { email: primary.email } : {}),
        ...(user.avatar_url ? { image: user.avatar_url } : {}),
        emailVerified: primary?.verified ?? false,
      }
    },
  }
}

const gitlabUser = z.object({
  id: z.number(),
  username: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  confirmed_at: z.string().nullish(),
  avatar_url: z.string().nullish(),
})

const gitlab = ({
  clientId,
  clientSecret,
  url,
}: NonNullable<SocialLogins['gitlab']>): GenericOAuthConfig => ({
  providerId: 'gitlab',
  clientId,
  clientSecret,
  authorizationUrl: `${url}/oauth/authorize`,
  tokenUrl: `${url}/oauth/token`,
  scopes: ['read_user', 'read_repository', 'write_repository'],
  getUserInfo: async ({ accessToken }) => {
    const user = gitlabUser.parse(await readJson(`${url}/api/v4/user`, accessToken))
    return {
      id: String(user.id),
      name: user.name ?? user.username,
      ...(user.email ? { email: user.email } : {}),
      ...(user.avatar_url ? { image: user.avatar_url } : {}),
      emailVerified: Boolean(user.email && user.confirmed_at),
    }
  },
})

const googleUser = z.object({
  sub: z.string(),
  name: z.string().nullish(),
  email: z.string(),
  email_verified: z.boolean(),
  picture: z.string().nullish(),
})

const google = ({ clientId, clientSecret }: SocialLogin): GenericOAuthConfig => ({
  providerId: 'google',
  clientId,
  clientSecret,
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  scopes: ['openid', 'email', 'profile'],
  getUserInfo: async ({ accessToken }) => {
    const found = await readJson('https://openidconnect.googleapis.com/v1/userinfo', accessToken)
    const user = googleUser.parse(found)
    return {
      id: user.sub,
      email: user.email,
      name: user.name ?? '',
      ...(user.picture ? { image: user.picture } : {}),
      emailVerified: user.email_verified,
    }
  },
})

/** Returns better-auth's configuration for the configured providers. */
export function socialProviders(logins: SocialLogins): GenericOAuthConfig[] {
  return [
    ...(logins.github ? [github(logins.github)] : []),
    ...(logins.gitlab ? [gitlab(logins.gitlab)] : []),
    ...(logins.google ? [google(logins.google)] : []),
  ]
}

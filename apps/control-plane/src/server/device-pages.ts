/**
 * The pages on which a person approves the sign-in of a machine, until the dashboard has its own. They are outside the
 * contract, because browsers request them, and work without scripts. Only POST changes anything, and only from this site.
 */
import { type PersonAccess, ServiceError } from '@dock/contract'
import type { Context, Hono } from 'hono'
import type { Caller, SignInRequest } from '../modules/accounts/index.ts'
import type { DeviceApproval } from '../modules/keys/index.ts'
import type { Credentials } from './credentials.ts'
import {
  approvalPage,
  codePage,
  decidedPage,
  problemPage,
  providerPage,
  signInPage,
} from './device-page-views.ts'
import { anonymousBodyBytesMax, containsNul, readTextBody } from './read-body.ts'
import type { HttpEnvironment } from './request-context.ts'

export type DevicePagesOptions = {
  credentials: Credentials
  apiUrl: string
  approval: DeviceApproval
  /** Providers with which people can sign in, apart from their password. */
  socialProviders: readonly string[]
  signIn(request: SignInRequest): Promise<Response>
  /** The organizations that a key of the person reaches: its names, and the person's role in each. */
  organizationsOf(caller: Caller): Promise<readonly { name: string; role: string }[]>
}

const path = '/device'
const access: PersonAccess = { credentials: 'session', scope: 'person', unverified: true }
const codeLengthMax = 32
/** A provider says why only in words of its own. */
const refused =
  'The provider did not sign you in, or no account here belongs to that person. Try another way.'

const here = (code: string): string => (code === '' ? path : `${path}?${new URLSearchParams({ code })}`)
const redirect = (to: string, cookies: readonly string[] = []): Response => {
  const response = new Response(null, { status: 303, headers: { location: to, 'cache-control': 'no-store' } })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

const readForm = async (request: Request): Promise<(field: string) => string> => {
  const form = new URLSearchParams(await readTextBody(request, anonymousBodyBytesMax))
  if ([...form].flat().some(containsNul)) throw new ServiceError('validation_error')
  return (field) => form.get(field) ?? ''
}

/** Refuses forms of other sites. Unlike the API, it refuses also what does not say where it comes from. */
const requireOwnSite = (request: Request, apiUrl: string): void => {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const own = site === null ? origin === new URL(apiUrl).origin : site === 'same-origin'
  const host = request.headers.get('host')
  const sameHost = site === null && origin !== null && URL.canParse(origin) && new URL(origin).host === host
  if (!own && !sameHost)
    throw new ServiceError('forbidden', {
      message: 'This form was not sent from this page. Open the page again.',
    })
}

export function addDevicePages(app: Hono<HttpEnvironment>, options: DevicePagesOptions): void {
  const { apiUrl, approval, socialProviders } = options

  /** Returns the signed-in person, or undefined if the request has no valid session. An API key is no session. */
  const personOf = async (request: Request): Promise<Caller | undefined> => {
    try {
      return await options.credentials.check(request, access, {})
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unauthorized') return undefined
      throw error
    }
  }

  const signIn = (context: Context<HttpEnvironment>, endpoint: string, body: object): Promise<Response> => {
    const headers = new Headers(context.req.raw.headers)
    // better-auth compares it with its own list. This page has checked it.
    headers.set('origin', new URL(apiUrl).origin)
    const clientAddress = context.get('clientAddress')
    return options.signIn({ method: 'POST', path: endpoint, search: '', headers, body, clientAddress })
  }

  const withPassword = async (
    context: Context<HttpEnvironment>,
    code: string,
    field: (name: string) => string,
  ) => {
    const response = await signIn(context, '/sign-in/email', {
      email: field('email'),
      password: field('password'),
    })
    if (!response.ok)
      return signInPage(code, socialProviders, 'The address or the password is wrong. Try again.')
    return redirect(here(code), response.headers.getSetCookie())
  }

  const withProvider = async (context: Context<HttpEnvironment>, code: string, provider: string) => {
    const callbackURL = `${apiUrl}${here(code)}`
    const response = await signIn(context, '/sign-in/social', {
      provider,
      callbackURL,
      disableRedirect: true,
      // It gets the reason as `error`.
      errorCallbackURL: callbackURL,
    })
    const { url } = response.ok ? ((await response.json()) as { url?: unknown }) : {}
    if (typeof url !== 'string' || !/^https?:/.test(url))
      return signInPage(code, socialProviders, `Signing in with ${provider} is not possible now. Try again.`)
    return providerPage(provider, url, response.headers.getSetCookie())
  }

  /** Runs a handler, and shows what it throws as a page. */
  const serve = (handle: (context: Context<HttpEnvironment>) => Promise<Response>) => {
    return async (context: Context<HttpEnvironment>): Promise<Response> => {
      context.set('route', path)
      try {
        return await handle(context)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        return problemPage(error.status, error.message)
      }
    }
  }

  app.get(
    path,
    serve(async (context) => {
      const code = (context.req.query('code') ?? '').slice(0, codeLengthMax)
      const person = await personOf(context.req.raw)
      if (!person)
        return signInPage(
          code,
          socialProviders,
          context.req.query('error') === undefined ? undefined : refused,
        )
      if (code === '') return codePage(person.email)
      const found = await approval.find(person, code)
      if (!found)
        return codePage(
          person.email,
          'This code is wrong, used or expired. Type the code that the machine shows now.',
        )
      return approvalPage(person.email, found, await options.organizationsOf(person))
    }),
  )

  app.post(
    path,
    serve(async (context) => {
      requireOwnSite(context.req.raw, apiUrl)
      const field = await readForm(context.req.raw)
      const code = field('code').slice(0, codeLengthMax)
      const action = field('action')
      if (action === 'sign-in') return withPassword(context, code, field)
      if (action.startsWith('sign-in-with-'))
        return withProvider(context, code, action.slice('sign-in-with-'.length).slice(0, codeLengthMax))
      if (action === 'sign-out') {
        const response = await signIn(context, '/sign-out', {})
        return redirect(here(code), response.headers.getSetCookie())
      }
      if (action !== 'approve' && action !== 'deny') throw new ServiceError('validation_error')
      const person = await personOf(context.req.raw)
      if (!person) return signInPage(code, socialProviders)
      const decided = await approval.decide(person, code, action === 'approve' ? 'approved' : 'denied')
      return decided
        ? decidedPage(action === 'approve', decided)
        : codePage(
            person.email,
            'This sign-in has expired or was decided before. Start again on the machine.',
          )
    }),
  )
}

/** Serves the dashboard at every path that no route has, to browsers that ask for a page. */
import { join } from 'node:path'
import type { Hono } from 'hono'
import type { SignUpPolicy } from '../modules/accounts/index.ts'
import { createBuiltPages } from './built-pages.ts'
import type { HttpEnvironment } from './request-context.ts'

/** Where script/install/dashboard puts the built pages. */
export const dashboardFolder = join(import.meta.dirname, '../../../dashboard/dist')

/**
 * The nonce is for the style elements that the terminal makes. `formTarget` is GitHub: the page that makes the instance's
 * App sends a form there.
 */
const policyFor = (formTarget: string | undefined) => (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    // Previews of images are blobs that the page made from bytes which it knows to be an image.
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ["form-action 'self'", ...(formTarget === undefined ? [] : [new URL(formTarget).origin])].join(' '),
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Dock</title>
<h1>Dock is running</h1>
<p>The dashboard is not built on this server. Run <code>script/install/dashboard</code> in the checkout, then load this page again.</p>
<p>The API is described by <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`

/** Paths of the service, on which an unknown address is an error of the API and no page. */
const apiPaths = /^\/(v1|api|mcp|docs|health|openapi\.json)(\/|$)/

export type DashboardOptions = {
  /** Holds the built files. */
  folder?: string
  /** The address of GitHub, which may receive a form. */
  formTarget?: string
  /** Who may make an account. The page of the sign-in offers it to them alone. */
  signUp?: SignUpPolicy
}

/** Adds the pages. Call this after all other routes. */
export function addDashboardPages(
  app: Hono<HttpEnvironment>,
  { folder = dashboardFolder, formTarget, signUp = 'open' }: DashboardOptions = {},
): void {
  const pages = createBuiltPages({
    folder,
    policy: policyFor(formTarget),
    fallback: '/index.html',
    texts: { SIGN_UP: signUp },
  })
  app.get('*', async (context, next) => {
    const { path } = context.req
    if (apiPaths.test(path)) return next()
    const response = await pages.respond(path, context.req.raw.headers)
    if (response) {
      context.set('route', '/dashboard')
      return response
    }
    if (path !== '/' || !context.req.header('accept')?.includes('text/html')) return next()
    context.set('route', '/dashboard')
    return context.html(notBuilt, 200, {
      'content-security-policy': "default-src 'none'",
      'cache-control': 'no-store',
    })
  })
}

/** The HTML of the pages on which a person approves the sign-in of a machine. */
import type { MachineSignIn } from '../modules/keys/index.ts'
import { type Html, html, htmlPage } from './html-page.ts'

const organizationsShownMax = 20

const providerNames: Readonly<Record<string, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
}
const nameOf = (provider: string): string => providerNames[provider] ?? provider

const problem = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : html`<p class="problem" role="alert">${text}</p>`

const form = (code: string, content: Html, className = ''): Html =>
  html`<form method="post" action="/device" class="${className}"><input type="hidden" name="code" value="${code}">${content}</form>`

const signedInAs = (email: string, code: string): Html =>
  form(
    code,
    html`<p>You are signed in as <bdi>${email}</bdi>.</p>
<button class="second" name="action" value="sign-out">Use another account</button>`,
    'note',
  )

/** Asks for a password, or for a provider. */
export function signInPage(code: string, providers: readonly string[], wrong?: string): Response {
  const fields = html`<label>Email address<input name="email" type="email" autocomplete="username" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button class="wide" name="action" value="sign-in">Sign in</button>`
  const others = providers.map((name) =>
    form(
      code,
      html`<button class="second wide" name="action" value="sign-in-with-${name}">Continue with ${nameOf(name)}</button>`,
    ),
  )
  return htmlPage(
    wrong === undefined ? 200 : 401,
    'Sign in to Dock',
    html`${problem(wrong)}<p>A machine asks to act as you. Sign in first, then you see which one.</p>
${form(code, fields)}${others}`,
  )
}

/** Leads to a provider. A link, because the page's policy lets forms go to this site only. */
export function providerPage(provider: string, url: string, cookies: readonly string[]): Response {
  const response = htmlPage(
    200,
    `Sign in with ${nameOf(provider)}`,
    html`<p><a rel="noreferrer" href="${url}">Continue to ${nameOf(provider)}</a></p>`,
  )
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

/** Asks for the code that the machine shows. */
export function codePage(email: string, wrong?: string): Response {
  return htmlPage(
    wrong === undefined ? 200 : 404,
    'Sign in a machine',
    html`${problem(wrong)}<form method="get" action="/device">
<label>Code that the machine shows<input name="code" class="code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="32" required></label>
<button>Continue</button>
</form>
${signedInAs(email, '')}`,
  )
}

/** Shows a sign-in, and asks for the decision. */
export function approvalPage(
  email: string,
  { userCode, machineName, clientAddress, createdAt }: MachineSignIn,
  organizations: readonly { name: string; role: string }[],
): Response {
  const shown = organizations.slice(0, organizationsShownMax)
  const more = organizations.length - shown.length
  return htmlPage(
    200,
    'Let this machine act as you?',
    html`<p>Approve only if you started this yourself a moment ago, and the machine shows exactly this code:</p>
<p class="code">${userCode}</p>
<dl>
<dt>It calls itself</dt><dd><bdi>${machineName}</bdi></dd>
<dt>It asked from</dt><dd>${clientAddress}</dd>
<dt>It asked at</dt><dd>${createdAt.toISOString().replace('T', ' ').slice(0, 19)} UTC</dd>
<dt>It acts as</dt><dd><bdi>${email}</bdi></dd>
<dt>It reaches</dt><dd>all workspaces that you reach in ${shown.map(
      ({ name, role }, index) => html`${index > 0 ? ', ' : ''}<bdi>${name}</bdi> (${role})`,
    )}${shown.length === 0 && 'no organization yet'}${more > 0 && `, and ${more} more`}</dd>
</dl>
<p>It gets an API key with this name. The key has all your rights, but those that need a browser, until you revoke it under your API keys.</p>
${form(
  userCode,
  html`<div class="row"><button name="action" value="approve">Approve</button>
<button class="second" name="action" value="deny">Deny</button></div>`,
)}
${signedInAs(email, userCode)}`,
  )
}

/** Confirms the decision. */
export function decidedPage(approved: boolean, { machineName }: MachineSignIn): Response {
  return approved
    ? htmlPage(
        200,
        'Approved',
        html`<p><bdi>${machineName}</bdi> is signed in within a few seconds. You can close this page.</p>`,
      )
    : htmlPage(200, 'Denied', html`<p><bdi>${machineName}</bdi> gets no key. You can close this page.</p>`)
}

/** Shows an error. */
export function problemPage(status: number, message: string): Response {
  return htmlPage(
    status,
    'This did not work',
    html`<p>${message}</p><p><a href="/device">Start again</a></p>`,
  )
}

/** The manifest with which GitHub makes an App: what it may do, what it is told, and where it sends people. */

/** Permissions of the App. Each token that Dock asks for has fewer. */
const permissions = {
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  metadata: 'read',
  workflows: 'write',
}

const events = ['issues', 'issue_comment', 'pull_request', 'pull_request_review', 'repository']

/** GitHub's limit for the name of an App. */
const nameLengthMax = 34

/** Pages of the dashboard to which GitHub sends the browser back. */
export const returnPaths = { app: '/github/app', link: '/github/linked' } as const

/** Returns the manifest as JSON. */
export function appManifest({ apiUrl, appUrl }: { apiUrl: string; appUrl: string }): string {
  return JSON.stringify({
    name: `Dock ${new URL(appUrl).hostname}`.slice(0, nameLengthMax),
    url: appUrl,
    hook_attributes: { url: `${apiUrl}/v1/github/events`, active: true },
    redirect_url: `${appUrl}${returnPaths.app}`,
    callback_urls: [`${appUrl}${returnPaths.link}`],
    // Each tenant installs it on an account of its own. An installation that nobody linked does nothing.
    public: true,
    default_permissions: permissions,
    default_events: events,
  })
}

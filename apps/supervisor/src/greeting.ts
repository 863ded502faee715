/** What a person reads when Dock has started. */
import type { FirstDock } from './first-dock.ts'
import type { Admin } from './readiness.ts'

const quote = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** Three lines to copy: create, exec, stop. The key is read from admin.json, so that no shell history keeps it. */
export function curlLines(baseUrl: string, admin: Admin, adminPath: string): string[] {
  const key = `$(sed -n 's/.*"apiKey": *"\\([^"]*\\)".*/\\1/p' ${quote(adminPath)})`
  const curl = `curl -sS -H "authorization: Bearer ${key}" -H 'content-type: application/json'`
  return [
    `${curl} ${baseUrl}/v1/docks -d '{"workspaceId":"${admin.workspaceId}"}'`,
    `${curl} ${baseUrl}/v1/docks/DOCK_ID/exec -d '{"command":"uname -a"}'`,
    `${curl} ${baseUrl}/v1/docks/DOCK_ID/stop -d '{}'`,
  ]
}

/** The whole greeting, with what the first Dock said at the first start. Its first line comes last in time. */
export function greeting(parts: {
  baseUrl: string
  /** Undefined once the first person is erased. */
  admin: Admin | undefined
  adminPath: string
  firstDock: FirstDock | undefined
  startedInMs: number
}): string {
  const { baseUrl, admin, adminPath, firstDock, startedInMs } = parts
  const first = firstDock
    ? [
        `A first Dock '${firstDock.name}' was made and ran uname -a, in ${(firstDock.elapsedMs / 1000).toFixed(2)} s:`,
        `  ${firstDock.uname}`,
        '',
      ]
    : []
  const lines = (admin ? curlLines(baseUrl, admin, adminPath) : []).map((line) =>
    firstDock ? line.replaceAll('DOCK_ID', firstDock.id) : line,
  )
  const forAdmin = admin
    ? [
        'Create a Dock, run a command in it, stop it:',
        ...lines.map((line) => `  ${line}`),
        '',
        `Sign in as ${admin.email}; the password and an API key are in ${adminPath}.`,
      ]
    : []
  return [
    '',
    ...first,
    ...forAdmin,
    `Dock is ready at ${baseUrl} (healthy after ${(startedInMs / 1000).toFixed(1)} s). Ctrl-C stops it.`,
    '',
  ].join('\n')
}

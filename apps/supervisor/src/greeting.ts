/** The text that the operator sees when Dock has started. */
import type { FirstDock } from './first-dock.ts'
import type { Admin } from './readiness.ts'

const quote = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** A command that prints the key in admin.json, to keep it out of the shell history. */
const printKey = (adminPath: string): string =>
  `sed -n 's/.*"apiKey": *"\\([^"]*\\)".*/\\1/p' ${quote(adminPath)}`

/** Returns the command that signs in the command line of this checkout. */
export function loginLine(baseUrl: string, adminPath: string): string {
  return `${printKey(adminPath)} | script/dock login ${baseUrl} --key`
}

/** Returns three commands: create, exec, stop. */
export function curlLines(baseUrl: string, admin: Admin, adminPath: string): string[] {
  const curl = `curl -sS -H "authorization: Bearer $(${printKey(adminPath)})" -H 'content-type: application/json'`
  return [
    `${curl} ${baseUrl}/v1/docks -d '{"workspaceId":"${admin.workspaceId}"}'`,
    `${curl} ${baseUrl}/v1/docks/DOCK_ID/exec -d '{"command":"uname -a"}'`,
    `${curl} ${baseUrl}/v1/docks/DOCK_ID/stop -d '{}'`,
  ]
}

/** Returns the whole greeting. The result of the first Dock is included at the first start only. */
export function greeting(parts: {
  baseUrl: string
  /** Undefined if the first admin has been erased. */
  admin: Admin | undefined
  adminPath: string
  firstDock: FirstDock | undefined
  startedInMs: number
  /** What will not work, in sentences. */
  notices: readonly string[]
  /** The command that opens a shell in a Dock. Null: SSH is off. */
  sshAddress: string | null
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
        'Sign in the command line, then list its commands:',
        `  ${loginLine(baseUrl, adminPath)}`,
        '  script/dock --help',
        '',
        `Sign in as ${admin.email}; the password and an API key are in ${adminPath}.`,
      ]
    : []
  const forSsh = parts.sshAddress
    ? [`With an SSH key of your account (script/dock ssh-key add): ${parts.sshAddress}`, '']
    : []
  return [
    '',
    ...first,
    ...forAdmin,
    ...forSsh,
    ...parts.notices.flatMap((notice) => [`Note: ${notice}`, '']),
    `Dock is ready at ${baseUrl} (healthy after ${(startedInMs / 1000).toFixed(1)} s). Ctrl-C stops it.`,
    '',
  ].join('\n')
}

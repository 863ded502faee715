/** How a tenant's commands run: in a login bash as the Dock user. */
import type { ExecRequest } from '@dock/runtime'

export const dockUser = { uid: 1000, gid: 1000, name: 'user', home: '/home/user' }

/** Where terminals and processes begin: in the first of these folders that exists. */
export const startFolders = ['/home/user/work', dockUser.home, '/']

export const userEnvironment = {
  HOME: dockUser.home,
  USER: dockUser.name,
  LOGNAME: dockUser.name,
  SHELL: '/bin/bash',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  TERM: 'dumb',
}

/** The locale of programs, which lets them read and write names and text in UTF-8. It costs a command less than LANG. */
const defaultLocale = { LC_CTYPE: 'C.UTF-8' }
const localeVariables = ['LANG', 'LC_ALL', 'LC_CTYPE']

/** Returns the environment of a program of the user. `env` overrides the default one; a locale in it replaces ours. */
export function environmentWith(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const hasLocale = localeVariables.some((name) => Object.hasOwn(env, name))
  return { ...userEnvironment, ...(hasLocale ? {} : defaultLocale), ...env }
}

/** The images' statically linked bash, which runs in place of the usual one, because it starts faster. Older disks lack it. */
export const staticBash = '/usr/lib/dock/bash'

/** Returns the part of a request that runs a command in a login bash. */
export function inLoginBash(command: string): Pick<ExecRequest, 'argv' | 'executable'> {
  return { argv: ['/bin/bash', '-lc', command], executable: staticBash }
}

/** Returns the part of an exec request that sets the user and the shell. `env` overrides the default environment. */
export function loginShell(
  command: string,
  env: Readonly<Record<string, string>> = {},
): Pick<ExecRequest, 'argv' | 'executable' | 'env' | 'uid' | 'gid'> {
  return {
    ...inLoginBash(command),
    env: environmentWith(env),
    uid: dockUser.uid,
    gid: dockUser.gid,
  }
}

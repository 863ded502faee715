/** All commands, in the order of the help. */
import { cp } from './commands/copy.ts'
import { branch, create, ls, resume, rm, show, stop } from './commands/docks.ts'
import { exec, shell } from './commands/exec.ts'
import { login, logout, whoami } from './commands/login.ts'
import { ssh } from './commands/ssh.ts'
import type { Command } from './program/command.ts'

export const commands: readonly Command[] = [
  ...[login, logout, whoami],
  ...[create, ls, show, exec, shell, ssh, cp],
  ...[stop, resume, branch, rm],
]

/** All commands, in the order of the help. */
import { api } from './commands/api.ts'
import { audit } from './commands/audit.ts'
import { completeCommand, completion } from './commands/completion.ts'
import { configSsh } from './commands/config-ssh.ts'
import { cp } from './commands/copy.ts'
import { create } from './commands/create.ts'
import { branch, ls, resume, rm, show, stop } from './commands/docks.ts'
import { doctor } from './commands/doctor.ts'
import { environmentCommands } from './commands/environments.ts'
import { exec, shell } from './commands/exec.ts'
import { hostCommands } from './commands/hosts.ts'
import { imageCommands } from './commands/images.ts'
import { keyCommands } from './commands/keys.ts'
import { login, logout, whoami } from './commands/login.ts'
import { mcp } from './commands/mcp.ts'
import { organizationCommands } from './commands/organizations.ts'
import { portCommands } from './commands/ports.ts'
import { logs, ps, stats } from './commands/processes.ts'
import { runCommands } from './commands/runs.ts'
import { snapshotCommands } from './commands/snapshots.ts'
import { ssh } from './commands/ssh.ts'
import { sshKeyCommands } from './commands/ssh-keys.ts'
import { sync } from './commands/sync.ts'
import { templateCommands } from './commands/templates.ts'
import { webhookCommands } from './commands/webhooks.ts'
import type { Command } from './program/command.ts'

export const commands: readonly Command[] = [
  login,
  logout,
  whoami,
  create,
  ls,
  show,
  exec,
  shell,
  ssh,
  configSsh,
  cp,
  sync,
  ...portCommands,
  ps,
  logs,
  stats,
  stop,
  resume,
  branch,
  rm,
  ...snapshotCommands,
  ...templateCommands,
  ...imageCommands,
  ...environmentCommands,
  ...runCommands,
  ...organizationCommands,
  audit,
  ...keyCommands,
  ...sshKeyCommands,
  ...webhookCommands,
  ...hostCommands,
  api,
  mcp,
  completion,
  doctor,
  completeCommand(() => commands),
]

/**
 * Writes an Environment's secret files into a Dock. A command that runs as the Dock user reads the concatenated contents
 * from its standard input. It first removes the files that were applied before, which are listed in ~/.dock.
 */
import type { SecretFiles } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { dockUser, staticBash, userEnvironment } from '../sandboxes/login-shell.ts'

const timeoutMs = 30_000

// The arguments contain only paths and lengths, which are not secret. The script runs as the Dock user, so a link leads no
// further than that user may go. If the user replaced a file by a folder, the folder is kept. A missing work folder is made
// again rather than failing the boot. Starting a program costs 20 ms in a sandbox, so only mkdir and rm are used.
const script = `
set -u
umask 077
LC_ALL=C
[ -d /home/user/work ] || mkdir -p /home/user/work
cd /home/user/work || exit 21
list=/home/user/.dock/environment-files
old=()
if [ -f "$list" ]; then mapfile -d '' -t listed <"$list"; else listed=(); fi
for file in "\${listed[@]}"; do
  if [ -L "$file" ] || [ ! -d "$file" ]; then old+=("$file"); fi
done
paths=() folders=()
for ((at = 2; at <= $#; at += 2)); do
  file=\${!at}
  paths+=("$file")
  if [ -L "$file" ] || { [ -e "$file" ] && [ ! -d "$file" ]; }; then old+=("$file"); fi
  case $file in */*) [ -d "\${file%/*}" ] || folders+=("\${file%/*}") ;; esac
done
if [ "\${#old[@]}" -gt 0 ]; then rm -f -- "\${old[@]}" || exit 22; fi
if [ $# -eq 0 ]; then rm -f "$list"; exit 0; fi
[ -d /home/user/.dock ] || folders+=(/home/user/.dock)
if [ "\${#folders[@]}" -gt 0 ]; then mkdir -p -- "\${folders[@]}" || exit 23; fi
printf '%s\\0' "\${paths[@]}" >"$list" || exit 24
for file in "\${paths[@]}"; do
  contents=''
  if [ "$1" -gt 0 ]; then IFS= read -rN "$1" contents || exit 25; fi
  printf %b "$contents" >"./$file" || exit 26
  shift 2
done
exit 0
`

/** Escapes contents for `printf %b`: shell variables cannot hold NUL bytes. */
const escaped = (contents: string): Buffer =>
  Buffer.from(contents.replaceAll('\\', '\\\\').replaceAll('\0', '\\0000'))

/** Throws if the sandbox does not accept the files. */
export async function applyFiles(
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  files: SecretFiles,
): Promise<void> {
  const contents = files.map((file) => escaped(file.contents))
  const { exitCode, stderr } = await driver.exec(sandbox, {
    // Without --norc, bash reads the user's .bashrc when its standard input is a socket.
    argv: [
      '/bin/bash',
      '--norc',
      '-c',
      script,
      'environment',
      ...files.flatMap(({ path }, at) => [String(contents[at]?.length ?? 0), path]),
    ],
    executable: staticBash,
    env: userEnvironment,
    ...{ cwd: '/', uid: dockUser.uid, gid: dockUser.gid, timeoutMs, outputLimitBytes: 4096 },
    ...(files.length > 0 ? { input: Buffer.concat(contents) } : {}),
  })
  if (exitCode === 0) return
  throw new Error(
    `the sandbox did not accept the secret files: exit ${exitCode}: ${stderr.toString('utf8').trim()}`,
  )
}

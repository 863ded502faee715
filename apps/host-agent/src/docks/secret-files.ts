/**
 * Puts an Environment's secret files into a Dock: by one command as the Dock user, which reads their contents, one behind
 * the other, from its standard input. What an earlier delivery left is removed first; the list of it is kept beside the
 * user's log.
 */
import type { SecretFiles } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { dockUser, userEnvironment } from './login-shell.ts'

const timeoutMs = 30_000

// The arguments are paths and lengths, which are no secrets. Everything happens as the Dock user: no link leads further than they may go.
// A folder where a file was is the user's own by now, and a work folder that they removed is no reason not to boot.
// Another program costs 20 ms in a sandbox, so the shell's own means do it but for folders and what stands in the way.
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

/** As `printf %b` reads it: a shell's variables hold no zeros. */
const escaped = (contents: string): Buffer =>
  Buffer.from(contents.replaceAll('\\', '\\\\').replaceAll('\0', '\\0000'))

/** Throws when the sandbox does not take them. */
export async function deliverFiles(
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  files: SecretFiles,
): Promise<void> {
  const contents = files.map((file) => escaped(file.contents))
  const { exitCode, stderr } = await driver.exec(sandbox, {
    // Where its input is a socket, bash would read the user's .bashrc.
    argv: [
      '/bin/bash',
      '--norc',
      '-c',
      script,
      'environment',
      ...files.flatMap(({ path }, at) => [String(contents[at]?.length ?? 0), path]),
    ],
    env: userEnvironment,
    ...{ cwd: '/', uid: dockUser.uid, gid: dockUser.gid, timeoutMs, outputLimitBytes: 4096 },
    ...(files.length > 0 ? { input: Buffer.concat(contents) } : {}),
  })
  if (exitCode === 0) return
  throw new Error(`the secret files were not taken: exit ${exitCode}: ${stderr.toString('utf8').trim()}`)
}

/**
 * Puts an Environment's secret files into a Dock: by one command as the Dock user, which reads them as a tar archive
 * from its standard input. What an earlier delivery left is removed first; the list of it is kept beside the user's log.
 */
import type { SecretFiles } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import tar from 'tar-stream'
import { dockUser, userEnvironment } from './login-shell.ts'

const timeoutMs = 30_000

// The arguments are paths, which are no secrets. Everything happens as the Dock user: no link leads further than they may go.
// A folder where a file was is the user's own by now, and a work folder that they removed is no reason not to boot.
const script = `
set -u
umask 077
[ -d /home/user/work ] || mkdir -p /home/user/work
cd /home/user/work || exit 21
list=/home/user/.dock/environment-files
old=()
if [ -f "$list" ]; then mapfile -d '' -t listed <"$list"; else listed=(); fi
for file in "\${listed[@]}"; do
  if [ -L "$file" ] || [ ! -d "$file" ]; then old+=("$file"); fi
done
if [ "\${#old[@]}" -gt 0 ]; then rm -f -- "\${old[@]}" || exit 22; fi
if [ $# -eq 0 ]; then rm -f "$list"; exit 0; fi
[ -d /home/user/.dock ] || mkdir -p /home/user/.dock || exit 23
printf '%s\\0' "$@" >"$list" || exit 24
exec tar -x -p --no-same-owner --unlink-first -f - || exit 25
`

const archiveOf = async (files: SecretFiles): Promise<Buffer> => {
  const pack = tar.pack()
  for (const { path, contents } of files) pack.entry({ name: path, mode: 0o600 }, contents)
  pack.finalize()
  const parts: Buffer[] = []
  for await (const part of pack) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** Throws when the sandbox does not take them. */
export const deliverFiles = async (
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  files: SecretFiles,
): Promise<void> => {
  const { exitCode, stderr } = await driver.exec(sandbox, {
    // Where its input is a socket, bash would read the user's .bashrc.
    argv: ['/bin/bash', '--norc', '-c', script, 'environment', ...files.map(({ path }) => path)],
    env: userEnvironment,
    ...{ cwd: '/', uid: dockUser.uid, gid: dockUser.gid, timeoutMs, outputLimitBytes: 4096 },
    ...(files.length > 0 ? { input: await archiveOf(files) } : {}),
  })
  if (exitCode === 0) return
  throw new Error(`the secret files were not taken: exit ${exitCode}: ${stderr.toString('utf8').trim()}`)
}

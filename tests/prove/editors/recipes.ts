/**
 * The recipes of docs/ssh.md, word for word, as a person with a new home folder follows them. Only the names that the page
 * makes up are replaced: those of the server, its port and the Dock.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { must, type Setting } from './setting.ts'

const page = new URL('../../../docs/ssh.md', import.meta.url)

/** Returns the blocks that are marked as recipes. */
const recipesOf = (text: string): string[] =>
  [...text.matchAll(/^```sh recipe\n(.*?)^```$/gms)].map((match) => match[1] ?? '')

/** Proves it, and returns what the line of the proof says. */
export async function proveRecipes(setting: Setting): Promise<string> {
  const { admin, client } = setting.server
  const { ssh: gateway } = await client.call('readConfig', {})
  const recipes = recipesOf(await readFile(page, 'utf8'))
  must(recipes.length >= 6, `docs/ssh.md has ${recipes.length} recipes`)
  const commands = recipes
    .join('\n')
    .replaceAll('https://dock.example', () => admin.baseUrl)
    .replaceAll('dock.example', '127.0.0.1')
    .replaceAll('2222', String(gateway?.port))
    .replaceAll('brave-otter', setting.dock.name ?? setting.dock.id)
  const script = join(setting.folder, 'recipes.sh')
  // OpenSSH takes the home folder from the list of users, so the new one is mounted in its place. The shared connection
  // stays open, and so does its stderr: hence the file.
  await writeFile(
    script,
    `set -e
mkdir -p home/.ssh project/folder; mount --bind home "$(getent passwd 0 | cut -d: -f6)"
export HOME="$(getent passwd 0 | cut -d: -f6)" GIT_CONFIG_GLOBAL=/dev/null; read -r key
exec >recipes.log 2>&1 </dev/null
ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519
cd project; git init -qb main; git config user.email a@b; git config user.name A
head -c 3000000 /dev/urandom >folder/large; git add .; git commit -qm first
trap 'ssh -O exit ${setting.dock.name}.dock' EXIT
set -x
${commands}`,
    { mode: 0o600 },
  )
  try {
    await setting.run('unshare', ['--mount', 'bash', script], `${admin.apiKey}\n`)
  } catch (error) {
    throw new Error(
      (await readFile(join(setting.folder, 'recipes.log'), 'utf8').catch(() => '')).slice(-1500),
      {
        cause: error,
      },
    )
  }
  const sums = await setting.look(
    'cd /home/user && git -C project.git show main:folder/large | sha256sum; cat folder/large | sha256sum; cat copy/large | sha256sum; cat site/folder/large | sha256sum',
  )
  must(new Set(sums.trim().split('\n')).size === 1, `the copies differ: ${sums}`)
  return `${recipes.length} recipes of docs/ssh.md were followed word for word`
}

/** The kinds of work that `script/bench inside` times: what people do in a Dock, from the worst for gVisor to plain computing. */

/** Shell text, run in a folder of its own. `prepare` is not timed; `work` may run again after it. */
export type Work = { name: string; prepare?: string; work: string }

const files = 5_000

/** Writes a tree like node_modules: many folders with a few small files each. */
const writeTree = `python3 - tree ${files} <<'END'
import os, sys
for number in range(int(sys.argv[2])):
    folder = f'{sys.argv[1]}/package-{number // 50}/lib-{number // 10 % 5}'
    if number % 10 == 0: os.makedirs(folder)
    with open(f'{folder}/{number}.js', 'w') as file: file.write(f'export const n = {number}\\n' * (number % 120))
END`
const needTree = `[[ -d tree ]] || {
${writeTree}
}`

const needRepository = `[[ -d repository/.git ]] || {
  ${needTree}
  cp -r tree repository
  git -C repository init -q
  git -C repository add .
  git -C repository -c user.name=bench -c user.email=bench@dock.localhost commit -qm tree
}`

const sqlite = `python3 - <<'END'
import os, sqlite3
if os.path.exists('rows.db'): os.remove('rows.db')
db = sqlite3.connect('rows.db', isolation_level=None)
db.execute('pragma synchronous = off')
db.execute('create table rows (id integer primary key, text text)')
for number in range(2000): db.execute('insert into rows (text) values (?)', (f'row {number}',))
END`

export const works: readonly Work[] = [
  { name: '300 × /bin/true', work: 'for i in {1..300}; do /bin/true; done' },
  { name: '300 subshells', work: 'for i in {1..300}; do (:); done' },
  { name: '10 × python3 -c 1', work: 'for i in {1..10}; do python3 -c 1; done' },
  { name: `write ${files} small files`, prepare: 'rm -rf tree', work: writeTree },
  { name: `cp -a of ${files} files`, prepare: `${needTree}; rm -rf copy`, work: 'cp -a tree copy' },
  {
    name: `untar ${files} files`,
    prepare: `${needTree}; tar -cf tree.tar tree; rm -rf out; mkdir out`,
    work: 'tar -xf tree.tar -C out',
  },
  {
    name: `rm -rf of ${files} files`,
    prepare: `${needTree}; rm -rf copy; cp -a tree copy`,
    work: 'rm -rf copy',
  },
  { name: 'find, warm', prepare: `${needTree}; find tree >/dev/null`, work: 'find tree -type f >/dev/null' },
  {
    name: 'grep -r, warm',
    prepare: `${needTree}; grep -r nothing tree || true`,
    work: 'grep -r nothing tree || true',
  },
  {
    name: `git clone of ${files} files`,
    prepare: `${needRepository}; rm -rf clone`,
    work: 'git clone -q --no-hardlinks repository clone',
  },
  {
    name: 'git status, warm',
    prepare: `${needRepository}; git -C repository status -s`,
    work: 'git -C repository status -s',
  },
  { name: 'sqlite, 2,000 commits, sync off', work: sqlite },
  {
    name: 'write 512 MiB and sync',
    prepare: 'rm -f large',
    work: 'dd if=/dev/zero of=large bs=1M count=512 conv=fsync status=none',
  },
  { name: 'read 512 MiB, warm', prepare: 'cat large >/dev/null', work: 'cat large >/dev/null' },
  { name: 'sha256 of 512 MiB', work: 'sha256sum large >/dev/null' },
  { name: 'python3, 3 million additions', work: `python3 -c 'sum(i * i for i in range(3_000_000))'` },
]

/** Returns a script for bash that does the work and prints the microseconds that it took. */
export function scriptOf({ prepare, work }: Work): string {
  return `set -eu
mkdir -p ~/inside && cd ~/inside
${prepare ?? ':'}
begin=$EPOCHREALTIME
${work}
end=$EPOCHREALTIME
printf 'took %s\\n' $((\${end/[.,]/} - \${begin/[.,]/}))`
}

/** Returns the milliseconds that a script printed. */
export function readTook(output: string): number {
  const microseconds = /took (\d+)\n/.exec(output)?.[1]
  if (microseconds === undefined) throw new Error(`the work printed no time:\n${output}`)
  return Number(microseconds) / 1000
}

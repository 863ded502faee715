/** git: clone, push, and a push into a folder where somebody works. rsync: a tree of awkward files, both ways. */
import { must, type Setting } from './setting.ts'

/** Proves it, and returns what the line of the proof says. */
export async function proveGit(setting: Setting): Promise<string> {
  await setting.ssh(`git config --global user.email a@b; git config --global user.name A
    git init -qb main app && cd app && git config receive.denyCurrentBranch updateInstead
    for n in $(seq 300); do head -c 3000 /dev/urandom >f$n; done; git add . && git commit -qm first`)
  const log = await setting.bash(`
    git clone -q ${setting.host}:app app && cd app
    git config user.email a@b; git config user.name A
    head -c 20000000 /dev/urandom >large; git add large; git commit -qm second
    git push -q origin main; git fetch -q; git status -sb | head -1; git rev-parse HEAD`)
  const head = log.trim().split('\n').at(-1) ?? ''
  const there = await setting.look(
    'cd /home/user/app && git rev-parse HEAD && git status --porcelain && git fsck',
  )
  must(there.split('\n')[0] === head && head.length === 40, `the Dock has ${there}, not ${head}`)
  must(there.trim() === head, `the folder in the Dock is not clean: ${there}`)
  const sums = await setting.bash(
    `cd app && sha256sum large | cut -c1-64; ssh ${setting.host} 'cd app && sha256sum large' | cut -c1-64`,
  )
  must(new Set(sums.trim().split('\n')).size === 1, 'the pushed file differs')
  await setting.bash(`git init -q --bare empty.git; ssh -T ${setting.host} git init -q --bare empty.git
    cd app; git push -q --mirror ${setting.host}:empty.git; git clone -q --mirror ${setting.host}:empty.git ../mirror
    git -C ../mirror fsck --strict`)
  return 'clone, push into a folder with a checkout, mirror; 20 MB and 300 files, every object whole'
}

/** Its times are old: rsync leaves a time that differs in less than a second, which a fresh copy may have by chance. */
const makeTree = `
  rm -rf tree back
  mkdir -p tree/deep/er tree/empty 'tree/a b' && cd tree
  for n in $(seq 400); do head -c $((n * 97 % 9000)) /dev/urandom >deep/f$n; done
  head -c 30000000 /dev/urandom >large; truncate -s 50M sparse; printf x >'a b/ü 漢 "q" $x'; printf 'line\\n' >$'new\\nline'
  ln -s deep/f1 link; ln deep/f2 hard; chmod 700 deep/er; chmod 4711 large; chmod 444 deep/f3; mkfifo pipe
  find . -depth -exec touch -h -d '2001-02-03 04:05:06.123456789' {} +
`
/** Prints what rsync keeps of each file: type, mode, size, time, target of links, content. */
const listTree = `find . -printf '%P|%y|%m|%s|%T@|%l\\n' | sed 's/|d|\\([0-9]*\\)|[0-9]*|/|d|\\1||/' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum; find . -links +1 -type f | wc -l`

const differences = (wanted: string, seen: string): string => {
  const expected = new Set(wanted.split('\n'))
  return seen
    .split('\n')
    .filter((line) => !expected.has(line))
    .slice(0, 5)
    .join('\n')
}

/** Proves it, and returns what the line of the proof says. */
export async function proveRsync(setting: Setting): Promise<string> {
  await setting.bash(makeTree)
  await setting.ssh('rm -rf tree')
  const there = `${setting.host}:tree`
  const begin = performance.now()
  await setting.bash(`rsync -aHS tree/ ${there}/; rsync -aHS ${there}/ back/`)
  const seconds = (performance.now() - begin) / 1000
  const list = (folder: string): Promise<string> => setting.bash(`cd ${folder}; ${listTree}`)
  const [here, back] = [await list('tree'), await list('back')]
  must(here === back && here.length > 20_000, `the tree that came back differs: ${differences(here, back)}`)
  must(
    (await setting.ssh(`cd tree; ${listTree}`)).replace(/^\|d.*$/m, '') === here.replace(/^\|d.*$/m, ''),
    'the tree in the Dock differs',
  )
  const again = await setting.bash(`rsync -aHS --checksum --itemize-changes tree/ ${there}/`)
  must(again === '', `rsync would change ${again}`)
  await setting.bash(`rm tree/large tree/deep/f9; rsync -a --delete tree/ ${there}/`)
  must((await setting.ssh('ls tree/large tree/deep/f9 2>&1 | grep -c "No such"')) === '2\n', '--delete')
  return `400 awkward files and 30 MB went there and back byte-identical in ${seconds.toFixed(1)} s; nothing changed was nothing sent`
}

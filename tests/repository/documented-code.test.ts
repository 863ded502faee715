/** Every block of code in the README and the guides is run by a test, or stands here with the reason. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const languages = ['', 'sh', 'bash', 'zsh', 'fish', 'ts', 'js', 'python', 'toml']

/** Which test runs the blocks of a language in a document; `snippets.test.ts` runs those that are marked. */
const runElsewhere: Readonly<Record<string, readonly string[]>> = {
  'docs/cli.md': ['zsh', 'fish'], // script/prove cli
  'docs/mcp.md': ['sh', 'toml'], // tests/e2e/snippets.test.ts
  'docs/webhooks.md': ['js', 'python'], // tests/repository/webhook-verifiers.test.ts
  'docs/python.md': ['python'], // tests/e2e/python-snippets.test.ts
  'docs/sdk.md': ['python'],
}
const notRun: Readonly<Record<string, string>> = {
  'dock run start acme/app 7 --instruction "Only change the tests."': 'needs a repository at GitHub',
  'git clone … dock && cd dock': 'script/server: the start of every end-to-end test',
  'pip install ./sdks/python':
    'needs a registry for httpx; sdks/python/tests/test_package.py builds and imports the package',
}

it('is run', () => {
  const documents = ['README.md', ...globSync('docs/*.md', { cwd: root })]
  const left = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/^( *)```([^\n]*)\n(.*?)^\1```$/gms)].flatMap(
      ([, , info = '', code = '']) => {
        const [language = '', mark] = info.split(' ')
        const [first = ''] = code.split('\n')
        const isRun = mark === 'run' || mark === 'held' || runElsewhere[document]?.includes(language)
        return !languages.includes(language) || isRun || notRun[first] ? [] : [`${document}: ${first}`]
      },
    ),
  )
  expect(left).toEqual([])
})

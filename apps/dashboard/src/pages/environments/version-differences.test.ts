import type { DescribedVersion } from '@dock/sdk'
import { expect, it } from 'vitest'
import { differencesOf } from './version-differences.ts'

const version: DescribedVersion = {
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  dockCount: 0,
  varNames: ['KEPT', 'GONE'],
  files: [
    { path: 'same', size: 1 },
    { path: 'grown', size: 1 },
  ],
  repos: [],
  safeForThirdParties: false,
  passGithub: true,
  passSecrets: true,
  passDockCredentials: false,
  passAgentsCredentials: false,
}

it('names what came, went and changed, and nothing else', () => {
  const after: DescribedVersion = {
    ...version,
    varNames: ['KEPT', 'NEW'],
    files: [
      { path: 'same', size: 1 },
      { path: 'grown', size: 2 },
    ],
    repos: [
      {
        id: 'r',
        provider: 'github',
        repositoryId: '1',
        fullName: 'owner/name',
        baseBranch: 'main',
        hasSetupScript: false,
      },
    ],
    passDockCredentials: true,
  }
  expect(differencesOf(version, after).map(({ sign, text }) => `${sign} ${text}`)).toEqual([
    '+ variable NEW',
    '- variable GONE',
    '~ file grown has another size',
    '+ repository owner/name at main',
    '~ An API key of Dock: on',
  ])
  expect(differencesOf(version, { ...version, version: 2 })).toEqual([])
})

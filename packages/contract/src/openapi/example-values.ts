/** Ids and times that the examples of the document share. */
export const ids = {
  dock: '0198f0a2-6f0c-7c59-9a49-0a8a1d1f4a11',
  copy: '0198f0a7-22b4-7d10-8c3e-5b6f7a8c9d02',
  workspace: '0198ef11-04d2-7a63-b1f0-2c4d6e8f0a13',
  organization: '0198ef10-9e61-7b0a-8d5c-7f1e3a5b9c24',
  user: '0198ef10-1c9f-7e35-a2b7-4d6f8a0c2e35',
  other: '0198ef12-7b3d-7c84-9f06-1e3a5c7d9f46',
  host: '0198eeff-3f5b-7d29-b8a1-6c8e0f2a4b57',
  snapshot: '0198f0b1-5d7e-7f13-8a4c-9b1d3f5a7c68',
  template: '0198f0b4-8a2c-7e57-b3d9-0c2e4a6f8b79',
  environment: '0198ef13-2e6a-7a91-a5c7-3d5f7b9c1e80',
  repository: '0198ef13-9c4f-7b38-8e12-5f7a9c1d3e91',
  process: '0198f0a3-41d8-7c06-9b5e-7a9c1e3f5b02',
  key: '0198ef14-6b8d-7d72-b4f3-9c1e3a5f7d13',
  endpoint: '0198ef15-0f3c-7e49-a6d8-1e3a5c7f9b24',
  event: '0198f0a2-f1b6-7f80-8c27-3a5c7e9f1d35',
  attempt: '0198f0a3-08e9-7a1b-9d4c-5c7e9f1b3d46',
  run: '0198f0c0-77a5-7b62-b0e3-7e9f1b3d5c57',
  invitation: '0198ef16-5a7c-7c93-8f14-9f1b3d5e7a68',
  notification: '0198f0a9-c3d1-7d04-a7b5-1b3d5f7a9c79',
} as const

const createdAt = '2026-03-02T09:00:00.000Z'
export const times = {
  createdAt,
  changedAt: '2026-03-02T09:00:03.412Z',
  laterAt: '2026-03-02T17:30:00.000Z',
  expiresAt: '2026-04-01T09:00:00.000Z',
} as const

/** The two times that most objects have. */
export const stamps = { createdAt, updatedAt: times.changedAt }

import { describe, expect, it } from 'vitest'
import { parseObjectStoreUrl } from './open-object-store.ts'

describe('the address of an object store', () => {
  it('is parsed into its parts', () => {
    const address =
      's3://key:se%2Fcret@bucket/some/prefix/?endpoint=http://127.0.0.1:9000&region=eu-1&style=virtual'
    expect(parseObjectStoreUrl(address)).toEqual({
      endpoint: 'http://127.0.0.1:9000',
      region: 'eu-1',
      bucket: 'bucket',
      prefix: 'some/prefix',
      pathStyle: false,
      accessKeyId: 'key',
      secretAccessKey: 'se/cret',
    })
    expect(parseObjectStoreUrl('s3://k:s@b')).toMatchObject({
      prefix: '',
      pathStyle: true,
      region: 'us-east-1',
    })
  })

  it('is refused with an error that says what to correct, without the secret', () => {
    for (const address of [
      'http://bucket',
      'bucket',
      's3://bucket',
      's3://k:hunter2@b?style=other',
      's3://k:hunter2@b?endpoint=nowhere',
    ]) {
      let message = ''
      try {
        parseObjectStoreUrl(address)
      } catch (error) {
        message = (error as Error).message
      }
      expect(message).toContain('OBJECT_STORE_URL')
      expect(message).not.toContain('hunter2')
    }
  })
})

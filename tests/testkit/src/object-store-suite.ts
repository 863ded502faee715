/** The test suite that every object store must pass. */
import { randomBytes, randomUUID } from 'node:crypto'
import { ObjectMissing, type ObjectStore } from '@dock/control-plane/src/object-store/object-store.ts'
import { beforeAll, describe, expect, it } from 'vitest'

/** Registers the suite for one implementation. `open` is called once, before the first test. */
export function describeObjectStore(name: string, open: () => Promise<ObjectStore>): void {
  describe(`object store: ${name}`, () => {
    let store: ObjectStore
    const place = `suite/${randomUUID()}`
    beforeAll(async () => {
      store = await open()
    }, 120_000)

    const keysBelow = async (prefix: string): Promise<string[]> => {
      const keys: string[] = []
      for await (const object of store.list(prefix)) keys.push(object.key)
      return keys.sort()
    }

    it('returns the bytes that were put, from 0 bytes to 4 MiB', async () => {
      for (const size of [0, 1, 4 * 1024 * 1024]) {
        const bytes = randomBytes(size)
        await store.put(`${place}/bytes-${size}`, bytes)
        expect((await store.get(`${place}/bytes-${size}`)).equals(bytes)).toBe(true)
      }
    })

    it('replaces an object', async () => {
      await store.put(`${place}/twice`, Buffer.from('first'))
      await store.put(`${place}/twice`, Buffer.from('second'))
      expect((await store.get(`${place}/twice`)).toString()).toBe('second')
    })

    it('throws ObjectMissing for a missing object, and deletes it without error', async () => {
      await expect(store.get(`${place}/absent`)).rejects.toThrow(ObjectMissing)
      await store.delete(`${place}/absent`)
      await store.put(`${place}/short-lived`, Buffer.from('x'))
      await store.delete(`${place}/short-lived`)
      await expect(store.get(`${place}/short-lived`)).rejects.toThrow(ObjectMissing)
    })

    it('lists objects by prefix, with sizes; a prefix need not end at a folder', async () => {
      await store.put(`${place}/list/a`, Buffer.from('12345'))
      await store.put(`${place}/list/b/c`, Buffer.from('x'))
      await store.put(`${place}/list-other`, Buffer.from('x'))
      expect(await keysBelow(`${place}/list/`)).toEqual([`${place}/list/a`, `${place}/list/b/c`])
      expect(await keysBelow(`${place}/list`)).toHaveLength(3)
      expect(await keysBelow(`${place}/nothing/`)).toEqual([])
      for await (const object of store.list(`${place}/list/a`)) expect(object.sizeBytes).toBe(5)
    })

    it('keeps one complete version when many writers replace one object at once', async () => {
      const versions = Array.from({ length: 20 }, (_, each) => Buffer.alloc(50_000, each))
      await Promise.all(versions.map((bytes) => store.put(`${place}/raced`, bytes)))
      const stayed = await store.get(`${place}/raced`)
      expect(versions.some((bytes) => bytes.equals(stayed))).toBe(true)
    })

    it('refuses keys that could leave the store, and other invalid keys', async () => {
      for (const key of ['../outside', '/root', 'a//b', 'a/../b', 'A', '.new-x', '']) {
        await expect(store.put(key, Buffer.from('x'))).rejects.toThrow('invalid object key')
      }
    })
  })
}

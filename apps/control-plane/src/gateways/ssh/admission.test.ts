import { limits } from '@dock/contract'
import { expect, it } from 'vitest'
import { createAdmission } from './admission.ts'

const { unauthenticatedMax, unauthenticatedPerAddressMax, unauthenticatedPerNetworkMax } = limits.ssh

/** Returns how many of many connections from different addresses of one network may come in. */
const fill = (admission: ReturnType<typeof createAdmission>, network: string): (() => void)[] =>
  Array.from({ length: unauthenticatedMax + 1 }, (_, at) =>
    admission.enter(`${network}-${at}`, network),
  ).filter((leave) => leave !== null)

it('leaves room for others, whatever addresses one network has', () => {
  const admission = createAdmission()
  const first = fill(admission, 'a')
  expect(first).toHaveLength(unauthenticatedPerNetworkMax)
  expect(fill(admission, 'b')).toHaveLength(
    Math.min(unauthenticatedPerNetworkMax, unauthenticatedMax - unauthenticatedPerNetworkMax),
  )
  expect(admission.enter('c', 'c')).toBeNull()
  // Leaving twice counts once.
  for (const leave of first) {
    leave()
    leave()
  }
  expect(fill(admission, 'c')).toHaveLength(unauthenticatedPerNetworkMax)
  expect(admission.enter('d', 'd')).toBeNull()
})

it('gives one address a part of its network', () => {
  const admission = createAdmission()
  const entered = Array.from({ length: unauthenticatedPerNetworkMax }, () => admission.enter('a', 'n'))
  expect(entered.filter((leave) => leave !== null)).toHaveLength(unauthenticatedPerAddressMax)
  expect(admission.enter('b', 'n')).not.toBeNull()
})

/**
 * Attack: the operator restores a backup of the storage. An attacker who once had a code, a refresh token or the cookie of
 * a session uses it again: in the copy, it is neither spent nor revoked. Also while the recovery is not complete, or a
 * server writes during it.
 *
 * Decision 176.
 */
import { recoverStorage } from '@grantry/core'
import { storageSpace } from '@grantry/core/tenants'
import { copyItems } from '@grantry/storage-drivers/copy'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { recordKinds } from '../../packages/core/src/records/keys.ts'
import { fixture } from '../support/fixture.ts'
import { allKept, allRefused, serviceAfter, serviceBefore } from '../support/restored-service.ts'

async function restoredCopy() {
  const storage = memoryDriver()
  const before = await serviceBefore(storage)
  const copy = memoryDriver()
  await copyItems({ from: storage, to: copy, final: true })
  await before.continueService()
  return { before, copy }
}

describe('what was spent or revoked after a backup', () => {
  test('is unspent in the copy: this is why a recovery is necessary', async () => {
    const { before, copy } = await restoredCopy()
    const { spent } = await serviceAfter(copy, before)
    expect(spent).toEqual({ code: 200, refresh: 200, access: 200, session: true })
  })

  test('is refused after the recovery, and accounts are there', async () => {
    const { before, copy } = await restoredCopy()
    await recoverStorage({ storage: copy })
    expect(await serviceAfter(copy, before)).toEqual({ spent: allRefused, kept: allKept })
  })

  test('is refused after a recovery that was repeated', async () => {
    const { before, copy } = await restoredCopy()
    const first = await recoverStorage({ storage: copy })
    expect(first.removed).toBeGreaterThan(5)
    expect((await recoverStorage({ storage: copy })).removed).toBe(0)
    expect(await serviceAfter(copy, before)).toEqual({ spent: allRefused, kept: allKept })
  })

  test('is refused in the parts of tenants', async () => {
    const copy = memoryDriver()
    const part = storageSpace(copy, 'acme')
    part.setItem('refresh:1', '{}', { ttl: 60 })
    part.setItem('spent:refresh:2', '{}', { ttl: 60 })
    await recoverStorage({ storage: copy })
    expect([part.getItem('refresh:1'), part.getItem('spent:refresh:2')]).toEqual([null, '{}'])
  })
})

describe('a recovery that is not complete', () => {
  const unfinished = /a recovery that is not complete; run "grantry storage recover"/u

  test('lets no provider start, also none of a tenant, and continues', async () => {
    const { before, copy } = await restoredCopy()
    let calls = 0
    const dying = {
      ...copy,
      commit(changes: Parameters<NonNullable<typeof copy.commit>>[0]) {
        calls += 1
        if (calls > 1) throw new Error('killed')
        const { remove } = changes
        return copy.commit?.({ ...changes, remove: remove.slice(0, 3) }) ?? []
      },
      async *listItems() {
        for await (const batch of copy.listItems()) for (const item of batch) yield [item]
      },
    }
    await expect(recoverStorage({ storage: dying })).rejects.toThrow('killed')
    await expect(fixture({ storage: copy })).rejects.toThrow(unfinished)
    await expect(fixture({ storage: storageSpace(copy, 'acme') })).rejects.toThrow(unfinished)
    await recoverStorage({ storage: copy })
    expect(await serviceAfter(copy, before)).toEqual({ spent: allRefused, kept: allKept })
  })

  test('fails, and stays so, if a server writes meanwhile', async () => {
    const copy = memoryDriver()
    copy.setItem('code:1', '{}', { ttl: 60 })
    let passes = 0
    const used = {
      ...copy,
      listItems() {
        passes += 1
        if (passes === 2) copy.setItem('code:2', '{}', { ttl: 60 })
        return copy.listItems()
      },
    }
    await expect(recoverStorage({ storage: used })).rejects.toThrow(
      '1 items were written meanwhile; stop the service, then repeat the recovery',
    )
    await expect(fixture({ storage: copy })).rejects.toThrow(unfinished)
  })

  test('is refused for the target of a copy that is not complete', async () => {
    const copy = memoryDriver()
    copy.setItem('copy', '{}', { ttl: 60 })
    await expect(recoverStorage({ storage: copy })).rejects.toThrow('a copy that is not complete')
  })
})

const envelope = (more: object) => JSON.stringify({ version: 1, expiresAt: 9_999_999_999, value: {}, ...more })

const kept = [
  'spent',
  'revoked',
  'denied',
  'epoch',
  'revision',
  'failure',
  'passed',
  'known',
  'count',
  'entry',
  'entries',
]
const fatesOfKinds = Object.keys(recordKinds).map((kind): [string, string, boolean] => [
  `${kind}:1`,
  envelope({}),
  kept.includes(kind),
])

test.each<readonly [key: string, value: string, isKept: boolean]>([
  ...fatesOfKinds,
  ['plugin:1', envelope({ kept: true }), true],
  ['plugin:1', envelope({ kept: 'true' }), false],
  ['plugin:1', envelope({ kept: true, version: 2 }), false],
  ['plugin:1', '{"kept":true', false],
  ['refresh:1', envelope({ kept: true }), false],
  ['code:1', envelope({ value: { kept: true } }), false],
  ['ticket:1', envelope({ kept: true }), false],
  ['constructor:1', envelope({ kept: true }), false],
  [`space:${'a'.repeat(32)}:entry:1`, envelope({}), true],
  [`space:${'a'.repeat(32)}:access:1`, envelope({}), false],
  ['space:entry:1', envelope({}), false],
])('of the item %s with %s, a recovery keeps: %s', async (key, value, isKept) => {
  const copy = memoryDriver()
  copy.setItem(key, value, { ttl: 60 })
  await recoverStorage({ storage: copy })
  expect(copy.getItem(key)).toBe(isKept ? value : null)
})

// Two processes change a registration, and one of them is so slow that its claim for the change is free again.
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'
import { createClientRecords } from '../../plugins/registration/registration-records.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'

test.each(['change', 'remove'] as const)('a late %s by an outdated record has no effect', async (act) => {
  const { provider, clock } = await createTestProvider({ plugins: [kitPlugin('test')] })
  const kit = kitOf(provider, 'test')
  const records = createClientRecords(
    { firstTokenWithin: 1000, unusedLifetime: 1000 },
    () => ({ problem: '' }) as never,
  )
  const added = { metadata: {}, issuedAt: clock.now(), secrets: [], token: { hash: 'a' } }
  const clientId = await records.add(added, kit)
  const read = async () => {
    const record = await records.get(clientId, kit)
    if (record === undefined) throw new Error('The client is gone')
    return record
  }
  const outdated = await read()
  expect(await records.change(clientId, outdated, { ...outdated, token: { hash: 'b' } }, kit)).toBe(true)
  // Longer than a claim lives.
  clock.advance(61)
  const isDone =
    act === 'change'
      ? await records.change(clientId, outdated, { ...outdated, token: { hash: 'c' } }, kit)
      : await records.remove(clientId, outdated, kit)
  expect(isDone).toBe(false)
  expect((await read()).token).toEqual({ hash: 'b' })
})

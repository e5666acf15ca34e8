import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'

async function rejectedAs(tear: (good: string) => string): Promise<unknown[]> {
  const items = new Map<string, string>()
  const f: Fixture = await fixture({ storage: mapDriver(items) })
  const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
  for (const [key, value] of items) if (key.startsWith('access:')) items.set(key, tear(value))
  expect((await f.post('introspection', { token: body.access_token }, api1)).body).toEqual({ active: false })
  return f.events.flatMap((event) => (event.type === 'record_rejected' ? [[event.kind, event.reason]] : []))
}

test.each([
  ['a later release', (good: string) => good.replace('"version":1', '"version":2')],
  ['an earlier one', (good: string) => good.replace('"version":1', '"version":0')],
])('a record of %s counts as absent, and the event says that its version is unknown', async (_release, tear) => {
  expect(await rejectedAs(tear)).toEqual([['access', 'version_unknown']])
})

test.each([
  ['is truncated', (good: string) => good.slice(0, -5)],
  ['has no version', (good: string) => good.replace('"version":1,', '')],
  ['has the right version and other content', (good: string) => good.replace('"claims"', '"claim"')],
])('a record that %s counts as absent, and the event says that it is malformed', async (_how, tear) => {
  expect(await rejectedAs(tear)).toEqual([['access', 'record_malformed']])
})

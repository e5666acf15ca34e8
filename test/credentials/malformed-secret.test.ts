import type { ClientOptions, ProviderOptions } from '@grantry/core'
import { sha256Of } from '@grantry/core/testing'
import { describe, expect, test } from 'vitest'
import { clients, fixture, other } from '../support/fixture.ts'

type Secrets = NonNullable<ClientOptions['secrets']>

const grant = { grant_type: 'client_credentials', scope: 'api1' }
const good: Secrets[number] = { sha256: sha256Of('web-secret') }
const hexOf = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

const malformed: readonly [string, Secrets[number]][] = [
  ['no base64', { sha256: 'not base64 at all' }],
  ['hex', { sha256: hexOf(sha256Of('web-secret')) }],
  ['no padding', { sha256: sha256Of('web-secret').replaceAll('=', '') }],
  ['a line break', { sha256: `${sha256Of('web-secret')}\n` }],
  ['too short', { sha256: btoa('short') }],
  ['empty', { sha256: '' }],
  ['a SHA-256 in the place of a SHA-512', { sha512: sha256Of('web-secret') }],
  ['nothing at all', {}],
  ['an expiry that is no date', { sha256: sha256Of('web-secret'), expiresAt: 'next tuesday' }],
]

const asArray = (secrets: Secrets): ProviderOptions['clients'] => [
  { ...clients[0], clientId: 'web', secrets },
  ...clients.filter(({ clientId }) => clientId === other[0]),
]

const asStore = (secrets: Secrets): ProviderOptions['clients'] => {
  const all = asArray(secrets) as readonly ClientOptions[]
  return { find: (clientId) => all.find((client) => client.clientId === clientId) }
}

const sources = [
  { source: 'an array', make: asArray },
  { source: 'a client store', make: asStore },
] as const
const cases = sources.flatMap((from) => malformed.map(([what, secret]) => ({ ...from, what, secret })))

const reported = expect.objectContaining({ type: 'secret_skipped', owner: 'client web' })

describe('a malformed stored secret', () => {
  test.each(cases)('2.15 it is skipped and the next one counts: $what, from $source', async ({ make, secret }) => {
    const f = await fixture({ clients: make([secret, { sha256: sha256Of('good-secret') }]) })
    expect((await f.post('token', grant, ['web', 'good-secret'])).status).toBe(200)
    expect((await f.post('token', grant, ['web', 'web-secret'])).status).toBe(401)
  })

  test.each(cases)('2.15 it is reported: $what, from $source', async ({ make, secret }) => {
    const f = await fixture({ clients: make([secret, good]) })
    await f.post('token', grant, ['web', 'web-secret'])
    expect(f.events).toContainEqual(reported)
  })

  test.each(sources)('2.15 where there is no other, start and other clients go on, from $source', async ({ make }) => {
    const f = await fixture({ clients: make([{ sha256: 'not base64 at all' }]) })
    const { status, body } = await f.post('token', grant, ['web', 'web-secret'])
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect((await f.post('token', grant, other)).status).toBe(200)
  })

  // Just then the operator needs to know: every request of the client fails.
  test.each(sources)('2.15 where there is no other, it is reported, from $source', async ({ make }) => {
    const f = await fixture({ clients: make([{ sha256: 'not base64 at all' }]) })
    await f.post('token', grant, ['web', 'web-secret'])
    expect(f.events).toContainEqual(reported)
  })

  test.each(sources)('2.15 a good secret is not reported, from $source', async ({ make }) => {
    const f = await fixture({ clients: make([good]) })
    expect((await f.post('token', grant, ['web', 'web-secret'])).status).toBe(200)
    expect(f.events.filter((event) => event.type === 'secret_skipped')).toEqual([])
  })
})

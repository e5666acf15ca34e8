import type { ClientOptions, ProviderOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, fixture, otherClient } from '../support/fixture.ts'

type Secrets = NonNullable<ClientOptions['secrets']>

const grant = { grant_type: 'client_credentials', scope: 'api1' }
const good: Secrets[number] = { sha256: sha256Of('web-secret') }
const hexOf = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

const base64 = 'is not the base64 of a SHA-256; create one with hashSecret() or grantry hash-secret'
const malformed: readonly (readonly [what: string, secret: Secrets[number], sentence: string])[] = [
  ['no base64', { sha256: 'not base64 at all' }, `.sha256 ${base64}`],
  [
    'hex',
    { sha256: hexOf(sha256Of('web-secret')) },
    '.sha256 is hexadecimal, not base64; create one with hashSecret() or grantry hash-secret',
  ],
  ['no padding', { sha256: sha256Of('web-secret').replaceAll('=', '') }, `.sha256 ${base64}`],
  ['a line break', { sha256: `${sha256Of('web-secret')}\n` }, `.sha256 ${base64}`],
  ['too short', { sha256: btoa('short') }, `.sha256 ${base64}`],
  ['empty', { sha256: '' }, `.sha256 ${base64}`],
  [
    'a SHA-256 instead of a SHA-512',
    { sha512: sha256Of('web-secret') },
    '.sha512 is not the base64 of a SHA-512; create one with hashSecret() or grantry hash-secret',
  ],
  ['nothing at all', {}, ' has neither sha256 nor sha512; create one with hashSecret() or grantry hash-secret'],
  [
    'an expiry that is not a date',
    { sha256: sha256Of('web-secret'), expiresAt: 'next tuesday' },
    '.expiresAt is not a time; use epoch seconds, or an ISO 8601 date and time with a zone, such as 2030-01-31T10:00:00Z',
  ],
]

const listed = (secrets: Secrets): readonly ClientOptions[] => [
  { ...clients[0], clientId: 'web', secrets },
  ...clients.filter(({ clientId }) => clientId === otherClient[0]),
]

const asStore = (secrets: Secrets): ProviderOptions['clients'] => {
  const all = listed(secrets)
  return { find: (clientId) => all.find((client) => client.clientId === clientId) }
}

const reported = expect.objectContaining({ type: 'secret_skipped', owner: 'client web' })

describe('a malformed secret of a client store', () => {
  test.each(malformed)('2.15 is skipped, and the next one is used: %s', async (_what, secret) => {
    const f = await fixture({ clients: asStore([secret, { sha256: sha256Of('good-secret') }]) })
    expect((await f.post('token', grant, ['web', 'good-secret'])).status).toBe(200)
    expect((await f.post('token', grant, ['web', 'web-secret'])).status).toBe(401)
  })

  test.each(malformed)('2.15 is reported: %s', async (_what, secret) => {
    const f = await fixture({ clients: asStore([secret, good]) })
    await f.post('token', grant, ['web', 'web-secret'])
    expect(f.events).toContainEqual(reported)
  })

  test('2.15 if it is the only one, this client fails, other clients work, and it is reported', async () => {
    const f = await fixture({ clients: asStore([{ sha256: 'not base64 at all' }]) })
    const { status, body } = await f.post('token', grant, ['web', 'web-secret'])
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect(f.events).toContainEqual(reported)
    expect((await f.post('token', grant, otherClient)).status).toBe(200)
  })

  test('2.15 a valid secret is not reported', async () => {
    const f = await fixture({ clients: asStore([good]) })
    expect((await f.post('token', grant, ['web', 'web-secret'])).status).toBe(200)
    expect(f.events.filter((event) => event.type === 'secret_skipped')).toEqual([])
  })
})

// The value may be the secret itself, so no message quotes it.
describe('a malformed secret in the options', () => {
  test.each(malformed)('2.15 of a client is rejected at start: %s', async (_what, secret, sentence) => {
    await expect(fixture({ clients: listed([good, secret]) })).rejects.toMatchObject({
      name: 'TypeError',
      message: `clients[0] ("web"): secrets[1]${sentence}`,
    })
  })

  test.each(malformed)('2.15 of a scope is rejected at start: %s', async (_what, secret, sentence) => {
    await expect(fixture({ scopes: [{ name: 'api1' }, { name: 'api2', secrets: [secret] }] })).rejects.toMatchObject({
      name: 'TypeError',
      message: `scopes[1] ("api2"): secrets[0]${sentence}`,
    })
  })
})

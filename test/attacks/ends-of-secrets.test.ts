// Attack: an old secret leaked. Its end is written in a form that the server reads later than its author meant, or not at
// all: in the time zone of the process, in milliseconds, as a day that does not exist. The secret still works.
import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { clients, fixture } from '../support/fixture.ts'

type Secrets = NonNullable<ClientOptions['secrets']>

const grant = { grant_type: 'client_credentials', scope: 'api1' }
const zones = ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles']
const zone = process.env.TZ

afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

const inStore = (secrets: Secrets) =>
  fixture({
    clients: { find: (id) => (id === 'web' ? { ...clients[0], clientId: id, secrets } : undefined) },
  })
const configured = (secrets: Secrets) => fixture({ clients: [{ ...clients[0], clientId: 'web', secrets }] })

// The clock of the fixture is 2027-01-15T08:00:00Z.
const live: readonly string[] = [
  '2027-01-16',
  '2027-01-15T08:00:01Z',
  '2027-01-15T09:00:01+01:00',
  '2027-01-15 00:00:01-08',
  '2027-01-15T08:00:01.500Z',
  '2027-01-15T08:01Z',
]
const ended: readonly string[] = ['2027-01-15', '2027-01-15T08:00:00Z', '2027-01-15T08:59:59+0100', '2001-01-01']
const unreadable: readonly unknown[] = [
  '2999-01-01T00:00:00',
  '2999-01-01 00:00:00.000',
  '2999-02-30',
  '2999-02-30T00:00:00Z',
  '2999-13-01',
  '2999-01-01T25:00:00Z',
  '1/1/2999',
  'Tue, 01 Jan 2999 00:00:00',
  '/Date(32472144000000)/',
  '32472144000',
  'never 5',
  '',
  ' ',
  `2999-01-01T00:00:00.${'0'.repeat(50_000)}`,
  1_800_000_000_000,
  Number.POSITIVE_INFINITY,
  Number.NaN,
  2 ** 60,
  true,
  [],
  {},
]

describe.each(zones)('in the time zone %s', (TZ) => {
  test.each(live)('a secret is valid before its end, %s', async (expiresAt) => {
    process.env.TZ = TZ
    const f = await configured([{ sha256: sha256Of('old'), expiresAt }])
    expect((await f.post('token', grant, ['web', 'old'])).status).toBe(200)
    f.clock.advance(86_400)
    expect((await f.post('token', grant, ['web', 'old'])).status).toBe(401)
  })

  test.each(ended)('a secret is not valid from its end on, %s', async (expiresAt) => {
    process.env.TZ = TZ
    const f = await configured([{ sha256: sha256Of('old'), expiresAt }])
    expect((await f.post('token', grant, ['web', 'old'])).status).toBe(401)
  })

  test.each(unreadable.map((end, index) => [index, end]))(
    'a secret whose end cannot be read is never valid: %i',
    async (_, end) => {
      process.env.TZ = TZ
      const secret = { sha256: sha256Of('old'), expiresAt: end as string }
      const f = await inStore([secret, { sha256: sha256Of('new') }])
      expect((await f.post('token', grant, ['web', 'old'])).status).toBe(401)
      expect((await f.post('token', grant, ['web', 'new'])).status).toBe(200)
      await expect(configured([secret])).rejects.toThrow(
        'clients[0] ("web"): secrets[0].expiresAt is not a time; use epoch seconds, or an ISO 8601 date and time with a zone, such as 2030-01-31T10:00:00Z',
      )
    },
  )
})

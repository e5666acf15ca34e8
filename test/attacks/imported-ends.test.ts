// Attack: a secret has leaked, and ends soon, or has ended. The export has the end in a form that the import cannot read, or
// reads in the time zone of the process: the imported secret never ends.
import { importHydra, importIdentityServer, importKeycloak, importOidcProvider } from '@grantry/administration/import'
import { describe, expect, test } from 'vitest'
import { hash, plain, read, statusOf } from '../support/imported.ts'

describe('the end of a secret', () => {
  const seconds = {
    keycloak: (end: unknown) =>
      plain[0]?.[2]('the-secret-of-it', { attributes: { 'client.secret.expiration.time': end } }),
    hydra: (end: unknown) => plain[2]?.[2]('the-secret-of-it', { client_secret_expires_at: end }),
    'oidc-provider': (end: unknown) => plain[3]?.[2]('the-secret-of-it', { client_secret_expires_at: end }),
  }
  const systems = [
    ['keycloak', importKeycloak],
    ['hydra', importHydra],
    ['oidc-provider', importOidcProvider],
  ] as const

  // The clock of the fixture is 1,800,000,000.
  test.each(systems)('of %s that is past, or cannot be read, is kept or ends the secret', async (name, from) => {
    for (const [end, status] of [
      [0, 200],
      [undefined, 200],
      ['0', 200],
      [1_900_000_000, 200],
      ['1900000000', 200],
      [1_700_000_000, 401],
      ['1700000000', 401],
      [1_700_000_000_000, 401],
      ['2020-01-01T00:00:00Z', 401],
      [-1, 401],
      [Number.POSITIVE_INFINITY, 401],
      [1.5, 401],
      [true, 401],
      [[], 401],
    ] as const) {
      const { clients } = await read(from, seconds[name](end))
      expect([end, await statusOf(clients, 'the-secret-of-it')]).toEqual([end, status])
    }
  })

  const ends: readonly (readonly [end: unknown, status: number])[] = [
    [undefined, 200],
    [null, 200],
    ['2037-01-01T00:00:00', 200],
    ['2037-01-01T00:00:00.1234567Z', 200],
    ['/Date(2114380800000)/', 200],
    ['2027-01-15T08:00:01', 200],
    ['2027-01-15T08:00:00', 401],
    ['2027-01-15T09:00:00+01:00', 401],
    ['2020-01-01', 401],
    ['/Date(1577836800000)/', 401],
    ['/Date(1577836800000+0100)/', 401],
    ['/Date(-62135596800000)/', 401],
    ['/Date(x)/', 401],
    [2_114_380_800, 401],
    [2_114_380_800_000, 401],
    ['2114380800', 401],
    ['01/01/2037', 401],
    ['2037-02-30T00:00:00', 401],
    ['', 401],
    [{}, 401],
    [false, 401],
  ]

  test.each(ends)('of IdentityServer, %j: status %i', async (Expiration, status) => {
    for (const TZ of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles']) {
      const before = process.env.TZ
      process.env.TZ = TZ
      try {
        const { clients } = await read(importIdentityServer, [
          {
            ClientId: 'machine',
            AllowedGrantTypes: ['client_credentials'],
            ClientSecrets: [{ Value: hash('the secret'), Expiration }],
          },
        ])
        expect(await statusOf(clients, 'the secret')).toBe(status)
      } finally {
        if (before === undefined) delete process.env.TZ
        else process.env.TZ = before
      }
    }
  })

  test('of a key is never dropped: the key is left out', async () => {
    const key = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }
    const jwk = (value: unknown, more: object = {}) => ({ Type: 'JWK', Value: JSON.stringify(value), ...more })
    const { clients, findings } = await read(importIdentityServer, [
      {
        ClientId: 'machine',
        AllowedGrantTypes: ['client_credentials'],
        ClientSecrets: [
          jwk(key),
          jwk(key, { Expiration: '2001-01-01T00:00:00' }),
          jwk(key, { expiration: 5 }),
          jwk({ ...key, d: 'private' }),
          jwk({ kty: 'oct', k: 'shared' }),
          jwk({ kty: 'oct' }),
          jwk(null),
          { Type: 'JWK', Value: '##KEY##' },
        ],
      },
    ])
    expect(clients[0]).toMatchObject({ jwks: { keys: [key] } })
    expect(findings.filter(({ member }) => /^ClientSecrets/u.test(member ?? ''))).toHaveLength(7)
  })
})

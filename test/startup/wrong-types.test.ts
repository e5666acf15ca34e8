import { createProvider, type ProviderOptions, signingKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const good = (): ProviderOptions => ({
  issuer: 'https://id.example.com',
  keys: signingKeys(),
  storage: mapDriver(),
  clients: [],
  scopes: [{ name: 'api1' }],
  plugins: [clientCredentials()],
})

const start = (wrong: object) => createProvider({ ...good(), ...wrong })

const users = 'users must be an object with authenticate(), isActive() or claims()'
const clients = 'clients must be an array of clients, or an object with find()'

describe('an option of the wrong type', () => {
  test.each(['issuer', 'keys', 'storage', 'clients', 'plugins'])('%s is required', async (name) => {
    const options: Record<string, unknown> = { ...good() }
    delete options[name]
    await expect(createProvider(options as never)).rejects.toMatchObject({
      name: 'TypeError',
      message: `createProvider(): ${name} is required`,
    })
  })

  test.each([undefined, null, 'https://id.example.com', 7])('%j instead of all options', async (options) => {
    await expect(createProvider(options as never)).rejects.toMatchObject({
      name: 'TypeError',
      message: expect.stringMatching(/^createProvider\(\).* must be an object/u),
    })
  })

  test.each([
    ['issuer', undefined, 'issuer must be an http or https URL'],
    ['issuer', new URL('https://id.example.com'), 'issuer must be an http or https URL'],
    ['keys', undefined, 'keys must be storedKeys(), signingKeys() or an array of JWKs'],
    ['keys', 'ES256', 'keys must be storedKeys(), signingKeys() or an array of JWKs'],
    ['storage', null, 'storage must be a storage driver'],
    ['storage', 'memory', 'storage must be a storage driver'],
    ['storage', () => mapDriver(), 'storage must be a storage driver'],
    ['clients', undefined, clients],
    ['clients', 'web', clients],
    ['scopes', {}, 'scopes must be an array of scopes'],
    ['scopes', null, 'scopes must be an array of scopes'],
    ['users', null, users],
    ['users', () => undefined, users],
    ['plugins', 'password', 'plugins must be an array of plugins'],
    ['plugins', null, 'plugins must be an array of plugins'],
    ['endpoints', null, 'endpoints must be an object, not null'],
    ['endpoints', { token: 1 }, 'endpoints.token must be true, false, or a path such as /oauth/token'],
    ['introspection', 'unauthorized', 'introspection must be an object, not a string'],
    ['introspection', { unrelatedScope: '401' }, 'introspection.unrelatedScope must be "inactive" or "unauthorized"'],
    ['clockTolerance', '5', 'clockTolerance must be a number of seconds'],
    ['clockTolerance', Number.NaN, 'clockTolerance must be a number of seconds'],
    ['clockTolerance', -1, 'clockTolerance must be 0 to 60 seconds'],
    ['clockTolerance', 61, 'clockTolerance must be 0 to 60 seconds'],
    ['bodyLimit', '64k', 'bodyLimit must be a number'],
    ['bodyLimit', 0, 'bodyLimit must be at least 1'],
    ['bodyLimit', 1.5, 'bodyLimit must be a whole number'],
    ['abuseControl', 3, 'abuseControl must be an object, not a number'],
    ['abuseControl', null, 'abuseControl must be an object, not null'],
    [
      'abuseControl',
      { passwords: { perUser: { failures: 0 } } },
      'abuseControl.passwords.perUser.failures must be a whole number from 1 to 1000000',
    ],
    [
      'abuseControl',
      { passwords: { perUser: { attempts: 5 } } },
      'abuseControl.passwords.perUser.attempts is not a known option here; known options: failures, window',
    ],
    [
      'abuseControl',
      { passwords: { perClient: { failures: 10, perAddress: 11 } } },
      'abuseControl.passwords.perClient must have a perAddress of at most failures',
    ],
    [
      'abuseControl',
      { passwords: { perClient: { perAddress: 0 } } },
      'abuseControl.passwords.perClient.perAddress must be a whole number from 1 to 1000000',
    ],
    [
      'abuseControl',
      { credentials: { perAddress: { window: '5m' } } },
      'abuseControl.credentials.perAddress.window must be a number of seconds',
    ],
    [
      'abuseControl',
      { validation: { requests: 1.5 } },
      'abuseControl.validation.requests must be a whole number from 1 to 1000000',
    ],
    ['abuseControl', { validation: true }, 'abuseControl.validation must be an object, not a boolean'],
    ['authorizationEndpoint', '/login', 'authorizationEndpoint must be a URL'],
    ['observe', { log: true }, 'observe must be a function'],
    ['runtime', null, 'runtime must be an object, not null'],
  ])('%s: %j', async (name, value, message) => {
    await expect(start({ [name]: value })).rejects.toMatchObject({
      name: 'TypeError',
      message: `createProvider(): ${message}`,
    })
  })

  test.each([
    [
      'clients without find()',
      { clients: {} },
      /clients must be an array of clients, or an object with find\(clientId\)/u,
    ],
    ['clients whose find is not a function', { clients: { find: 1 } }, /clients.*find/u],
    [
      'users whose authenticate is not a function',
      { plugins: [password()], users: { authenticate: 5 } },
      /users.*authenticate/u,
    ],
    ['users whose isActive is not a function', { users: { isActive: true } }, /users.*isActive/u],
    ['a runtime whose now is not a function', { runtime: { now: 1_800_000_000 } }, /runtime\.now/u],
  ])('%s: rejected at start, not at the first request', async (_title, wrong, message) => {
    await expect(start(wrong)).rejects.toMatchObject({ name: 'TypeError', message: expect.stringMatching(message) })
  })

  test.each([
    [{}, 'clients[0]: clientId is required'],
    [null, "clients[0] must be an object such as { clientId: 'web' }, not null"],
    [{ clientId: '' }, 'clients[0]: clientId must be 1 to 100 printable ASCII characters'],
    [
      { clientId: 'x'.repeat(101) },
      `clients[0] ("${'x'.repeat(101)}"): clientId must be 1 to 100 printable ASCII characters, or a URL of at most 2000`,
    ],
    [{ clientId: 'a', public: 'yes' }, 'clients[0] ("a"): public must be true or false'],
    [{ clientId: 'a', grantTypes: 'password' }, 'clients[0] ("a"): grantTypes must be an array of strings'],
    [{ clientId: 'a', scopes: [1] }, 'clients[0] ("a"): scopes[0] must be a string'],
    [
      { clientId: 'a', secrets: sha256Of('x') },
      'clients[0] ("a"): secrets must be an array of { sha256 } or { sha512 }; create one with hashSecret() or grantry hash-secret',
    ],
    [
      { clientId: 'a', redirectUris: ['/callback'] },
      'clients[0] ("a"): redirectUris[0] must be an absolute URI such as https://app.example.com/callback, of at most 2000 characters without a fragment',
    ],
    [
      { clientId: 'a', allowedCorsOrigins: ['https://app.example.com/'] },
      'clients[0] ("a"): allowedCorsOrigins[0] must be an origin such as https://app.example.com, without a path',
    ],
    [{ clientId: 'a', accessTokenFormat: 'JWT' }, 'clients[0] ("a"): accessTokenFormat must be "jwt" or "reference"'],
    [{ clientId: 'a', accessTokenLifetime: '1h' }, 'clients[0] ("a"): accessTokenLifetime must be a number of seconds'],
    [
      { clientId: 'a', accessTokenLifetime: 0 },
      'clients[0] ("a"): accessTokenLifetime must be a whole number of seconds from 1 to 315360000 (ten years)',
    ],
    [
      { clientId: 'a', refreshToken: { retryWindow: 301 } },
      'clients[0] ("a"): refreshToken.retryWindow must be at most 300 seconds',
    ],
  ])('a client %j', async (client, message) => {
    await expect(start({ clients: [client] })).rejects.toMatchObject({ name: 'TypeError', message })
  })

  test.each([
    [{}, 'scopes[0]: name is required'],
    ['api1', "scopes[0] must be an object such as { name: 'api1' }, not a string"],
    [{ name: 'two words' }, 'scopes[0]: name must be a scope name (RFC 6749 section 3.3)'],
    [{ name: 'x'.repeat(301) }, `scopes[0] ("${'x'.repeat(301)}"): name must be at most 300 characters`],
    [{ name: 'a', claims: 'email' }, 'scopes[0] ("a"): claims must be an array of strings'],
    [{ name: 'a', identity: 1 }, 'scopes[0] ("a"): identity must be true or false'],
    [{ name: 'a', audience: '' }, 'scopes[0] ("a"): audience must not be empty'],
  ])('a scope %j', async (scope, message) => {
    await expect(start({ scopes: [scope] })).rejects.toMatchObject({ name: 'TypeError', message })
  })

  // An operator who configures the secret itself instead of its hash finds the error message in a log: it must not
  // contain the secret.
  test.each([
    ['a string instead of { sha256 }', ['plain-web-secret']],
    ['a number as the hash', [{ sha256: 4711004711 }]],
    ['a string as the hash', [{ sha256: 'plain-web-secret' }]],
  ])('the error does not quote a secret: %s', async (_title, secrets) => {
    for (const wrong of [
      { clients: [{ clientId: 'web', grantTypes: ['client_credentials'], secrets }] },
      { clients: [{ clientId: 'web', public: true, secrets }] },
      { clients: [], scopes: [{ name: 'api1', secrets }, { name: 'two words' }] },
    ]) {
      const { message } = await start(wrong).then(
        // A malformed hash is skipped and reported: no error message could quote it.
        () => new Error('it started'),
        (error: Error) => error,
      )
      expect(message).not.toMatch(/plain-web-secret|4711004711/u)
    }
  })
})

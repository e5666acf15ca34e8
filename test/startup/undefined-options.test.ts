import {
  clientSchema,
  createProvider,
  endpointNames,
  type GrantResult,
  type ProviderOptions,
  parseConfiguration,
  signingKeys,
  storedKeys,
  storedKeysSchema,
} from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, mapDriver, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { scopeSchema } from '../../packages/core/src/directory/scope.ts'
import { providerOptionsSchema } from '../../packages/core/src/options.ts'
import { clientFactory } from '../../packages/storage-drivers/src/redis/client-factory.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { testGrant } from '../support/test-grant.ts'

// `{ scopes: settings.scopes }` passes `undefined` if the setting is absent. That is the same as no option.

const required = ['issuer', 'keys', 'storage', 'clients', 'plugins']
const good: ProviderOptions = {
  issuer: 'https://id.example.com',
  keys: signingKeys(),
  storage: mapDriver(),
  clients: [],
  plugins: [clientCredentials()],
  endpoints: { accessTokenValidation: false },
}
const start = (more: Partial<ProviderOptions>) => createProvider({ ...good, ...more })

/** An object in which all of these names are `undefined`. */
const nothing = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, undefined]))
const namesIn = (entries: object, except: readonly string[] = []) =>
  Object.keys(entries).filter((name) => !except.includes(name))

const { introspection, runtime } = providerOptionsSchema.entries

describe('an option that is undefined keeps its default', () => {
  test.each(namesIn(providerOptionsSchema.entries, required))('%s', async (name) => {
    await expect(start({ [name]: undefined })).resolves.toMatchObject({ issuer: good.issuer })
  })

  test.each<[string, Partial<ProviderOptions>]>([
    ['endpoints', { endpoints: { ...nothing(endpointNames), accessTokenValidation: false } }],
    ['introspection', { introspection: nothing(namesIn(introspection.wrapped.entries)) }],
    ['runtime', { runtime: nothing(namesIn(runtime.default ?? {})) }],
    ['abuseControl', { abuseControl: { passwords: undefined, credentials: undefined, validation: undefined } }],
    [
      'abuseControl, one level deeper',
      {
        abuseControl: {
          passwords: nothing(['perUserAndAddress', 'perUser', 'perClient', 'rememberAddress']),
          credentials: nothing(['perClientAndAddress', 'perAddress']),
          validation: nothing(['failures', 'window', 'requests']),
        },
      },
    ],
    [
      'abuseControl, at its leaves',
      {
        abuseControl: {
          passwords: {
            perUser: nothing(['failures', 'window']),
            perClient: nothing(['failures', 'window', 'perAddress']),
          },
          credentials: { perAddress: nothing(['failures', 'window']) },
        },
      },
    ],
    ['users', { users: nothing(['authenticate', 'isActive', 'claims']) }],
    ['clients.find()', { clients: { find: () => undefined, verifySecret: undefined, isOriginAllowed: undefined } }],
    ['storage', { storage: { ...mapDriver(), ...nothing(['name', 'open', 'dispose']) } }],
    ['clients[0]', { clients: [{ ...nothing(namesIn(clientSchema.pipe[0].entries)), clientId: 'a', public: true }] }],
    ['scopes[0]', { scopes: [{ ...nothing(namesIn(scopeSchema.pipe[0].entries)), name: 'a' }] }],
    ['keys[0]', { keys: signingKeys({ algorithm: undefined }) }],
  ])('in %s', async (_, options) => {
    await expect(start(options)).resolves.toMatchObject({ issuer: good.issuer })
  })

  test('in storedKeys()', () => {
    const names = namesIn(storedKeysSchema.entries, ['encryptionSecret'])
    expect(storedKeys(nothing(names)).stored).toEqual(storedKeys().stored)
  })

  test('in the configuration of the server', () => {
    const set = { issuer: good.issuer, clients: [] }
    const names = namesIn(configurationSchema.entries, Object.keys(set))
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
    expect(plain(parseConfiguration(configurationSchema, { ...nothing(names), ...set }, ''))).toEqual(
      plain(parseConfiguration(configurationSchema, set, '')),
    )
  })

  test('next to jwks in keys of the server', () => {
    const keys = { ...nothing(['algorithm', 'algorithms', 'rotateAfter', 'refused']), jwks: 'keys.json' }
    expect(() => parseConfiguration(configurationSchema, { ...good, ...{ clients: [] }, keys }, '')).toThrow(/storage/u)
    const configuration = { issuer: good.issuer, clients: [], keys }
    expect(parseConfiguration(configurationSchema, configuration, '').keys).toMatchObject({ jwks: 'keys.json' })
  })

  test('in connection of the Redis driver, and keeps the TLS of its URL', () => {
    const connection = { tls: undefined, connectionName: undefined, password: undefined }
    const { options } = clientFactory({ url: 'rediss://a:secret@127.0.0.1:1', connection }, 1000).create()
    expect(options).toMatchObject({ tls: {}, connectionName: 'grantry', username: 'a', password: 'secret' })
  })

  test('in a test provider, also for the clock', async () => {
    const all = { ...nothing(namesIn(providerOptionsSchema.entries, ['plugins'])), plugins: [clientCredentials()] }
    const { provider, clock, post } = await createTestProvider({ ...all, runtime: { now: undefined } })
    expect(provider.issuer).toBe('https://id.example.com')
    const { body } = await post('token', { grant_type: 'client_credentials', scope: 'api1' }, testClient)
    const { exp } = (await post('introspection', { token: body.access_token }, ['api1', 'api1-secret'])).body
    expect(exp).toBe(clock.now() + 3600)
  })
})

describe('a member of a grant result that is undefined is absent', () => {
  const resulting = async (result: Partial<GrantResult>) => {
    const grant = testGrant({
      grantType: 'urn:example:badge',
      handle: ({ scopes }): GrantResult => ({ scopes, ...result }),
    })
    const { clock, post } = await createTestProvider({ plugins: [grant] })
    const response = await post('token', { grant_type: 'urn:example:badge', scope: 'api1' }, testClient)
    const token = String(response.body.access_token)
    return { ...response, clock, claims: (await post('introspection', { token }, ['api1', 'api1-secret'])).body }
  }

  test('at the top level', async () => {
    const names = ['subject', 'claims', 'nonce', 'redeems', 'continues', 'demands', 'issue', 'response']
    const { status, claims } = await resulting(nothing(names))
    expect([status, claims.active]).toEqual([200, true])
  })

  test('in issue', async () => {
    const { body } = await resulting({ issue: nothing(['accessToken', 'refreshToken', 'identityToken', 'lifetime']) })
    expect(body).toMatchObject({ expires_in: 3600 })
  })

  test('in the subject, where the defaults apply', async () => {
    const subject = { sub: '1', amr: ['badge'], authTime: undefined, idp: undefined, acr: undefined }
    const { claims, clock } = await resulting({ subject })
    expect(claims).toMatchObject({ sub: '1', idp: 'local', auth_time: clock.now() })
    expect(claims).not.toHaveProperty('acr')
  })
})

describe('undefined is refused where it would turn a protection off', () => {
  test('as encryptionSecret: an environment variable that is not set', () => {
    expect(() => storedKeys({ encryptionSecret: process.env.NOT_SET as string })).toThrow(
      'storedKeys(): encryptionSecret must be a string; to store the keys without encryption, omit it',
    )
  })

  test('as a demand of a grant', async () => {
    const grant = testGrant({
      grantType: 'urn:example:badge',
      handle: ({ scopes }): GrantResult => ({ scopes, demands: { proof_key: undefined } as never }),
    })
    const { post } = await createTestProvider({ plugins: [grant] })
    const { status } = await post('token', { grant_type: 'urn:example:badge', scope: 'api1' }, testClient)
    expect(status).toBe(500)
  })
})

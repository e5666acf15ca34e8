// OpenID Connect Discovery 1.0 section 3: providers MUST list RS256. Keys that the host does not choose contain one as
// soon as an identity token can be issued, and none before that.
import {
  type ClientOptions,
  defineClientSource,
  definePlugin,
  type ProviderOptions,
  signingKeys,
  storedKeys,
} from '@grantry/core'
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { builtInPlugins, clients, type Fixture, fixture, redirectUri, webJwt } from '../support/fixture.ts'
import { generateFixedRsaKeys } from '../support/keys.ts'
import { inState, kidsOf, published, sharedRing } from './shared-ring.ts'

generateFixedRsaKeys()

const both = ['ES256', 'RS256']
const offered = (f: Fixture) => f.provider.metadata.id_token_signing_alg_values_supported

async function tokensOf(f: Fixture): Promise<{ access_token: string; id_token: string }> {
  const code = await f.code({ clientId: webJwt[0] })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return (await f.post('token', form, webJwt)).body
}

const generatedRsaKeys = (): number =>
  vi.mocked(crypto.subtle.generateKey).mock.calls.filter(([algorithm]) => JSON.stringify(algorithm).includes('RSA'))
    .length

const sources = [
  ['storedKeys()', () => storedKeys()],
  ['signingKeys()', () => signingKeys()],
] as const

describe.each(sources)('%s', (_name, keys) => {
  test('9.7 offers RS256, and the first identity token has it; access tokens do not', async () => {
    const f = await fixture({ keys: keys() })
    expect(offered(f)).toEqual(both)
    const { access_token, id_token } = await tokensOf(f)
    expect([access_token, id_token].map((token) => decodeProtectedHeader(token).alg)).toEqual(both)
    const jwks = createLocalJWKSet({ keys: [...(await published(f))] as JWK[] })
    for (const token of [access_token, id_token]) {
      await jwtVerify(token, jwks, { currentDate: new Date(f.clock.now() * 1000) })
    }
    const validated = await f.post('identityTokenValidation', { token: id_token, client_id: webJwt[0] })
    expect(validated.status).toBe(200)
  })

  test('9.7 publishes a key for each algorithm that discovery announces, also in the first response', async () => {
    const f = await fixture({ keys: keys() })
    expect([...new Set((await published(f)).map(({ alg }) => alg))]).toEqual(offered(f))
    const signing = (await f.provider.keys.list()).filter(({ state }) => state === 'current')
    expect(signing.map(({ algorithm }) => algorithm)).toEqual(both)
  })

  const machine = { ...clients[0], grantTypes: ['client_credentials'] } as ClientOptions
  test.each([
    ['the clients have no users', { clients: [machine] }],
    ['the clients may not ask for openid', { clients: clients.map((client) => ({ ...client, scopes: ['api1'] })) }],
    ['the clients are disabled', { clients: clients.map((client) => ({ ...client, enabled: false })) }],
    ['there are no clients', { clients: [] }],
    [
      'openid is disabled',
      { scopes: [{ name: 'api1' }, { name: 'api2' }, { name: 'openid', identity: true, enabled: false }] },
    ],
    [
      'a client store has clients without users',
      { clients: { find: () => machine }, plugins: builtInPlugins.slice(0, 1) },
    ],
  ] satisfies [string, Partial<ProviderOptions>][])('9.7 has no RSA key if %s', async (_why, options) => {
    const f = await fixture({ keys: keys(), ...options })
    expect(offered(f)).toEqual(['ES256'])
    expect((await published(f)).map(({ alg }) => alg)).not.toContain('RS256')
    expect(generatedRsaKeys()).toBe(0)
  })

  const plugin = definePlugin('directory', [defineClientSource({ find: () => undefined })])
  test.each([
    ['a client store', { clients: { find: () => undefined } }],
    ['a plugin', { clients: [], plugins: [...builtInPlugins, plugin] }],
  ] satisfies [string, Partial<ProviderOptions>][])('9.7 offers RS256 to the clients of %s', async (_of, options) => {
    expect(offered(await fixture({ keys: keys(), ...options }))).toEqual(both)
  })
})

test.each([
  ['storedKeys()', () => storedKeys({ algorithms: ['ES256'] })],
  ['signingKeys()', () => signingKeys({ algorithm: 'ES256' })],
] as const)('%s with an algorithm has no other', async (_name, keys) => {
  const f = await fixture({ keys: keys() })
  expect(offered(f)).toEqual(['ES256'])
  expect(decodeProtectedHeader((await tokensOf(f)).id_token).alg).toBe('ES256')
  expect(generatedRsaKeys()).toBe(0)
})

describe('signingKeys()', () => {
  test('delays no start: the RSA key is generated when it is first needed, once', async () => {
    const f = await fixture({ keys: signingKeys() })
    expect((await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, webJwt)).status).toBe(200)
    expect((await f.get('discovery')).body.id_token_signing_alg_values_supported).toEqual(both)
    expect(generatedRsaKeys()).toBe(0)
    const [{ id_token }, ...sets] = await Promise.all([tokensOf(f), published(f), published(f)])
    expect(generatedRsaKeys()).toBe(1)
    const [, kid] = kidsOf(await published(f))
    expect([decodeProtectedHeader(id_token).kid, ...sets.map((keys) => keys[1]?.kid)]).toEqual([kid, kid, kid])
    expect(kidsOf(await f.provider.keys.list())[1]).toBe(kid)
  })

  test('tries again after a failure', async () => {
    const f = await fixture({ keys: signingKeys() })
    vi.mocked(crypto.subtle.generateKey).mockRejectedValueOnce(new Error('no entropy'))
    expect((await f.get('jwks')).status).toBe(500)
    expect((await published(f)).map(({ alg }) => alg)).toEqual(both)
  })

  test('does not wait forever for a key whose request was ended, as a Worker does', async () => {
    let elapsed = 0
    const f = await fixture({ keys: signingKeys(), runtime: { elapsed: () => elapsed } })
    vi.mocked(crypto.subtle.generateKey).mockReturnValueOnce(new Promise<never>(() => {}) as never)
    void f.get('jwks')
    elapsed = 30_000
    expect((await published(f)).map(({ alg }) => alg)).toEqual(both)
  })
})

describe('a stored ring of an earlier version', () => {
  test('gets one RS256 key, however many processes start together, and keeps its other keys', async () => {
    const ring = sharedRing()
    const before = await ring.start({ algorithms: ['ES256'] })
    const kids = kidsOf(await before.provider.keys.list())
    const processes = await Promise.all(Array.from({ length: 4 }, () => ring.start({ algorithms: undefined })))
    const lists = await Promise.all(processes.map((f) => f.provider.keys.list()))
    expect(new Set(lists.map((keys) => JSON.stringify(keys))).size).toBe(1)
    const [keys = []] = lists
    expect(kidsOf(keys).slice(0, 2)).toEqual(kids)
    expect(keys.slice(2).map(({ algorithm, state }) => `${algorithm} ${state}`)).toEqual([
      'RS256 current',
      'RS256 next',
    ])
    const added = processes.flatMap((f) => f.events.filter(({ type }) => type === 'keys_rotated'))
    expect(added).toMatchObject([{ reason: 'algorithm_added', algorithm: 'RS256', kid: inState(keys, 'current')[1] }])
    for (const f of processes) expect(kidsOf(await published(f))).toEqual(kidsOf(keys))
    // The process that does not know the key verifies its tokens.
    const [first] = processes
    const { id_token } = await tokensOf(first as Fixture)
    const form = { token: id_token, client_id: webJwt[0] }
    expect((await before.post('identityTokenValidation', form)).status).toBe(200)
  })

  test('does not generate keys again at the next start', async () => {
    const ring = sharedRing()
    await ring.start({ algorithms: undefined })
    const generated = generatedRsaKeys()
    expect(generated).toBe(2)
    await ring.start({ algorithms: undefined })
    expect(generatedRsaKeys()).toBe(generated)
  })
})

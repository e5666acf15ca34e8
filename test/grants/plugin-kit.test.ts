/** The kit of a plugin: sealing, signing, counting. Records and randomness: custom-grant-kit.test.ts. */
import { createHash } from 'node:crypto'
import { defineGrant, definePlugin, type GrantKit, type ProviderOptions } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/core/testing'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK, jwtVerify } from 'jose'
import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'

const grantType = 'urn:example:kit'
let jwk: JWK
let another: JWK
beforeAll(async () => {
  const generate = async () => exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)
  ;[jwk, another] = await Promise.all([generate(), generate()])
})

/** Runs a function with the kit of a plugin. */
async function setUp(plugin = 'kit', more: Partial<ProviderOptions> = {}) {
  let run: (kit: GrantKit) => unknown = () => undefined
  const grant = defineGrant({
    grantType,
    params: v.object({}),
    async handle({ scopes }, kit) {
      await run(kit)
      return { scopes }
    },
  })
  const f = await createTestProvider({ keys: [jwk], plugins: definePlugin(plugin, [grant]), ...more })
  return {
    ...f,
    async withKit<T>(use: (kit: GrantKit) => Promise<T>): Promise<T> {
      let result: { readonly value: T } | undefined
      run = async (kit) => {
        result = { value: await use(kit) }
      }
      const { status, failure } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
      if (status !== 200 || result === undefined) throw failure
      return result.value
    },
  }
}

const state = v.object({ step: v.string() })

describe('seal() and unseal()', () => {
  test('return the value until it expires', async () => {
    const { withKit, clock } = await setUp()
    const sealed = await withKit((kit) => kit.seal({ step: 'password' }, kit.now() + 60))
    expect(await withKit((kit) => kit.unseal(sealed, state))).toEqual({ step: 'password' })
    clock.advance(60)
    expect(await withKit((kit) => kit.unseal(sealed, state))).toBeUndefined()
  })

  test('reveal nothing of the value, and differ every time', async () => {
    const { withKit } = await setUp()
    const [one, two] = await withKit((kit) => Promise.all([0, 0].map(() => kit.seal({ step: 'x' }, kit.now() + 60))))
    expect(one).not.toBe(two)
    expect(Buffer.from(String(one).split('.')[1] ?? '', 'base64url').includes('step')).toBe(false)
    expect(one).toMatch(/^[\w-]+\.[\w-]+$/u)
  })

  test.each<[string, (sealed: string) => string]>([
    [
      'a changed character',
      (sealed) => `${sealed.slice(0, -6)}${sealed.at(-6) === 'A' ? 'B' : 'A'}${sealed.slice(-5)}`,
    ],
    ['one cut off', (sealed) => sealed.slice(0, -1)],
    ['another part', (sealed) => `${sealed}.x`],
    ['no key', (sealed) => sealed.slice(sealed.indexOf('.'))],
    ['an unknown key', (sealed) => `eA${sealed.slice(sealed.indexOf('.'))}`],
    ['nothing', () => ''],
    ['too much', (sealed) => sealed + 'A'.repeat(20_000)],
  ])('open no text with %s', async (_, change) => {
    const { withKit } = await setUp()
    const sealed = await withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
    expect(await withKit((kit) => kit.unseal(change(sealed), state))).toBeUndefined()
  })

  test('open no value of another shape', async () => {
    const { withKit } = await setUp()
    const sealed = await withKit((kit) => kit.seal(['x'], kit.now() + 60))
    expect(await withKit((kit) => kit.unseal(sealed, state))).toBeUndefined()
  })

  test('are bound to the plugin, the issuer and the key', async () => {
    const sealed = await (await setUp()).withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
    const opened = async (...given: Parameters<typeof setUp>) =>
      (await setUp(...given)).withKit((kit) => kit.unseal(sealed, state))
    expect(await opened('kit')).toEqual({ step: 'x' })
    expect(await opened('other')).toBeUndefined()
    expect(await opened('kit', { issuer: 'https://other.example.com' })).toBeUndefined()
    expect(await opened('kit', { keys: [another] })).toBeUndefined()
    // After a rotation, the key still verifies.
    expect(await opened('kit', { keys: [another, jwk] })).toEqual({ step: 'x' })
  })

  test('do not use the signing key itself', async () => {
    const { withKit } = await setUp()
    const sealed = await withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
    const bytes = Buffer.from(sealed.split('.')[1] ?? '', 'base64url')
    const decrypt = async (key: Buffer) =>
      crypto.subtle.decrypt(
        { name: 'AES-GCM', iv: bytes.subarray(0, 12) },
        await crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['decrypt']),
        bytes.subarray(12),
      )
    for (const key of [
      Buffer.from(jwk.d ?? '', 'base64url'),
      createHash('sha256')
        .update(jwk.d ?? '')
        .digest(),
    ]) {
      await expect(decrypt(key)).rejects.toThrow()
    }
  })

  test('need a private key of the provider', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const external = {
      publicKey: await exportJWK(publicKey),
      sign: async (data: Uint8Array) =>
        new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, Buffer.from(data))),
    }
    const { withKit } = await setUp('kit', { keys: [external] })
    const sealing = withKit((kit) => kit.seal('x', kit.now() + 60))
    await expect(sealing).rejects.toThrow('keys: seal() requires a private JWK; external keys can only sign')
  })
})

describe('sign()', () => {
  test('signs a JWT of its type with the key of the provider', async () => {
    const { withKit, provider, clock } = await setUp()
    const jwt = await withKit((kit) =>
      kit.sign('token-introspection+jwt', { aud: 'api1', iss: 'https://evil.example' }),
    )
    const keys = await (await provider.handlers.jwks(new Request('https://id.example.com/jwks'))).json()
    const { payload, protectedHeader } = await jwtVerify(jwt, createLocalJWKSet(keys), {
      typ: 'token-introspection+jwt',
      issuer: provider.issuer,
      audience: 'api1',
    })
    expect(payload).toEqual({ aud: 'api1', iss: provider.issuer, iat: clock.now() })
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'token-introspection+jwt' })
  })

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'jwt', '', 'x', 'x+jwt\n', ' at+jwt', 'At+jwt'])(
    'refuses the type %j',
    async (typ) => {
      const { withKit } = await setUp()
      const message = `sign(): ${JSON.stringify(typ)} is not a type that a plugin can sign`
      await expect(withKit((kit) => kit.sign(typ, {}))).rejects.toThrow(message)
    },
  )

  test('is not given other claims than it has checked', async () => {
    const { withKit } = await setUp()
    const claims = {
      toJSON: () => ({ iss: 'https://evil.example', sub: 'alice', aud: testClient[0], exp: 1_900_000_000 }),
    }
    await expect(withKit((kit) => kit.sign('x+jwt', claims as never))).rejects.toThrow(
      'sign(): the claims are not JSON',
    )
  })

  test('refuses what a careless client could accept as an identity token', async () => {
    const { withKit } = await setUp()
    const signing = withKit((kit) => kit.sign('x+jwt', { sub: 'alice', aud: testClient[0], exp: kit.now() + 60 }))
    await expect(signing).rejects.toThrow(/could be accepted as an identity token/u)
  })

  test('makes nothing that the provider accepts', async () => {
    const { withKit, get, events } = await setUp()
    const claims = {
      sub: 'alice',
      client_id: testClient[0],
      scope: 'openid api1',
      aud: 'https://id.example.com/resources',
    }
    const jwt = await withKit((kit) => kit.sign('x+jwt', claims))
    const { status } = await get('userinfo', {}, { authorization: `Bearer ${jwt}` })
    expect(status).toBe(401)
    expect(events.at(-1)).toMatchObject({ reason: 'token_unknown' })
  })
})

describe('records.increment()', () => {
  test('counts, and no two calls get the same number', async () => {
    const { withKit } = await setUp('kit', { storage: withLatency(memoryDriver()) })
    const count = (key: string) => withKit((kit) => kit.records.increment(key, kit.now() + 60))
    expect(await count('a')).toBe(1)
    const counts = await withKit((kit) =>
      Promise.all(Array.from({ length: 20 }, () => kit.records.increment('a', kit.now() + 60))),
    )
    expect(new Set(counts).size).toBe(20)
    expect(Math.max(...counts)).toBe(21)
    expect(await count('b')).toBe(1)
  })

  test('is apart from the records, and from the counters of other plugins', async () => {
    const storage = memoryDriver()
    const one = await setUp('one', { storage })
    await one.withKit((kit) => kit.records.increment('a', kit.now() + 60))
    expect(await one.withKit((kit) => kit.records.get('a', v.unknown()))).toBeUndefined()
    const other = await setUp('other', { storage })
    expect(await other.withKit((kit) => kit.records.increment('a', kit.now() + 60))).toBe(1)
  })

  test('needs a time in the future', async () => {
    const { withKit } = await setUp()
    await expect(withKit((kit) => kit.records.increment('a', 60))).rejects.toThrow(/in the future/u)
  })
})

describe('provider.kit()', () => {
  test('shares the records and seals of the plugin with the pages of the host', async () => {
    const { provider, withKit } = await setUp('tickets')
    const kit = provider.kit('tickets')
    await kit.records.put('a', { step: 'paid' }, kit.now() + 60)
    expect(await withKit(({ records }) => records.get('a', state))).toEqual({ step: 'paid' })
    const sealed = await kit.seal({ step: 'x' }, kit.now() + 60)
    expect(await withKit(({ unseal }) => unseal(sealed, state))).toEqual({ step: 'x' })
    expect(await provider.kit('other').records.get('a', state)).toBeUndefined()
  })

  test('finds clients and scopes, and checks passwords', async () => {
    const users = { authenticate: ({ password }: { password: string }) => (password === 'right' ? alice : undefined) }
    const alice = { sub: 'alice', amr: ['pwd'] }
    const { provider } = await setUp('kit', { users })
    const kit = provider.kit('login-page')
    const client = await kit.findClient(testClient[0])
    if (client === undefined) throw new Error('The client is missing')
    expect(client).not.toHaveProperty('secrets')
    expect(await kit.findClient('absent')).toBeUndefined()
    expect(kit.scopesOf(client, 'api1 openid')).toEqual(['api1', 'openid'])
    expect(() => kit.scopesOf(client, 'api9')).toThrow(expect.objectContaining({ code: 'invalid_scope' }))
    const log = (password: string) =>
      kit.authenticateUser({ username: 'alice', password }, { clientAddress: '192.0.2.1' })
    expect(await log('right')).toEqual(alice)
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await log('wrong')).toBeUndefined()
    await expect(log('right')).rejects.toMatchObject({ code: 'slow_down' })
  })

  test.each(['', 'Login', 'a b', 'x'.repeat(51)])('rejects the name %j', async (name) => {
    const { provider } = await setUp()
    expect(() => provider.kit(name)).toThrow(/is not a valid name of a plugin/u)
  })
})

describe('limitGuesses()', () => {
  const limit = { name: 'pin', failures: 3, window: 600 }
  const wrong = async () => undefined
  const right = async () => 'found'

  test('answers so many wrong guesses of an address, and then refuses right ones too', async () => {
    const { provider, clock, events } = await setUp()
    const { limitGuesses } = provider.kit('page')
    for (let guess = 0; guess < 3; guess += 1) {
      expect(await limitGuesses(limit, '192.0.2.1', right)).toBe('found')
      expect(await limitGuesses(limit, '192.0.2.1', wrong)).toBeUndefined()
    }
    const refused = { code: 'slow_down', details: { status: 429, retryAfter: expect.any(Number) } }
    for (const guess of [wrong, right]) {
      await expect(limitGuesses(limit, '192.0.2.1', guess)).rejects.toMatchObject(refused)
    }
    expect(events.filter(({ type }) => type === 'abuse_limited')).toMatchObject([{ limit: 'plugin:page:pin' }])
    expect(await limitGuesses(limit, '192.0.2.2', right)).toBe('found')
    expect(await limitGuesses({ ...limit, name: 'other' }, '192.0.2.1', right)).toBe('found')
    clock.advance(600)
    expect(await limitGuesses(limit, '192.0.2.1', right)).toBe('found')
  })

  test('is exact over processes and concurrent guesses', async () => {
    const storage = withLatency(memoryDriver())
    const kits = await Promise.all([0, 1, 2].map(async () => (await setUp('kit', { storage })).provider.kit('page')))
    const guesses = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => kits[index % 3]?.limitGuesses(limit, '192.0.2.1', wrong)),
    )
    expect(guesses.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    for (const kit of kits) {
      await expect(kit.limitGuesses(limit, '192.0.2.1', right)).rejects.toMatchObject({ code: 'slow_down' })
    }
  })

  test('counts the addresses of one network together', async () => {
    const { provider } = await setUp()
    const { limitGuesses } = provider.kit('page')
    for (const host of ['1', '2', '3']) await limitGuesses(limit, `2001:db8::${host}`, wrong)
    await expect(limitGuesses(limit, '2001:db8::4', right)).rejects.toMatchObject({ code: 'slow_down' })
  })

  test('does not count a guess that failed', async () => {
    const { provider } = await setUp()
    const { limitGuesses } = provider.kit('page')
    const failing = async () => {
      throw new Error('The database is away')
    }
    for (let guess = 0; guess < 5; guess += 1) {
      await expect(limitGuesses(limit, '192.0.2.1', failing)).rejects.toThrow('The database is away')
    }
    expect(await limitGuesses(limit, '192.0.2.1', right)).toBe('found')
  })

  test.each([
    ['no address', limit, undefined, /requires the address/u],
    ['an empty address', limit, '', /requires the address/u],
    ['no failures', { ...limit, failures: 0 }, '192.0.2.1', /requires failures and window/u],
    ['a fraction of a second', { ...limit, window: 0.5 }, '192.0.2.1', /requires failures and window/u],
  ])('rejects %s', async (_, settings, address, message) => {
    const { provider } = await setUp()
    await expect(provider.kit('page').limitGuesses(settings, address as string, right)).rejects.toThrow(message)
  })
})

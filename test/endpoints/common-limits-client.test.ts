import type { ClientOptions, ProviderOptions } from '@grantry/core'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, proof, redirectUri, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const grantForm = { grant_type: 'client_credentials', scope: 'api1' }
const id = (length: number): string => 'i'.repeat(length)
const secret = (length: number): string => 's'.repeat(length)

const client = (clientId: string, clientSecret: string): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(clientSecret) }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
})

/**
 * Finds a client by the first 100 characters, like a database column that truncates or pads. The limit must not depend
 * on the store.
 */
const cuttingStore = (options: ClientOptions): ProviderOptions['clients'] => ({
  find: (clientId) => (clientId.slice(0, 100) === options.clientId ? options : undefined),
})

const send = async (f: Fixture, clientId: string, clientSecret: string, where: 'header' | 'form') =>
  where === 'header'
    ? f.post('token', grantForm, [clientId, clientSecret])
    : f.post('token', { ...grantForm, client_id: clientId, client_secret: clientSecret })

describe('client_id: 100', () => {
  test.each(['header', 'form'] as const)(
    '1.28 accepts a client_id of 100 and rejects one of 101, in the %s',
    async (where) => {
      const f = await fixture({ clients: cuttingStore(client(id(100), 'secret')) })
      expect((await send(f, id(100), 'secret', where)).status).toBe(200)
      const { status, body } = await send(f, id(101), 'secret', where)
      expect([status, body.error]).toEqual([401, 'invalid_client'])
    },
  )

  test('1.28 accepts a client_id of 100 and rejects one of 101, for a public client', async () => {
    const spa: ClientOptions = { ...clients[3], clientId: id(100) }
    const f = await fixture({ clients: cuttingStore(spa) })
    const form = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: proof.verifier }
    const code = await f.code({ clientId: id(100), codeChallenge: proof.challenge })
    const { status, body } = await f.post('token', { ...form, code, client_id: id(101) })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect((await f.post('token', { ...form, code, client_id: id(100) })).status).toBe(200)
  })

  test('1.28 accepts a client_id of 100 and rejects one of 101, at identity token validation', async () => {
    const f = await fixture({ clients: cuttingStore({ ...clients[0], clientId: id(100) }) })
    const code = await f.code({ clientId: id(100) })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { body } = await f.post('token', form, [id(100), web[1]])
    const validate = (clientId: string) =>
      f.post('identityTokenValidation', { token: body.id_token, client_id: clientId })
    expect((await validate(id(100))).status).toBe(200)
    expect((await validate(id(101))).status).toBe(400)
  })

  test('1.28 rejects a client id of 101 characters at start', async () => {
    expect((await fixture({ clients: [client(id(100), 's')] })).provider.issuer).toBe('https://id.example.com')
    await expect(fixture({ clients: [client(id(101), 's')] })).rejects.toThrow(': clientId must be 1 to 100')
  })
})

describe('client_secret: 512', () => {
  test.each(['header', 'form'] as const)(
    '1.29 accepts a client_secret of 512 and rejects one of 513, in the %s',
    async (where) => {
      const f = await fixture({ clients: [client('short', secret(512)), client('long', secret(513))] })
      expect((await send(f, 'short', secret(512), where)).status).toBe(200)
      const { status, body } = await send(f, 'long', secret(513), where)
      expect([status, body.error]).toEqual([401, 'invalid_client'])
    },
  )

  test('1.29 accepts 512 characters that take nine bytes each in the header', async () => {
    const euros = '€'.repeat(512)
    const f = await fixture({ clients: [client('short', euros)] })
    expect((await send(f, 'short', euros, 'header')).status).toBe(200)
    expect((await send(f, 'short', encodeURIComponent(euros), 'header')).status).toBe(200)
    expect((await send(f, 'short', euros, 'form')).status).toBe(200)
  })

  test('1.29 the limit counts after form-decoding: 513 are rejected', async () => {
    const f = await fixture({ clients: [client('long', '€'.repeat(513))] })
    expect((await send(f, 'long', encodeURIComponent('€'.repeat(513)), 'header')).status).toBe(401)
  })

  test('1.29 does not call a verifier of the host with 513 characters', async () => {
    const asked: number[] = []
    const verifySecret = (_: string, presented: string): boolean => asked.push(presented.length) > 0
    const f = await fixture({ clients: { find: () => client('web', 's'), verifySecret } })
    expect((await send(f, 'web', secret(513), 'header')).status).toBe(401)
    expect(asked).toEqual([])
    expect((await send(f, 'web', secret(512), 'header')).status).toBe(200)
    expect(asked).toEqual([512])
  })
})

describe('grant_type: 100', () => {
  const named = (grantType: string) => testGrant({ grantType, handle: ({ scopes }) => ({ scopes }) })

  test('1.32 accepts a grant_type of 100 and rejects one of 101', async () => {
    const { post } = await createTestProvider({ plugins: [named('g'.repeat(100))] })
    expect((await post('token', { grant_type: 'g'.repeat(100), scope: 'api1' }, testClient)).status).toBe(200)
    const { status, body } = await post('token', { grant_type: 'g'.repeat(101), scope: 'api1' }, testClient)
    expect([status, body.error]).toEqual([400, 'unsupported_grant_type'])
  })

  test('1.32 rejects a plugin with a grant type of 101 at start', async () => {
    await expect(createTestProvider({ plugins: [named('g'.repeat(101))] })).rejects.toThrow('at most 100 characters')
  })
})

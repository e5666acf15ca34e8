import { registrations } from '@grantry/plugins/registration'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createKey } from '../client-assertion/assertions.ts'
import { issuer, metadata, setUp } from './parties.ts'

const key = await createKey('ES256', { kid: 'vouching' })
const voucher = 'https://vouching.example.com'
const softwareStatements = { issuers: [{ issuer: voucher, jwks: { keys: [key.jwk] } }] }

const statementOf = (claims: object, from = voucher, signing = key.privateKey) =>
  new SignJWT({ ...claims, iss: from }).setProtectedHeader({ alg: 'ES256', kid: 'vouching' }).sign(signing)

describe('without more options', () => {
  test('17.1 a caller without a token cannot register a client', async () => {
    const f = await setUp({ open: false })
    const { status, headers } = await f.register()
    expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer realm="${issuer}"`])
    expect((await f.register(metadata, { token: 'guessed' })).body).toMatchObject({ error: 'invalid_token' })
    // What is wrong with the metadata is not said before.
    expect((await f.register({}, { token: 'guessed' })).body).toMatchObject({ error: 'invalid_token' })
  })
})

describe('an initial access token', () => {
  test('17.1 allows as many registrations as its budget', async () => {
    const f = await setUp({ open: false })
    const { token, id, expiresAt } = await f.issueToken(2, 3600)
    expect(expiresAt).toBe(f.clock.now() + 3600)
    expect(id).not.toContain(token)
    // A registration that is refused takes nothing.
    expect((await f.register({}, { token })).status).toBe(400)
    expect((await f.register(metadata, { token })).status).toBe(201)
    expect((await f.register(metadata, { token })).status).toBe(201)
    const { status, body } = await f.register(metadata, { token })
    expect([status, body.error]).toEqual([400, 'access_denied'])
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'client_registered', by: 'token' }))
  })

  test('17.1 ends in time, or when an administrator ends it', async () => {
    const f = await setUp({ open: false })
    const { token } = await f.issueToken(5, 60)
    f.clock.advance(60)
    expect((await f.register(metadata, { token })).status).toBe(401)
    const second = await f.issueToken(5)
    expect(await f.provider.use(registrations).revokeToken(second.id)).toBe(true)
    expect(await f.provider.use(registrations).revokeToken(second.id)).toBe(false)
    expect((await f.register(metadata, { token: second.token })).status).toBe(401)
  })

  test('does not manage a client, nor does the token of a client register one', async () => {
    const f = await setUp({ open: false })
    const { token } = await f.issueToken(5)
    const client = await f.registered({}, { token })
    expect((await f.send(client.registration_client_uri, { method: 'GET', token })).status).toBe(401)
    expect((await f.register(metadata, { token: client.registration_access_token })).status).toBe(401)
  })

  test('is not limited by the registrations of others', async () => {
    const f = await setUp({ maxTotal: 1 })
    expect((await f.register()).status).toBe(201)
    expect((await f.register(metadata, { from: '192.0.2.9' })).status).toBe(503)
    const { token } = await f.issueToken()
    expect((await f.register(metadata, { token })).status).toBe(201)
  })

  test.each([
    [0, 60],
    [1.5, 60],
    [10_001, 60],
    [1, 0],
    [1, 31_536_001],
  ])('cannot have the budget %d and the lifetime %d', async (budget, lifetime) => {
    const f = await setUp()
    await expect(f.issueToken(budget, lifetime)).rejects.toThrow(/must be/u)
  })
})

describe('a software statement', () => {
  test('17.4 with scopes that do not exist here gives none, and not all', async () => {
    const f = await setUp({ open: false, softwareStatements })
    const statement = await statementOf({
      software_id: 'known',
      redirect_uris: ['https://vouched.example.com/callback'],
      scope: 'admin',
    })
    const client = await f.registered({ software_statement: statement })
    expect(client.scope).toBe('')
    const asked = { redirect_uri: 'https://vouched.example.com/callback', scope: 'api1' }
    expect((await f.authorize(client, asked)).code).toBe('')
  })

  test('17.4 of a trusted issuer allows a registration, and its claims win', async () => {
    const f = await setUp({ open: false, softwareStatements })
    const statement = await statementOf({
      software_id: 'known',
      client_name: 'The vouched name',
      redirect_uris: ['https://vouched.example.com/callback'],
      scope: 'api1',
      client_id: 'admin',
    })
    const client = await f.registered({ client_name: 'Another', scope: 'openid', software_statement: statement })
    expect(client).toMatchObject({
      client_id: expect.stringMatching(/^registered-/u),
      client_name: 'The vouched name',
      redirect_uris: ['https://vouched.example.com/callback'],
      scope: 'api1',
      software_id: 'known',
      software_statement: statement,
    })
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'client_registered', by: 'statement' }))
    // Also in a change that does not repeat it.
    const changed = await f.send(client.registration_client_uri, {
      method: 'PUT',
      token: client.registration_access_token,
      body: { ...metadata, client_id: client.client_id, logo_uri: 'https://app.example.com/logo.png' },
    })
    expect(changed.body).toMatchObject({
      client_name: 'The vouched name',
      redirect_uris: ['https://vouched.example.com/callback'],
      logo_uri: 'https://app.example.com/logo.png',
    })
  })

  test('17.4 is refused if another one has signed it, or with other keys, or for another server, or after its end', async () => {
    const f = await setUp({ open: false, softwareStatements })
    const { privateKey } = await createKey()
    const past = f.clock.now() - 60
    const cases = [
      [await statementOf({}, 'https://other.example.com'), 'unapproved_software_statement'],
      [await statementOf({}, voucher, privateKey), 'invalid_software_statement'],
      [await statementOf({ aud: 'https://other.example.com' }), 'invalid_software_statement'],
      [await statementOf({ exp: past }), 'invalid_software_statement'],
      [`${(await statementOf({})).slice(0, -3)}abc`, 'invalid_software_statement'],
      ['not a JWT', 'invalid_software_statement'],
      [{ not: 'text' }, 'invalid_software_statement'],
    ] as const
    for (const [statement, error] of cases) {
      const { status, body } = await f.register({ ...metadata, software_statement: statement })
      expect([status, body.error]).toEqual([400, error])
    }
    expect((await f.register()).status).toBe(401)
  })

  test.each([[issuer], [`${issuer}/clients`]])('can name the audience %s, where the endpoint is', async (aud) => {
    const f = await setUp({ open: false, softwareStatements }, { endpoints: { registration: '/clients' } })
    const body = { ...metadata, software_statement: await statementOf({ aud }) }
    const { status, body: client } = await f.send(`${issuer}/clients`, { body })
    expect([status, client.registration_client_uri]).toEqual([201, `${issuer}/clients/${client.client_id}`])
  })

  test('is limited like an open registration: it can be used again', async () => {
    const f = await setUp({ open: false, softwareStatements, maxPerAddress: 2 })
    const body = { ...metadata, software_statement: await statementOf({}) }
    expect((await f.register(body)).status).toBe(201)
    expect((await f.register(body)).status).toBe(201)
    expect((await f.register(body)).status).toBe(429)
  })

  test('17.4 is ignored, and not returned, without trusted issuers', async () => {
    const f = await setUp()
    const client = await f.registered({ software_statement: await statementOf({ client_name: 'Vouched' }) })
    expect(client.client_name).toBe('The application')
    expect(client).not.toHaveProperty('software_statement')
  })
})

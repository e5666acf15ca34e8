import { type ClientOptions, defineGrant } from '@grantry/core'
import type { Credentials, TestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { app, grantType, service, setUp } from './continued-family.ts'

type Revoked = Parameters<TestProvider['provider']['revoke']>[0]

/** Revokes after the token was validated, and before the new one is issued. */
async function expectRevokedDuringExchange(revoked: Revoked, member: string, kind: string, as: Credentials) {
  let revoke = async (): Promise<void> => undefined
  const f = await setUp(undefined, {
    users: {
      async isActive() {
        await revoke()
        return true
      },
    },
  })
  const login = await f.logIn()
  revoke = async () => {
    revoke = async () => undefined
    await f.provider.revoke(revoked)
  }
  const { body } = await f.exchange(login[member], kind, 'api1', as)
  if (body.access_token !== undefined) expect(await f.isActive(body.access_token)).toBe(false)
  else expect(body.error).toBe('invalid_grant')
}

/** A provider whose clients can change. */
async function setUpWithStore() {
  const clients = new Map<string, ClientOptions>()
  const f = await setUp(undefined, { clients: { find: async (id) => clients.get(id) } })
  for (const client of f.clients) clients.set(client.clientId, client)
  return { f, clients }
}

describe('a token that continues the family of another one', () => {
  test.each([
    ['access_token', 'access_token'],
    ['id_token', 'id_token'],
    ['refresh_token', 'refresh'],
  ])('is revoked with it: from the %s', async (member, kind) => {
    const f = await setUp()
    const login = await f.logIn()
    const { status, body } = await f.exchange(login[member], kind)
    expect(status).toBe(200)
    expect(await f.isActive(body.access_token)).toBe(true)
    await f.post('revocation', { token: login.refresh_token }, app)
    expect(await f.isActive(body.access_token)).toBe(false)
  })

  test.each([
    ['access_token', 'access_token'],
    ['refresh_token', 'refresh'],
  ])('is revoked with the subject, also if that happens during the exchange: from the %s', async (member, kind) => {
    await expectRevokedDuringExchange({ subject: 'alice' }, member, kind, service)
  })

  test.each([
    ['access_token', 'access_token'],
    ['id_token', 'id_token'],
    ['refresh_token', 'refresh'],
  ])('is revoked with its client, also if that happens during the exchange: from the %s', async (member, kind) => {
    await expectRevokedDuringExchange({ clientId: app[0] }, member, kind, app)
  })

  test.each<[string, Revoked, Credentials]>([
    ['its subject', { subject: 'alice' }, service],
    ['its client', { clientId: app[0] }, app],
  ])(
    'is not valid if %s is revoked after the validation of the first, and before the new one',
    async (_, revoked, as) => {
      let revoke = async (): Promise<void> => undefined
      const slow = defineGrant({
        grantType,
        params: v.object({ token: v.string() }),
        async handle({ params: { token }, scopes }, kit) {
          const continuesFamilyOf = await kit.validateToken(token, 'access_token')
          await revoke()
          return { subject: { sub: 'alice', amr: ['token'] }, scopes, continuesFamilyOf }
        },
      })
      const f = await setUp(slow)
      const { access_token: token } = await f.logIn()
      expect(await f.isActive((await f.exchange(token, 'access_token', 'api1', as)).body.access_token)).toBe(true)
      revoke = async () => {
        await f.provider.revoke(revoked)
        // Another request reads the revision that the revocation has left.
        await f.isActive('x'.repeat(43))
      }
      const { status, body } = await f.exchange(token, 'access_token', 'api1', as)
      expect(status).toBe(200)
      expect(await f.isActive(body.access_token)).toBe(false)
    },
  )

  test('is not issued for a refresh token of a client that is disabled', async () => {
    const { f, clients } = await setUpWithStore()
    const login = await f.logIn()
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    clients.set(app[0], { ...f.clients[0], enabled: false })
    for (const [member, kind] of [
      ['access_token', 'access_token'],
      ['refresh_token', 'refresh'],
    ] as const) {
      expect((await f.exchange(login[member], kind)).status).not.toBe(200)
    }
  })

  test.each<[string, Partial<ClientOptions>]>([
    ['the grant type of the login', { grantTypes: ['refresh_token', grantType] }],
    ['offline_access', { scopes: ['openid', 'api1'] }],
  ])('is not issued for a refresh token of a client that has lost %s', async (_, lost) => {
    const { f, clients } = await setUpWithStore()
    const { refresh_token } = await f.logIn()
    for (const as of [app, service]) expect((await f.exchange(refresh_token, 'refresh', 'api1', as)).status).toBe(200)
    clients.set(app[0], { ...f.clients[0], ...lost })
    for (const as of [app, service]) {
      expect((await f.exchange(refresh_token, 'refresh', 'api1', as)).body.error).toBe('invalid_grant')
    }
  })

  test('does not spend a refresh token', async () => {
    const f = await setUp()
    const login = await f.logIn()
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    const form = { grant_type: 'refresh_token', refresh_token: login.refresh_token }
    expect((await f.post('token', form, app)).status).toBe(200)
  })

  test('is not issued for a spent refresh token: its family is revoked', async () => {
    const f = await setUp()
    const login = await f.logIn()
    const form = { grant_type: 'refresh_token', refresh_token: login.refresh_token }
    const { body } = await f.post('token', form, app)
    const replayed = await f.exchange(login.refresh_token, 'refresh')
    expect([replayed.status, replayed.failure]).toEqual([400, 'refresh_reused'])
    expect(await f.isActive(body.access_token)).toBe(false)
  })
})

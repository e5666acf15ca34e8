/**
 * Attack: two providers (two tenants, or staging and production) keep their records in one store. An attacker who owns
 * a client in one of them gives it the id of a client of the other, and redeems credentials issued there: a mix-up of
 * authorization servers.
 *
 * RFC 6749 section 4.1.3: the code is bound to the client, and a client is known to one server only; RFC 9700 section
 * 4.4 (mix-up). That a record is bound to its issuer is hardening; reference tokens are bound anyway.
 */

import { defineGrant, defineGrantCheck, definePlugin, OAuthError } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { type Credentials, createTestProvider, sha256Of, type TestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { beforeEach, describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

let ours: Fixture
let theirs: Fixture
const attacker = [web[0], 'secret-of-the-attacker'] as const

beforeEach(async () => {
  const storage = memoryDriver()
  ours = await fixture({ storage })
  const sameId = clients.map((client) =>
    client.clientId === web[0] ? { ...client, secrets: [{ sha256: sha256Of(attacker[1]) }] } : client,
  )
  theirs = await fixture({ storage, issuer: 'https://other-tenant.example.com', clients: sameId })
})

const form = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })

describe('credentials of one provider are rejected by the other', () => {
  test('a code', async () => {
    const code = await ours.code()
    const theft = await theirs.post('token', form(code), attacker)
    expect(theft).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await ours.post('token', form(code), web)).status).toBe(200)
  })

  test('a refresh token', async () => {
    const { refresh_token } = (await ours.post('token', form(await ours.code()), web)).body
    const theft = await theirs.post('token', { grant_type: 'refresh_token', refresh_token }, attacker)
    expect(theft).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await ours.post('token', { grant_type: 'refresh_token', refresh_token }, web)).status).toBe(200)
  })

  test('a reference token', async () => {
    const { access_token: token } = (await ours.post('token', form(await ours.code()), web)).body
    expect((await theirs.post('introspection', { token }, api1)).body).toEqual({ active: false })
    expect((await theirs.get('userinfo', {}, { authorization: `Bearer ${token}` })).status).toBe(401)
    expect((await ours.post('introspection', { token }, api1)).body.active).toBe(true)
  })
})

/** Attack: a plugin stores short codes or the ids of assertions, and both providers use the plugin. */
describe('records of a plugin at one provider do not count at the other', () => {
  const device = defineGrant({
    grantType: 'urn:example:device',
    params: v.object({ code: v.string() }),
    async handle({ params: { code }, scopes }, kit) {
      const until = kit.now() + 60
      const isNew = await kit.records.insert(code, {}, until)
      return { scopes, redeems: [kit.redemption(code, until)], response: { isNew } }
    },
  })
  const check = defineGrantCheck({
    settles: 'badge' as never,
    grantTypes: [device.grantType],
    params: v.object({ code: v.string() }),
    async check({ params: { code } }, kit) {
      if (await kit.records.insert(code, {}, kit.now() + 60)) return
      throw new OAuthError('invalid_grant', 'The badge is not valid', { reason: 'plugin:badge:used' })
    },
  })

  test('neither a record nor a redemption, of a grant or of a check', async () => {
    const storage = memoryDriver()
    const client = { ...clients[0], clientId: web[0], scopes: ['api1'], grantTypes: [device.grantType] }
    const options = { storage, plugins: [device, definePlugin('badge', [check])], clients: [client] }
    const [ourProvider, theirProvider] = [
      await createTestProvider(options),
      await createTestProvider({ ...options, issuer: 'https://other-tenant.example.com' }),
    ]
    const redeem = ({ post }: TestProvider) =>
      post('token', { grant_type: device.grantType, code: 'ABCD', scope: 'api1' }, web)
    for (const provider of [ourProvider, theirProvider]) {
      expect(await redeem(provider)).toMatchObject({ status: 200, body: { isNew: true } })
    }
    for (const provider of [ourProvider, theirProvider]) expect((await redeem(provider)).status).toBe(400)
  })
})

/** Attack: an account with the same name in the attacker's own tenant, whose logins reset the failures in the other. */
describe('failures and logins at one provider do not count at the other', () => {
  const home = '192.0.2.1'
  const logIn = (f: Fixture, as: Credentials, password: string) =>
    f.post('token', { grant_type: 'password', username: 'alice', password, scope: 'openid' }, as, home)

  test('a login of the attacker does not reset the failures of another user', async () => {
    const statuses: number[] = []
    for (let guess = 0; guess < 8; guess += 1) {
      statuses.push((await logIn(ours, web, `guess ${guess}`)).status)
      expect((await logIn(theirs, attacker, 'alice-password')).status).toBe(200)
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
  })

  test('failures of a client do not lock out a client with the same id', async () => {
    const storage = memoryDriver()
    const limited = { storage, abuseControl: true }
    const [ourProvider, theirProvider] = [
      await fixture(limited),
      await fixture({ ...limited, issuer: 'https://other-tenant.example.com' }),
    ]
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    for (let guess = 0; guess < 11; guess += 1) await theirProvider.post('token', form, [web[0], 'wrong'], home)
    expect((await ourProvider.post('token', form, [web[0], 'wrong'], home)).status).toBe(401)
    expect((await ourProvider.post('token', form, web, home)).status).toBe(200)
  })
})

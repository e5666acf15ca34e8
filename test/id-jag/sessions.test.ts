import { idJag } from '@grantry/plugins/id-jag'
import { basic, read } from '@grantry/testing'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { web } from '../authorization/parties.ts'
import { clients, setUpLogout } from '../end-session/parties.ts'
import { chat, exchange, identityProvider, mcp, typeOf } from './jag-parties.ts'

// The sessions of the sign-in. Identity tokens have their `sid`.

async function setUp(checkSessions?: boolean) {
  const server = { issuer: chat, resources: [mcp], clients: [{ clientId: web[0], scopes: ['chat.read'] }] }
  const plugin = idJag({ issue: { servers: [server], checkSessions } })
  const grantTypes = ['authorization_code', 'refresh_token', exchange]
  const f = await setUpLogout(
    { clients: clients.map((client) => ({ ...client, ...(client.clientId === web[0] && { grantTypes }) })) },
    [{ parts: () => [...plugin.parts] }],
  )
  return {
    ...f,
    async request(token: string, type = 'id_token') {
      const body = new URLSearchParams({
        grant_type: exchange,
        requested_token_type: typeOf('id-jag'),
        audience: chat,
        resource: mcp,
        subject_token: token,
        subject_token_type: typeOf(type),
      })
      const headers = { authorization: basic(web) }
      return read(
        await f.provider.fetch(new Request(`${f.provider.issuer}/connect/token`, { method: 'POST', headers, body })),
      )
    },
  }
}

describe('an identity token of a session', () => {
  test('3.112 gets no assertion after the logout', async () => {
    const f = await setUp()
    const { browser, hint } = await f.signedIn()
    expect(decodeJwt(hint).sid).toEqual(expect.any(String))
    expect((await f.request(hint)).status).toBe(200)
    await f.logout(browser, { id_token_hint: hint })
    expect(await f.isSignedIn(browser)).toBe(false)
    const { status, body } = await f.request(hint)
    expect([status, body]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'The token cannot be exchanged' },
    ])
    // Another session of the same user lasts.
    expect((await f.request((await f.signedIn()).hint)).status).toBe(200)
  })

  test('can be used after the logout if the operator does not check sessions', async () => {
    const f = await setUp(false)
    const { browser, hint } = await f.signedIn()
    await f.logout(browser, { id_token_hint: hint })
    expect((await f.request(hint)).status).toBe(200)
  })

  test('is refused if no plugin has its session', async () => {
    const f = await identityProvider()
    const { id_token: token } = await f.signIn({ identityClaims: { sid: 's1' } })
    expect((await f.request(token)).failure).toBe('demand_unsettled')
    const unchecked = await identityProvider({ checkSessions: false })
    const { id_token: another } = await unchecked.signIn({ identityClaims: { sid: 's1' } })
    expect((await unchecked.request(another)).status).toBe(200)
  })
})

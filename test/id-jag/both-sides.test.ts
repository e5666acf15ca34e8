import { createTestClock } from '@grantry/testing'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { atChat, chat, chatServer, identityProvider, idp, mcp } from './jag-parties.ts'

// The whole way: a sign-in at the identity provider, an assertion, and a token of another server.

test('3.112 a client gets an assertion for its sign-in, and with it a token for the MCP server', async () => {
  const clock = createTestClock()
  const company = await identityProvider({}, { clock })
  const { id_token: identityToken } = await company.signIn()
  const { status, body } = await company.request(identityToken, { scope: 'chat.read chat.admin' })
  expect(status).toBe(200)
  expect(body).toEqual({
    issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    access_token: expect.any(String),
    token_type: 'N_A',
    expires_in: 300,
    scope: 'chat.read',
  })
  expect(decodeProtectedHeader(body.access_token)).toMatchObject({ typ: 'oauth-id-jag+jwt' })
  expect(decodeJwt(body.access_token)).toEqual({
    iss: idp,
    sub: 'U019488227',
    aud: chat,
    client_id: atChat[0],
    resource: mcp,
    scope: 'chat.read',
    jti: expect.stringMatching(/^[\w-]{22}$/u),
    iat: clock.now(),
    exp: clock.now() + 300,
    auth_time: clock.now() - 5,
    amr: ['pwd', 'otp'],
    acr: 'mfa',
  })

  const keys = (await company.get('jwks')).body
  const server = await chatServer({ jwks: keys }, {}, { clock })
  const redeemed = await server.redeem(body.access_token)
  expect(redeemed.body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'chat.read',
  })
  expect(decodeJwt(redeemed.body.access_token)).toMatchObject({
    iss: chat,
    aud: mcp,
    client_id: atChat[0],
    idp,
    amr: ['pwd', 'otp'],
    acr: 'mfa',
    auth_time: clock.now() - 5,
  })
  expect(await server.outcomeOf(body.access_token)).toBe('redemption_replayed')
})

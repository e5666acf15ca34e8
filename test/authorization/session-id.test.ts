import { decodeJwt } from '@grantry/core'
import type { AuthorizationFeature } from '@grantry/plugins/authorization-endpoint'
import { expect, test } from 'vitest'
import { answer } from './browser.ts'
import { setUpPages } from './own-pages.ts'
import { clients } from './parties.ts'

const needing: AuthorizationFeature = { parts: () => [], needsSid: ({ clientId }) => clientId === 'web' }
const withLogout = clients.map((client) => ({ ...client, postLogoutRedirectUris: ['https://client.example.com/bye'] }))

test.each([
  ['a feature needs it', { features: [needing] }, {}],
  ['the client has postLogoutRedirectUris', {}, { clients: withLogout }],
])('11.27 the identity token names the session if %s, the same for every code', async (_name, options, more) => {
  const { browser, signIn, ask, redeem } = await setUpPages(options, more)
  const user = browser()
  const sidOf = async (code: string | undefined) => decodeJwt((await redeem(code)).body.id_token)?.claims.sid
  const sid = await sidOf(answer(await signIn(user)).code)
  expect(sid).toMatch(/^[\w-]{43}$/u)
  expect(await sidOf(answer(await ask(user)).code)).toBe(sid)
  expect(await sidOf(answer(await signIn(browser())).code)).not.toBe(sid)
})

test('11.27 other identity tokens do not name the session', async () => {
  const { browser, signIn, redeem } = await setUpPages()
  const { code } = answer(await signIn(browser()))
  expect(decodeJwt((await redeem(code)).body.id_token)?.claims).not.toHaveProperty('sid')
})

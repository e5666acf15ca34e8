import { decodeJwt } from '@grantry/core'
import { expect, test } from 'vitest'
import { answer } from './browser.ts'
import { challenge, redirectUri, request, setUp, verifier } from './parties.ts'

test('sends a code, the state and the issuer to the redirect URI', async () => {
  const { browser, urlOf, redeem, provider } = await setUp()
  const page = await browser().open(urlOf(request))
  expect(page.status).toBe(303)
  expect(page.url.href.startsWith(`${redirectUri}?code=`)).toBe(true)
  const { code, ...others } = answer(page)
  expect(others).toEqual({ state: request.state, iss: provider.issuer })
  const { status, body } = await redeem(code)
  expect(status).toBe(200)
  expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'alice', aud: 'web', nonce: request.nonce })
})

test('accepts a request by POST', async () => {
  const { browser, provider } = await setUp()
  const page = await browser().submit(`${provider.issuer}/connect/authorize`, request)
  expect(answer(page)).toMatchObject({ code: expect.any(String), state: request.state })
})

test('requires the code verifier of the challenge', async () => {
  const { browser, urlOf, redeem } = await setUp()
  const parameters = { ...request, code_challenge: challenge, code_challenge_method: 'S256' }
  const first = answer(await browser().open(urlOf(parameters)))
  expect((await redeem(first.code)).body.error).toBe('invalid_grant')
  const second = answer(await browser().open(urlOf(parameters)))
  expect((await redeem(second.code, undefined, { code_verifier: verifier })).status).toBe(200)
})

test.each([
  ['fragment', (code: string) => `${redirectUri}#code=${code}`],
  ['query', (code: string) => `${redirectUri}?code=${code}`],
])('response_mode=%s', async (mode, expected) => {
  const { browser, urlOf } = await setUp()
  const { url } = await browser().open(urlOf({ ...request, response_mode: mode }))
  const code = /code=([\w-]+)/u.exec(url.href)?.[1] ?? ''
  expect(url.href.startsWith(expected(code))).toBe(true)
})

test('keeps the query of a registered redirect URI', async () => {
  const { browser, urlOf } = await setUp()
  const uri = 'https://client.example.com/other?tenant=1'
  const { url } = await browser().open(urlOf({ ...request, redirect_uri: uri }))
  expect(url.href.startsWith(`${uri}&code=`)).toBe(true)
})

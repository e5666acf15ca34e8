/**
 * Attack: a scope with one name belongs to several APIs. A client, or an API that receives a token, uses what a user has
 * allowed at one of them at another: by a consent that is remembered, or by exchanging the token.
 *
 * RFC 8707 section 3; RFC 8693 section 5.
 */

import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { signIn } from '@grantry/plugins/sign-in'
import type { TokenExchangeOptions } from '@grantry/plugins/token-exchange'
import { createTestProvider, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { challenge } from '../authorization/parties.ts'
import { nameOf, testPages } from '../sign-in/parties.ts'
import { claimsOf } from '../support/claims-of.ts'
import { app, backend, frontend, grantType, service, setUp } from '../token-exchange/exchange-parties.ts'

const issuer = 'https://id.example.com'
const files = 'https://files.example.com/'
const mail = 'https://mail.example.com/'
const redirectUri = 'https://web.example.com/callback'

/** A provider, and the browser of a user who has consented to `read` at the resources. */
async function consented(resources: Readonly<Record<string, string>>) {
  const { provider } = await createTestProvider({
    issuer,
    plugins: [
      authorizationCode(),
      proofKey(),
      resourceIndicators(),
      authorizationEndpoint({ interaction: signIn({ pages: testPages }) }),
    ],
    scopes: [{ name: 'read', audience: [files, mail] }],
    clients: [
      {
        clientId: 'web',
        public: true,
        grantTypes: ['authorization_code'],
        scopes: ['openid', 'read'],
        redirectUris: [redirectUri],
      },
    ],
    users: { authenticate: ({ username }) => ({ sub: username }) },
  })
  const browser = createBrowser(provider)
  const ask = (more: Readonly<Record<string, string>>) => {
    const request = { client_id: 'web', redirect_uri: redirectUri, response_type: 'code', scope: 'openid read' }
    const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
    return browser.open(`${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...proof, ...more })}`)
  }
  const form = { ...hiddenFields(await ask(resources)), username: 'alice', password: 'any' }
  const page = await browser.submit(`${issuer}/connect/signin`, form)
  const end = await browser.submit(`${issuer}/connect/consent`, { ...hiddenFields(page), decision: 'allow' })
  expect(answer(end)).toHaveProperty('code')
  return ask
}

describe('a remembered consent to a scope of one API', () => {
  test.each([
    ['another API', { resource: mail }],
    ['any of them', {}],
  ])('is none to the scope of %s', async (_name, asked: Readonly<Record<string, string>>) => {
    const ask = await consented({ resource: files })
    expect(answer(await ask({ ...asked, prompt: 'none' })).error).toBe('consent_required')
    expect(nameOf(await ask(asked))).toBe('consent')
  })

  test('holds for that API, and one to all of them for each', async () => {
    const ask = await consented({ resource: files })
    expect(answer(await ask({ resource: files, prompt: 'none' }))).toHaveProperty('code')
    const askAny = await consented({})
    expect(answer(await askAny({ resource: mail, prompt: 'none' }))).toHaveProperty('code')
  })
})

describe('a token of one API with a scope of several', () => {
  const clients = [app, service].map(([clientId, secret]) => ({
    clientId,
    secrets: [{ sha256: sha256Of(secret) }],
    grantTypes: ['authorization_code', 'refresh_token', grantType],
    scopes: ['openid', 'offline_access', 'read'],
    redirectUris: ['https://app.example.com/callback'],
  }))
  const scopes = [{ name: 'read', audience: [frontend, backend] }]
  /** Exchanges a token for the frontend. */
  async function exchanged(more: Readonly<Record<string, string>>, settings: TokenExchangeOptions = {}) {
    const f = await setUp(settings, [resourceIndicators()], { clients, scopes })
    const login = await f.logIn({ scopes: ['openid', 'read', 'offline_access'], params: { resource: frontend } })
    expect(claimsOf(login).aud).toBe(frontend)
    return f.exchange(login.access_token, more)
  }

  test.each([
    ['another one', { audience: backend }],
    ['another one as a resource', { resource: backend }],
    ['both', { resource: frontend, audience: backend }],
  ])('is not exchanged for one of %s', async (_name, more) => {
    const { status, body } = await exchanged(more)
    expect([status, body.error]).toEqual([400, 'invalid_target'])
  })

  test('is exchanged for one of its own API, and for another one if the policy names the scope', async () => {
    expect(claimsOf((await exchanged({ audience: frontend })).body).aud).toBe(frontend)
    const allow = () => ({ scopes: ['read'] })
    expect(claimsOf((await exchanged({ audience: backend }, { allow })).body).aud).toBe(backend)
  })
})

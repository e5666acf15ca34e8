// A development server evaluates the module of the provider again after each edit, without a word to the former one.
import { type Provider, storedKeys } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { signInPlugins } from '@grantry/plugins/sign-in-plugins'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { challenge, clients, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { newDirectory } from '../support/directory.ts'

const jwksOf = async ({ fetch, issuer }: Provider): Promise<unknown> =>
  (await fetch(new Request(`${issuer}/.well-known/jwks`))).json()

test('an edit keeps the keys, the session, the consent and the tokens of a developer', async () => {
  const directory = newDirectory()
  const load = () =>
    createTestProvider({
      keys: storedKeys({ algorithms: ['ES256'] }),
      storage: filesystemDriver({ directory, fsync: false }),
      plugins: signInPlugins({ pages: createPages() }),
      clients,
      users: { authenticate: ({ username }) => ({ sub: username }) },
    })
  const first = await load()
  let current: Provider = first.provider
  const browser = createBrowser({ issuer: current.issuer, fetch: (...sent) => current.fetch(...sent) })
  const parameters = {
    ...request,
    scope: 'openid offline_access',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  const url = `${current.issuer}/connect/authorize?${new URLSearchParams(parameters)}`
  const form = { ...hiddenFields(await browser.open(url)), username: 'alice', password: 'x' }
  const consent = await browser.submit(`${current.issuer}/connect/signin`, form)
  const { code = '' } = answer(
    await browser.submit(`${current.issuer}/connect/consent`, { ...hiddenFields(consent), decision: 'allow' }),
  )

  const second = await load()
  current = second.provider
  const redemption = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const { body } = await second.post('token', redemption, web)
  expect(await jwksOf(second.provider)).toEqual(await jwksOf(first.provider))
  expect(answer(await browser.open(url)).code).toMatch(/./u)

  const third = await load()
  const refreshed = await third.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)
  expect(refreshed.status).toBe(200)
  expect((await third.provider.inspect(body.id_token)).valid).toBe(true)
})

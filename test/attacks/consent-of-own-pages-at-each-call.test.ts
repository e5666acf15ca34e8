/**
 * Attack: an operator, or the user, revokes access while a page for consent is being answered. A consent that outlives the
 * revocation gives the application everything again, without a question, although the code of that answer is worth nothing.
 *
 * OpenID Connect Core section 3.1.2.4; docs/decisions/0088-a-decision-needs-a-reason.md.
 */
import type { AtomicDriver } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { loginPage } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { authorizeRoute } from '../../packages/next/src/authorize.ts'
import { issuer, setUpAccount } from '../account/parties.ts'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { alice, challenge, clients, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'

const scope = 'openid api1 offline_access'
const query = (more = {}) =>
  `${new URLSearchParams({ ...request, scope, code_challenge: challenge, code_challenge_method: 'S256', ...more })}`
const codeIn = ({ headers }: Response) => new URL(headers.get('location') ?? 'x:').searchParams.get('code') ?? undefined

/** Returns the provider with a page for consent that is open, what allows it, and what asks without a page. */
type SetUp = (storage: AtomicDriver) => Promise<{
  readonly sub: string
  readonly f: Pick<Awaited<ReturnType<typeof createTestProvider>>, 'provider' | 'post'>
  readonly allow: () => Promise<string | undefined>
  readonly silent: () => Promise<string | undefined>
}>

async function hosted(storage: AtomicDriver) {
  const plugins = [authorizationCode(), proofKey(), refreshToken(), loginPage()]
  return createTestProvider({ plugins, clients: [...clients], storage })
}
const page = 'https://id.example.com/authorize'
const formOf = (fields: string) =>
  new Request(page, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { origin: 'https://id.example.com' },
  })

const setUps: Readonly<Record<string, SetUp>> = {
  async 'the pages of the library'(storage) {
    const f = await setUpAccount({ provider: { storage } })
    const { browser } = await f.signedIn()
    const asked = await browser.open(`${issuer}/connect/authorize?${query()}`)
    const fields = { ...hiddenFields(asked), decision: 'allow' }
    return {
      sub: 'sub of alice',
      f,
      allow: async () => answer(await browser.submit(`${issuer}/connect/consent`, fields)).code,
      silent: async () => answer(await browser.open(`${issuer}/connect/authorize?${query({ prompt: 'none' })}`)).code,
    }
  },
  async 'authorizeRoute()'(storage) {
    const f = await hosted(storage)
    const userOf = () => ({ ...alice, authTime: f.clock.now() })
    const pages = { loginPath: '/login', consentPath: '/consent' }
    const { GET, POST } = authorizeRoute({ provider: async () => f.provider }, { userOf, ...pages })
    const asked = new URL((await GET(new Request(`${page}?${query()}`))).headers.get('location') ?? '')
    const fields = `${asked.searchParams}&user=alice&decision=allow`
    return {
      sub: 'alice',
      f,
      allow: async () => codeIn(await POST(formOf(fields))),
      silent: async () => codeIn(await GET(new Request(`${page}?${query({ prompt: 'none' })}`))),
    }
  },
}

const acts = {
  client: () => ({ clientId: 'web' }),
  user: (sub: string) => ({ subject: sub }),
  access: (sub: string) => ({ subject: sub, clientId: 'web' }),
} as const

describe.each(Object.entries(setUps))('%s', (_name, setUp) => {
  test.each(['client', 'user', 'access'] as const)(
    'remember no consent whose code was revoked, at any call of the storage: the %s',
    async (target) => {
      const outcomes = await atEachCall(async (calls) => {
        const driver = interruptible(mapDriver(new Map()))
        const { f, sub, allow, silent } = await setUp(driver.storage)
        let done = false
        const act = async () => {
          done = true
          await f.provider.revoke(acts[target](sub))
        }
        const code = await driver.during(calls, act, allow)
        if (!done) return undefined
        const grant = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri }
        const { status } = await f.post('token', { ...grant, code_verifier: verifier }, web)
        const isRemembered = (await silent()) !== undefined
        return `${status === 200 ? 'token' : 'no token'}, ${isRemembered ? 'consent' : 'no consent'}`
      })
      expect(outcomes.length).toBeGreaterThan(10)
      expect(outcomes).toContain('no token, no consent')
      expect(outcomes).not.toContain('no token, consent')
    },
  )
})

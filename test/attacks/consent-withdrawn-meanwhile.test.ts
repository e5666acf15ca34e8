/**
 * Attack: an application asks for something small at the moment in which its user withdraws its access. What is remembered of
 * the new consent must not bring back what was withdrawn: the application would get it again without a question. Nor does it
 * get a code that an earlier consent permits, when the user or the client is revoked while the request is being answered.
 *
 * OpenID Connect Core section 3.1.2.4; docs/decisions/0156-a-list-of-authorizations.md.
 */
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { accountUri, issuer, linksTo, setUpAccount } from '../account/parties.ts'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { challenge, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'

const asking = (scope: string, more = {}) => {
  const parameters = { ...request, scope, code_challenge: challenge, code_challenge_method: 'S256', ...more }
  return `${issuer}/connect/authorize?${new URLSearchParams(parameters)}`
}

test('a consent that is withdrawn while another one is stored does not come back', async () => {
  const items = new Map<string, string>()
  const store = mapDriver(items)
  let keyOfConsent = ''
  let withdraw: (() => Promise<void>) | undefined
  /** Withdraws before the first write of the consent. */
  async function beforeWrite(key: string): Promise<void> {
    if (key !== keyOfConsent) return
    const act = withdraw
    withdraw = undefined
    await act?.()
  }
  const storage: AtomicDriver = {
    ...store,
    async setItem(key, ...more) {
      await beforeWrite(key)
      return store.setItem(key, ...more)
    },
    async replaceItem(key, ...more) {
      await beforeWrite(key)
      return store.replaceItem(key, ...more)
    },
  }
  const f = await setUpAccount({ provider: { storage } })
  const { browser } = await f.signedIn()
  await f.authorize(browser, 'openid api1 offline_access')
  keyOfConsent = [...items].find(([, value]) => /"reach"/u.test(value) && /"claims"/u.test(value))?.[0] ?? ''
  expect(keyOfConsent).not.toBe('')
  const asked = await browser.open(asking('openid profile'))
  const confirmation = await browser.open(linksTo(await browser.open(accountUri), 'applications/')[0] ?? '')
  let said = ''
  withdraw = async () => {
    said = (await f.send(browser, confirmation)).html
  }
  await browser.submit(`${issuer}/connect/consent`, { ...hiddenFields(asked), decision: 'allow' })
  expect(said).toContain('The access is removed')
  const silent = answer(await browser.open(asking('openid api1 offline_access', { prompt: 'none' })))
  expect(silent).toMatchObject({ error: 'consent_required' })
})

test.each([
  ['client', { clientId: 'web' }],
  ['user', { subject: 'sub of alice' }],
  ['access', { subject: 'sub of alice', clientId: 'web' }],
] as const)(
  'a remembered consent gives no code when the %s is revoked before any call of the storage',
  async (_, target) => {
    const outcomes = await atEachCall(async (calls) => {
      const driver = interruptible(mapDriver(new Map()))
      const f = await setUpAccount({ provider: { storage: driver.storage } })
      const { browser } = await f.signedIn()
      await f.authorize(browser)
      const asked = () => browser.open(asking('openid api1 offline_access', { prompt: 'none' }))
      const done = await driver.during(calls, () => f.provider.revoke(target), asked)
      if (done === undefined) return undefined
      const { code } = answer(done)
      if (code === undefined) return 'refused'
      const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
      const { status } = await f.post('token', grant, web)
      return status === 200 ? `token after call ${calls}` : 'refused'
    })
    expect(outcomes.length).toBeGreaterThan(10)
    expect(outcomes.filter((outcome) => outcome !== 'refused')).toEqual([])
  },
)
